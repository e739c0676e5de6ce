"""Progress messages for slow tracing and compiling: first that it is running, then how long it took."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

__all__ = ["Work", "say", "under_way"]

#: Work is announced once it has taken this long [s].
LONG = 1.0
#: Period at which running work is checked [s], and the number of idle checks after which the watching thread sleeps.
_PAUSE, _PATIENCE = 0.1, 50
_here = threading.local()


@dataclass(eq=False)
class Work:
    """Work in progress. `told`: the announcement made, None before; `note`: added to the message about the time it took."""

    what: Callable[[], str]
    told: str | None = None
    note: str = ""
    begin: float = field(default_factory=time.perf_counter)


class _Watch:
    """One thread that watches all running work: starting a thread for each would take longer than most work does."""

    def __init__(self) -> None:
        self.lock, self.wake = threading.Lock(), threading.Event()
        self.running: set[Work] = set()
        self.started = False

    def begin(self, work: Work) -> None:
        with self.lock:
            self.running.add(work)
            if not self.started:
                self.started = True
                threading.Thread(target=self._look, name="kumitate-watch", daemon=True).start()
        self.wake.set()

    def end(self, work: Work) -> None:
        with self.lock:  # its announcement comes before the final message
            self.running.discard(work)

    def _look(self) -> None:
        idle = 0
        while self.wake.wait():
            time.sleep(_PAUSE)
            with self.lock:
                idle = 0 if self.running else idle + 1
                if idle > _PATIENCE:
                    self.wake.clear()
                self._announce()

    def _announce(self) -> None:
        """A separate function, so that the waiting thread holds no references to work."""
        for work in self.running:
            if work.told is None and time.perf_counter() - work.begin > LONG:
                work.told = work.what()
                say(f"{work.told} …")


_watch = _Watch()
if hasattr(os, "register_at_fork"):  # the child has neither the thread nor, perhaps, a free lock
    os.register_at_fork(after_in_child=_watch.__init__)  # type: ignore[misc]


@contextmanager
def under_way(what: Callable[[], str]) -> Iterator[Work]:
    """Announces the work in this context on standard error once it takes longer than `LONG`, and says how long it took.

    Work inside other work is not announced, and failed work has no final message.

    Args:
        what: gives the text, such as "compiling f"; called only if the work is announced.
    """
    work = Work(what)
    if getattr(_here, "working", False):
        yield work
        return
    _watch.begin(work)
    _here.working = True
    try:
        yield work
    finally:
        _here.working = False
        _watch.end(work)
    if work.told is not None:
        say(f"{work.told} took {time.perf_counter() - work.begin:.1f} s{work.note}")


def say(line: str) -> None:
    """Writes a line on standard error, where there is one."""
    if sys.stderr is not None:
        sys.stderr.write(f"kumitate: {line}\n")
        sys.stderr.flush()
