"""kumitate sweep"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ..errors import InputError
from . import run_folder as runs
from .options import AsJson, Out
from .report import complain, print_facts, print_json, progress, shown


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
        with progress(f"sweeping {scenario.stem}") as tell:
            swept = simulate(
                read, place, processes=processes, scheduler=scheduler, shard=shard, patience=patience,
                progress=lambda at: tell(at.done / max(1, at.of), f"{at.done} of {at.of} runs, {at.rate:.3g} runs/s"),
            )  # fmt: skip
    except KeyboardInterrupt:
        complain(f"what is done is in {shown(place)}; the same command goes on from there", what="note")
        raise
    table = swept.table
    count = Counter(table.column("status").to_pylist())
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
