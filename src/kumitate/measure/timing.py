"""Timing: contenders run in turns, so that any disturbance of the machine affects all of them.

The calls that are timed: machine code over a batch of states without Python in between.
"""

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..compile import Kernel
from ..compile.llvm import ENTRY
from ..kinematics import random_coordinates
from ..model import Mechanism


def raw(kernel: Kernel, lanes: int, arrays: Sequence[np.ndarray], out: Sequence[np.ndarray]) -> Callable[[], None]:
    """A call of the kernel's machine code over a batch: `arrays` and `out` with one contiguous float64 row per state."""
    code, states = kernel.code(lanes), len(out[0])
    if states < lanes:
        raise ValueError(f"{kernel.name}: {states} states do not fill {lanes} lanes")
    pointers = [array.ctypes.data for array in (*arrays, *out)]
    function = ctypes.CFUNCTYPE(None, ctypes.c_int64, *([ctypes.c_void_p] * len(pointers)))(code.addresses[ENTRY])
    kept = (code, arrays, out)  # the code and the arrays must live as long as the call

    def run(_kept: object = kept) -> None:
        function(states, *pointers)

    return run


def random_states(mechanism: Mechanism, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q (count, nq) over the whole manifold, v and a third array (count, nv) from the standard normal distribution."""
    rng = np.random.default_rng(1)
    q = np.array([random_coordinates(mechanism.tree, rng) for _ in range(count)])
    return q, rng.normal(size=(count, mechanism.nv)), rng.normal(size=(count, mechanism.nv))


@dataclass(frozen=True)
class Effort:
    """The effort spent on a benchmark.

    Attributes:
        rounds: samples of each contender.
        scale: fraction of a case's states, steps and calls that is used, for trying things out.
    """

    rounds: int = 40
    scale: float = 1.0

    @classmethod
    def quick(cls) -> Effort:
        """Just enough to check that everything runs; its times are not meaningful."""
        return cls(rounds=3, scale=1.0 / 16.0)

    def share(self, count: int) -> int:
        """The number of a case's `count` states, steps or calls to use: at least enough to fill the lanes of a processor."""
        return max(16, round(count * self.scale))


@dataclass(frozen=True)
class Timing:
    """Seconds per unit of work: the fastest sample and the median."""

    minimum: float
    median: float
    samples: int

    @classmethod
    def of(cls, seconds: list[float], units: int = 1) -> Timing:
        """The timing from samples of `units` units of work each."""
        return cls(min(seconds) / units, statistics.median(seconds) / units, len(seconds))


@dataclass(frozen=True)
class Contender:
    """Something to be timed: a call of `run` does `units` units of work."""

    run: Callable[[], object]
    units: int


def thread_seconds() -> float:
    """The processor time of this thread [s], without that of other threads."""
    return time.thread_time()


def by_turns(
    contenders: Mapping[str, Contender], rounds: int, *, clock: Callable[[], float] = time.perf_counter
) -> dict[str, Timing]:
    """The timings of contenders run in turns; in every round each runs once to warm the caches, then once timed."""
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, contender in contenders.items():
            contender.run()
            begin = clock()
            contender.run()
            samples[name].append(clock() - begin)
    return {name: Timing.of(samples[name], contender.units) for name, contender in contenders.items()}


def once(seconds: float) -> Timing:
    """A time measured once."""
    return Timing(seconds, seconds, 1)


def seconds_text(seconds: float) -> str:
    """A time as tables show it.

    >>> seconds_text(8.4e-8), seconds_text(9.4e-5), seconds_text(2.5e-3)
    ('84 ns', '94 µs', '2.5 ms')
    """
    if seconds < 1e-5:
        return f"{seconds * 1e9:.0f} ns"
    return f"{seconds * 1e6:.0f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.1f} ms"
