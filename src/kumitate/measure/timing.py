"""Timing: contenders run in turns, so that any disturbance of the machine affects all of them.

The calls that are timed: machine code over a batch of states without Python in between.
"""

from __future__ import annotations

import ctypes
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from ..compile import Kernel, host
from ..compile.llvm import ENTRY
from ..kinematics import random_coordinates
from ..model import Mechanism
from ..version import __version__


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


# --- the machine ----------------------------------------------------------------------------------------------------------
def version_of(package: str) -> str | None:
    """The version of an installed package; None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def machine() -> dict[str, str]:
    """The processor, and the versions of kumitate and its dependencies."""
    import llvmlite.binding as llvm

    target, info = host(), Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    unnamed = platform.processor() or platform.machine()
    try:
        system = platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:  # not Linux
        system = f"{platform.system()} {platform.release()}"
    llvm_version = ".".join(str(part) for part in llvm.llvm_version_info)
    return {
        "processor": f"{names[0] if names else unnamed} ({target.cpu}), {os.cpu_count()} cores",
        "float64 lanes": str(target.lanes),
        "system": f"{system}, {platform.machine()}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "NumPy": version_of("numpy") or "",
        "llvmlite": f"{version_of('llvmlite')} (LLVM {llvm_version})",
        "kumitate": __version__,
    }
