"""Kernels run over rows of arrays in rounds: the batches of a round are independent and may run on threads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...compile import Kernel


@dataclass(frozen=True)
class GatheredRows:
    """Some rows of an array; `at` is an index array whose first axis counts them, or None for all of them in order."""

    array: np.ndarray
    at: np.ndarray | None = None

    @classmethod
    def of(cls, array: np.ndarray, at: np.ndarray) -> GatheredRows:
        """The rows `at`: a view if they are consecutive, otherwise a gathered copy."""
        first, count = int(at.flat[0]), len(at)
        if at.ndim == 1 and array.ndim > 1 and first + count <= len(array) and (at == np.arange(first, first + count)).all():
            return cls(array[first : first + count])
        return cls(array, at)

    def read(self) -> np.ndarray:
        """The rows, side by side."""
        return self.array if self.at is None else self.array.take(self.at, axis=0, mode="clip")


@dataclass(frozen=True)
class KernelBatch:
    """A kernel over as many rows of its inputs, each result going to its rows of an array.

    Where rows are gathered or scattered, the temporary memory is allocated each time: it is then still in the cache.
    """

    kernel: Kernel
    count: int
    sources: Sequence[GatheredRows]
    targets: Sequence[GatheredRows]

    @cached_property
    def operations(self) -> int:
        """Of one run."""
        return self.count * self.kernel.operations

    def __call__(self) -> None:
        """Reads, computes, writes."""
        given = [rows.read() for rows in self.sources]
        made = [
            rows.array if rows.at is None else np.empty((self.count, *spec.shape))
            for rows, spec in zip(self.targets, self.kernel.outputs, strict=True)
        ]
        self.kernel.into(made, *given)
        for rows, results in zip(self.targets, made, strict=True):
            if rows.at is not None:
                rows.array[rows.at] = results


Round = Sequence[KernelBatch]
#: Operations of a round from which it is split over threads: waking a thread takes as long as some 100 000.
WORTH_SHARING = 300_000


def run_rounds(rounds: Iterable[Round], pool: ThreadPoolExecutor | None, threads: int = 1) -> None:
    """Runs the rounds in order; large rounds are split over this thread and those of a pool."""
    for batches in rounds:
        if pool is None or len(batches) == 1 or sum(batch.operations for batch in batches) < WORTH_SHARING:
            _run(batches)
            continue
        others = [pool.submit(_run, batches[k::threads]) for k in range(1, threads)]
        _run(batches[::threads])
        for other in others:
            other.result()


def _run(batches: Round) -> None:
    for batch in batches:
        batch()
