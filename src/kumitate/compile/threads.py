"""Threads: for large batches of one call, for Python's work of a kind, and for machine code alone.

Compiled code runs without the interpreter's lock. A Python executor takes some 60 µs per call, as long as a step of a small
batch. `run_blocks` therefore distributes blocks of a batch by compiled workers, without the interpreter, in a few
microseconds: they wait for a job by reading its number, for some 50 µs, and then sleep until woken. A job is cut into chunks,
and each thread has a share of them, the same rows in every call, which then stay in the caches of its core; whoever is done
with its own helps with those of the others. The caller works too, and returns when all chunks are done; a worker that comes
late finds nothing left.

A chunk is claimed by taking one from a counter of those left of a share, with the number of the job in its upper half. A job
cannot end before its claimed chunks do, so that a claim always finds the function and the arguments of its own job.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

#: The least operations per thread: about a millisecond on eight lanes.
WORTH_A_THREAD = 50_000_000
#: Fewer states than this stay on one thread, however long their program: loops count with all passes that they may take.
FEWEST_STATES = 64
#: Number of checks by a waiting thread before it sleeps: some 50 µs, more than Python takes between two steps of a batch.
LOOKS = 100_000
#: Number of chunks for each thread: more cost claims, fewer let threads wait for the last one.
CHUNKS = 32
#: 64-bit words of a pool before its claims, of which each thread has a line of the cache (`llvm/pool.ll`).
WORDS = 96


def thread_count() -> int:
    """How many threads a large batch has: $KUMITATE_THREADS, else one a processor; an `InputError` for no such number."""
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


# --- machine code alone ---------------------------------------------------------------------------------------------------
def can_pool() -> bool:
    """Whether this system has the threads that the pool is written for."""
    return os.name == "posix"


class _Workers:
    """Threads that share the work of their caller, who is one of them."""

    def __init__(self, threads: int):
        from .engine import load  # LLVM is loaded when the first code is compiled
        from .target import host

        text = (Path(__file__).parent / "llvm" / "pool.ll").read_text(encoding="utf-8").replace("LOOKS", str(LOOKS))
        self.code = load(text, host(), ["pool_start", "pool_run"])
        self.memory = (ctypes.c_int64 * (WORDS + 8 * (threads + 1)))()
        self.base = -(-ctypes.addressof(self.memory) // 64) * 64
        self.lock = threading.Lock()
        self.run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
            self.code.addresses["pool_run"]
        )
        start = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64)(self.code.addresses["pool_start"])
        failed = start(self.base, threads)
        if failed:
            raise OSError(failed, os.strerror(failed))


@cache
def _workers(threads: int) -> _Workers:
    workers = _Workers(threads)
    # the workers never end, so that their code and memory must outlive the interpreter
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(workers))
    return workers


if hasattr(os, "register_at_fork"):
    # a forked process inherits the pools and the memory without their threads, so that it would wait for them forever
    os.register_at_fork(after_in_child=pool.cache_clear)
    os.register_at_fork(after_in_child=_workers.cache_clear)


def run_blocks(function: int, arguments: int, blocks: int, threads: int) -> None:
    """Runs `void function(ptr arguments, i64 first, i64 last)`, an address, over all blocks on so many threads."""
    workers = _workers(threads)
    with workers.lock:
        workers.run(workers.base, function, arguments, blocks, max(1, blocks // (CHUNKS * threads)))
