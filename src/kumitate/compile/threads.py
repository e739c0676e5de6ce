"""Large batches over threads: every thread takes a range of states. Compiled code runs without the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

__all__ = ["pool", "run_states", "states_for_one_thread", "thread_count"]

#: The least operations per thread: about a millisecond on eight lanes.
WORTH_A_THREAD = 50_000_000
#: Fewer states than this stay on one thread, however long their program: loops count with all passes that they may take.
FEWEST_STATES = 64


def thread_count() -> int:
    """The number of threads of a large batch: $KUMITATE_THREADS, else the number of processors of this process.

    Raises:
        InputError: if the variable is set to anything but a positive whole number.
    """
    chosen = os.environ.get("KUMITATE_THREADS")
    if chosen is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not chosen.isdigit() or int(chosen) < 1:
        raise InputError(f"KUMITATE_THREADS is {chosen!r}; it must be a positive whole number")
    return int(chosen)


def states_for_one_thread(operations: int) -> int:
    """The largest batch of a program of so many operations that is not worth a second thread."""
    return max(FEWEST_STATES, 2 * WORTH_A_THREAD // max(1, operations))


@cache
def pool(threads: int, work: str) -> ThreadPoolExecutor:
    """The threads for one kind of work, kept between calls. Work that waits for other work needs a pool of its own."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(threads, thread_name_prefix=f"kumitate-{work}")


if hasattr(os, "register_at_fork"):
    # a forked process inherits the pools without their threads, so that work submitted to them would wait forever
    os.register_at_fork(after_in_child=pool.cache_clear)


def run_states(
    function: Callable[..., None], states: int, pointers: Sequence[int], row_bytes: Sequence[int], *, lanes: int, most: int
) -> None:
    """Runs `function(n, *pointers)` over all states; if there are more than `most`, in stretches of whole blocks on threads."""
    threads = thread_count() if states > most else 1
    if threads == 1:
        function(states, *pointers)
        return
    stretch = max(lanes, -(-states // threads) // lanes * lanes)
    starts = list(range(0, states, stretch))
    if len(starts) > 1 and states - starts[-1] < lanes:  # too few for a block: they go with the stretch before
        starts.pop()
    ends = [*starts[1:], states]

    def run(start: int, end: int) -> None:
        function(end - start, *(pointer + start * size for pointer, size in zip(pointers, row_bytes, strict=True)))

    for done in [pool(threads, "states").submit(run, start, end) for start, end in zip(starts, ends, strict=True)]:
        done.result()
