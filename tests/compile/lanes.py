"""Running a kernel at a chosen number of lanes, whatever the processor would take."""

from __future__ import annotations

import ctypes

import numpy as np

from kumitate.compile import Kernel

LANES = (1, 2, 4, 8)


def run_with_lanes(kernel: Kernel, lanes: int, *arrays: np.ndarray) -> list[np.ndarray]:
    """The outputs for a batch: each array has a row (or shape) a state; at least as many states as lanes."""
    rows = [np.ascontiguousarray(array, dtype=float) for array in arrays]
    states = len(rows[0])
    assert states >= lanes
    out = [np.full((states, *array.shape), np.nan) for array in kernel.outputs]
    function = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * (len(rows) + len(out)))
    function(kernel.code(lanes).addresses["kernel"])(states, *(array.ctypes.data for array in (*rows, *out)))
    return out
