"""A bar on standard error for runs that take long, where people look: in terminals and notebooks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: A run that would take longer than this in all has a bar [s], which is drawn again after a while [s].
LONG, _AGAIN = 2.0, 0.1
_WIDTH = 30


@contextmanager
def bar(what: str, progress: Callable[[float], None] | None) -> Iterator[Callable[[float], None] | None]:
    """The function to call with the fraction done: the user's own, or one that draws a bar, or none where nobody looks."""
    if progress is not None or not _seen():
        yield progress
        return
    drawn = _Bar(what)
    try:
        yield drawn
    finally:
        drawn.erase()


class _Bar:
    """Draws itself with the time to go, which it expects to be in proportion to what is done."""

    def __init__(self, what: str):
        self.what, self.begin, self.last, self.width = what, time.perf_counter(), 0.0, 0

    def __call__(self, done: float) -> None:
        now = time.perf_counter()
        if now - self.begin < LONG or now - self.last < _AGAIN:
            return
        self.last = now
        full = round(_WIDTH * min(done, 1.0))
        left = f", {(now - self.begin) * (1.0 / done - 1.0):.0f} s to go" if done > 0.0 else ""
        line = f"{self.what} {'█' * full}{'·' * (_WIDTH - full)} {100.0 * done:.0f} %{left}"
        self._write(f"\r{line.ljust(self.width)}")
        self.width = max(self.width, len(line))

    def erase(self) -> None:
        """Leaves the line as it was."""
        if self.width:
            self._write(f"\r{' ' * self.width}\r")

    @staticmethod
    def _write(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


def _seen() -> bool:
    """Whether standard error is a terminal, or a notebook's, which has no file behind it."""
    stream = sys.stderr
    if stream is None:
        return False
    return stream.isatty() or type(stream).__module__.startswith("ipykernel")
