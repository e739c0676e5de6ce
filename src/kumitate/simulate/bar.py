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
    stream = sys.stderr
    # a terminal, or a notebook's, which has no file behind it
    seen = stream is not None and (stream.isatty() or type(stream).__module__.startswith("ipykernel"))
    if progress is not None or not seen:
        yield progress
        return
    begin, last, width = time.perf_counter(), 0.0, 0

    def write(text: str) -> None:
        stream.write(text)
        stream.flush()

    def draw(done: float) -> None:
        """The bar, with the time to go, which is expected to be in proportion to what is done."""
        nonlocal last, width
        now = time.perf_counter()
        if now - begin < LONG or now - last < _AGAIN:
            return
        last = now
        full = round(_WIDTH * min(done, 1.0))
        left = f", {(now - begin) * (1.0 / done - 1.0):.0f} s to go" if done > 0.0 else ""
        line = f"{what} {'█' * full}{'·' * (_WIDTH - full)} {100.0 * done:.0f} %{left}"
        write(f"\r{line.ljust(width)}")
        width = max(width, len(line))

    try:
        yield draw
    finally:
        if width:  # the line is left as it was
            write(f"\r{' ' * width}\r")
