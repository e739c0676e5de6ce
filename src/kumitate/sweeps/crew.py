"""Who simulates the blocks of a sweep: this process, processes of this machine, or the workers of dask.distributed.

All of them are executors of `concurrent.futures`, so that the sweep sends blocks and takes answers in one way.
"""

from __future__ import annotations

import logging
import math
import multiprocessing
import os
import signal
import threading
import time as clock
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import Any

from ..errors import InputError, KumitateError, needed


class WorkerLostError(Exception):
    """A worker died with a block: the block has to be sent again."""


class CrewLostError(KumitateError):
    """There is nobody left to send blocks to."""


class Crew:
    """Those who simulate blocks: this process, whose batches use all cores by threads; subclasses are others."""

    def room(self) -> int:
        """How many blocks should be under way."""
        return 1

    def submit(self, function: Callable[..., Any], task: Any) -> Future:
        """Sends one block."""
        future: Future = Future()
        future.set_result(function(task))
        return future

    def result(self, future: Future) -> Any:
        """What a block that is done gave; a `WorkerLostError` if it has to be sent again."""
        return future.result()

    def look(self) -> None:
        """Called now and then; a `CrewLostError` if nobody is left."""

    def close(self) -> None:
        """Sends everybody home, without waiting for what is under way."""


class ProcessCrew(Crew):
    """Processes of this machine, of one thread each. When one of them dies, all are started again."""

    def __init__(self, processes: int):
        self._processes = processes
        self._pool = self._started()

    def room(self) -> int:
        return 2 * self._processes

    def submit(self, function: Callable[..., Any], task: Any) -> Future:
        try:
            return self._pool.submit(function, task)
        except BrokenProcessPool:  # since the last look
            self._again()
            return self._pool.submit(function, task)

    def result(self, future: Future) -> Any:
        try:
            return future.result()
        except (BrokenProcessPool, CancelledError) as error:
            self._again()
            raise WorkerLostError(
                'memory, a signal, or a script that starts processes without `if __name__ == "__main__"`'
            ) from error

    def close(self) -> None:
        for process in list((getattr(self._pool, "_processes", None) or {}).values()):
            process.terminate()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _again(self) -> None:
        if getattr(self._pool, "_broken", False):
            self._pool.shutdown(wait=False)
            self._pool = self._started()

    def _started(self) -> ProcessPoolExecutor:
        # not by fork: a copy of a process with threads may wait for locks that nobody holds any more
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self._processes, mp_context=context, initializer=_one_thread)


def _one_thread() -> None:
    """Prepares a process of a crew."""
    os.environ["KUMITATE_THREADS"] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the sweep, which ends its processes
    parent = multiprocessing.parent_process()
    if parent is not None:  # a sweep that is killed cannot end its processes: they watch it
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)


class DaskCrew(Crew):
    """The workers of a scheduler of dask.distributed. It sends blocks of dead workers to others itself."""

    #: Between two questions how many workers there are, at most [s].
    INTERVAL = 2.0

    def __init__(self, address: str, patience: float):
        """The workers of a scheduler; it may be out of reach, or without a worker, for the `patience` [s]."""
        distributed = needed("distributed", "--scheduler needs dask", "sweep")
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what is lost is said by this class
        self.address, self._patience = address, patience
        try:
            self._client = distributed.Client(address, timeout=self._patience, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise InputError(
                f"--scheduler {address}: cannot be reached ({error}); start one with `kumitate cluster`, and give its address"
            ) from None
        self._killed: type[Exception] = distributed.KilledWorker
        self._executor: Executor = self._client.get_executor(pure=False)
        self._threads, self._asked, self._seen = 0, -math.inf, clock.monotonic()

    def room(self) -> int:
        self._ask()
        return max(2, 2 * self._threads)

    def submit(self, function: Callable[..., Any], task: Any) -> Future:
        return self._executor.submit(_on_one_thread, function, task)

    def result(self, future: Future) -> Any:
        try:
            return future.result()
        except CancelledError as error:
            while self._client.status != "running":
                self.look()
                clock.sleep(0.2)
            raise WorkerLostError("the scheduler dropped the block") from error
        except self._killed as error:
            raise CrewLostError(f"the scheduler {self.address} gave up: {error}") from None

    def look(self) -> None:
        self._ask()
        if clock.monotonic() - self._seen > self._patience or self._client.status in ("closing", "closed"):
            what = "has no worker" if self._client.status == "running" else "is out of reach"
            raise CrewLostError(f"the scheduler {self.address} {what}")

    def close(self) -> None:
        self._client.close(timeout=2)

    def _ask(self) -> None:
        """Asks the scheduler how many threads its workers have, now and then."""
        now = clock.monotonic()
        if now - self._asked < min(self.INTERVAL, 0.3 * self._patience) or self._client.status != "running":
            return
        self._asked = now
        with suppress(OSError, TimeoutError, CancelledError):
            self._threads = sum(self._client.nthreads().values())
            self._seen = now if self._threads else self._seen


def _on_one_thread(function: Callable[..., Any], task: Any) -> Any:
    """A block in a worker, which has as many threads of its own as it was told to."""
    os.environ.setdefault("KUMITATE_THREADS", "1")
    return function(task)


def crew_of(processes: int | None, scheduler: str | None, patience: float) -> Crew:
    """Those who simulate: the workers of the scheduler, or so many processes; 1 is this process, None as many as processors."""
    if scheduler is not None:
        return DaskCrew(scheduler, patience)
    if processes is None:
        processes = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Crew() if processes == 1 else ProcessCrew(processes)
