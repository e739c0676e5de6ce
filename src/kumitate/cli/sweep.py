"""kumitate sweep"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ..errors import InputError
from . import run_folder as runs
from .options import AsJson, Out
from .report import complain, print_facts, print_json, shown

#: Between two lines of progress where standard error is not a terminal [s].
LINES = 10.0


def sweep(
    scenario: Annotated[Path, Parameter(help="A scenario's file (.yaml) with a sweep.")],
    /,
    *,
    out: Out = None,
    processes: Annotated[
        int | None, Parameter(help="Processes of this machine; as many as processors unless given. 1 is the command itself.")
    ] = None,
    scheduler: Annotated[
        str | None, Parameter(help="A scheduler of dask.distributed, tcp://HOST:PORT; `kumitate cluster` starts one.")
    ] = None,
    shard: Annotated[
        str | None, Parameter(help="i/n: only the i-th of n parts, for job arrays; all may have one folder.")
    ] = None,
    patience: Annotated[
        float, Parameter(help="How long a scheduler may be out of reach, or without a worker, before the sweep stops [s].")
    ] = 30.0,
    page: Annotated[bool, Parameter(negative="--no-page", show_default=False, help="Write the page that plots it.")] = True,
    as_json: AsJson = False,
) -> None:
    """Simulate all runs of a scenario's sweep, or those that are left; leave a table and a page in a folder."""
    from ..scenario import read_scenario
    from ..sweeps import sweep as simulate

    if scheduler is not None and processes is not None:
        raise InputError(f"--processes {processes} and --scheduler {scheduler}: the blocks go to one of them; leave one out")
    read = read_scenario(scenario)
    place = out if out is not None else runs.RUNS / scenario.stem
    begin = time.perf_counter()
    try:
        with _progress(f"sweeping {scenario.stem}") as told:
            swept = simulate(
                read, place, processes=processes, scheduler=scheduler, shard=shard, patience=patience, progress=told
            )
    except KeyboardInterrupt:
        complain(f"what is done is in {shown(place)}; the same command goes on from there", what="note")
        raise
    table = swept.table
    count: dict[str, int] = {}
    for status in table.column("status").to_pylist():
        count[status] = count.get(status, 0) + 1
    files = {"parts": swept.path / "parts"} | ({"page.html": swept.page()} if page else {})
    seconds = time.perf_counter() - begin
    if as_json:
        where = {name: path.resolve() for name, path in files.items()}
        answer = {"folder": swept.path.resolve(), "runs": len(swept), "done": table.num_rows, "status": count, "files": where}
        print_json({**answer, "seconds": seconds})
        return
    facts = [("runs", f"{table.num_rows} of {len(swept)}: " + ", ".join(f"{n} {status}" for status, n in count.items()))]
    facts += [("took", f"{seconds:.3g} s"), ("folder", f"{shown(swept.path)}  (parts/*.parquet)")]
    facts += [("open this", shown(files["page.html"]))] if page else []
    print_facts(scenario.stem, facts)


@contextmanager
def _progress(what: str) -> Iterator[Callable[[Any], None]]:
    """Shows runs, rate and time left on standard error: as a bar on a terminal, else as a line now and then."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        last = [time.monotonic()]

        def line(told: Any) -> None:
            if time.monotonic() - last[0] >= LINES or told.done == told.of:
                last[0] = time.monotonic()
                print(f"{what}: {told.done} of {told.of} runs, {told.rate:.3g} runs/s", file=sys.stderr, flush=True)

        yield line
        return
    rate = TextColumn("{task.fields[rate]:.3g} runs/s")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), rate, TextColumn("left"))
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(what, total=None, rate=0.0)
        yield lambda told: bar.update(task, completed=told.done, total=told.of, rate=told.rate)
