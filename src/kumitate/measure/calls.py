"""The calls that are timed: machine code over a batch of states without Python in between."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

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
