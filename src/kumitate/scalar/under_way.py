"""Messages about tracing and compiling that takes long: first that it is under way, then how long it took."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

__all__ = ["Work", "under_way"]

#: Work is announced once it has taken this long [s].
LONG = 1.0
_here = threading.local()


@dataclass
class Work:
    """Work under way. `told`: what was announced, None before; `note`: is added to the message about the time it took."""

    told: str | None = None
    note: str = ""


@contextmanager
def under_way(what: Callable[[], str]) -> Iterator[Work]:
    """Announces the work in this context on standard error once it takes longer than `LONG`, and says how long it took.

    Work inside other work is not announced, and failed work has no final message.

    Args:
        what: gives the text, such as "compiling f"; called only if the work is announced.
    """
    work = Work()
    if getattr(_here, "working", False):
        yield work
        return

    def tell() -> None:
        work.told = what()
        _say(f"{work.told} …")

    begin = time.perf_counter()
    timer = threading.Timer(LONG, tell)
    timer.daemon = True
    timer.start()
    _here.working = True
    try:
        yield work
    finally:
        _here.working = False
        timer.cancel()
        timer.join()  # its message comes before the final one
    if work.told is not None:
        _say(f"{work.told} took {time.perf_counter() - begin:.1f} s{work.note}")


def _say(line: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"kumitate: {line}\n")
        sys.stderr.flush()
