"""Progress messages for slow tracing and compiling: first that it is running, then how long it took."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

#: Work is announced once it has taken this long [s].
LONG = 1.0
#: What is expected to take longer than this after the announcement is announced again [s].
_WORTH_A_LINE = 5.0
#: Period at which running work is checked [s], and the number of idle checks after which the watching thread sleeps.
_PAUSE, _PATIENCE = 0.1, 50
_here = threading.local()


@dataclass(eq=False)
class Work:
    """Work in progress.

    Attributes:
        told: the announcement made, None before.
        note: added to the message about the time it took.
        end: when it is expected to end, on the clock of `begin` [s]; `told_end`: as was announced.
    """

    what: Callable[[], str]
    told: str | None = None
    note: str = ""
    begin: float = field(default_factory=time.perf_counter)
    end: float | None = None
    told_end: float | None = None

    def announce(self) -> None:
        """Says what is under way and, where it is known, how long it will take."""
        now = time.perf_counter()
        left = 0.0 if self.end is None else self.end - now
        first = self.told is None and now - self.begin > LONG
        if not first and (self.told is None or self.end == self.told_end or left < _WORTH_A_LINE):
            return
        self.told, self.told_end = self.told or self.what(), self.end
        say(f"{self.told}{f', about {left:.0f} s to go' if left >= 1.0 else ''} …")


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
            work.announce()


_watch = _Watch()
if hasattr(os, "register_at_fork"):  # the child has neither the thread nor, perhaps, a free lock
    os.register_at_fork(after_in_child=_watch.__init__)  # type: ignore[misc]


@contextmanager
def under_way(what: Callable[[], str]) -> Iterator[Work]:
    """Announces the work in this context on standard error once it takes longer than `LONG`, and says how long it took.

    Work inside other work is not announced, and failed work has no final message. `what` gives the text, such as "compiling f".
    """
    work = Work(what)
    if getattr(_here, "work", None) is not None:
        yield work
        return
    _watch.begin(work)
    _here.work = work
    try:
        yield work
    finally:
        _here.work = None
        with _watch.lock:  # its announcement comes before the final message
            _watch.running.discard(work)
    if work.told is not None:
        say(f"{work.told} took {time.perf_counter() - work.begin:.1f} s{work.note}")


def expect(seconds: float) -> None:
    """Says of the work in progress, if there is any, that it will take about so long from now on [s]."""
    work = getattr(_here, "work", None)
    if work is not None:
        work.end = time.perf_counter() + seconds


def say(line: str) -> None:
    """Writes a line on standard error, where there is one."""
    if sys.stderr is not None:
        sys.stderr.write(f"kumitate: {line}\n")
        sys.stderr.flush()
