"""Output of the command: answers on standard output, everything else on standard error."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console
from rich.markup import escape
from rich.table import Table

#: Width of tables that go to a file or a pipe.
WIDTH_OF_FILES = 160
#: Between two lines of progress where standard error is not a terminal [s].
LINES = 10.0
_COLOURS = {"error": "bold red", "warning": "bold yellow", "note": "bold blue"}


class _Console(Console):
    """A console that raises an error when its pipe is broken; rich itself would end the process."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def _answers() -> Console:
    """Standard output: as wide as its terminal, or wide enough for tables in a file."""
    console = _Console()
    return console if console.is_terminal else _Console(width=WIDTH_OF_FILES)


@contextmanager
def answering() -> Iterator[None]:
    """For writing to standard output: names it in errors, which otherwise name no file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, "standard output") from None


def drop_output() -> None:
    """Discards the rest of the output: otherwise Python would try to write it at exit, and fail."""
    with suppress(OSError, ValueError):  # standard output may be an object that is not a file
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def print_json(answer: Mapping[str, Any]) -> None:
    """Print one JSON object. Numbers that JSON lacks (nan, inf) become null."""
    with answering():
        sys.stdout.write(json.dumps(_plain(answer), ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def print_text(answer: Any) -> None:
    """Print something as its text."""
    with answering():
        sys.stdout.write(f"{answer}\n")


def complain(message: str, what: str = "error") -> None:
    """Print a message on standard error; if that cannot be written to, the command continues without it."""
    with suppress(OSError):
        _Console(stderr=True, soft_wrap=True).print(f"[{_COLOURS[what]}]{what}:[/] {escape(message)}", highlight=False)


def print_facts(title: str, facts: Iterable[tuple[str, str]]) -> None:
    """Print a short table of two columns: names and values."""
    table = Table(title=escape(title), title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts:
        table.add_row(escape(name), escape(value))
    with answering():
        _answers().print(table)


def print_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Print a table with a header."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in columns:
        table.add_column(escape(name), overflow="fold")
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    console = _answers()
    with answering():
        console.print()
        console.print(table)


@contextmanager
def progress(what: str) -> Iterator[Callable[..., None]]:
    """A progress bar on standard error, if that is a terminal; yields a function of the fraction done, 0 to 1.

    A second argument says what is done in words: beside the bar, and elsewhere than in terminals as a line now and then.
    """
    console, last = Console(stderr=True), time.monotonic()

    def say(fraction: float, words: str = "") -> None:
        nonlocal last
        if words and (fraction >= 1.0 or time.monotonic() - last >= LINES):
            last = time.monotonic()
            print(f"{what}: {words}", file=sys.stderr, flush=True)

    if not console.is_terminal:
        yield say
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %  {task.fields[words]}"))
    clocks = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, *clocks, console=console, transient=True) as bar:
        task = bar.add_task(escape(what), total=1.0, words="")

        def tell(fraction: float, words: str = "") -> None:
            bar.update(task, completed=min(max(float(fraction), 0.0), 1.0), words=words)

        yield tell


def shown(path: Path) -> str:
    """A short form of a path: relative to the working folder if it lies below."""
    full = path.resolve()
    return str(full.relative_to(Path.cwd())) if full.is_relative_to(Path.cwd()) else str(full)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers
        return _plain(value.tolist())
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value
