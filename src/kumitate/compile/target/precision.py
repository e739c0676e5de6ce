"""The floating-point formats that kernels can compute in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import InputError


@dataclass(frozen=True)
class Precision:
    """A format: LLVM's name for it, the suffix of its intrinsics, its size, the letter of its buffers, NumPy's dtype."""

    name: str
    suffix: str
    bytes: int
    letter: str
    dtype: np.dtype


DOUBLE = Precision("double", "f64", 8, "d", np.dtype(np.float64))
SINGLE = Precision("float", "f32", 4, "f", np.dtype(np.float32))


def precision_of(dtype: object) -> Precision:
    """The format of a NumPy dtype.

    Raises:
        InputError: for other dtypes than float64 and float32.
    """
    for precision in (DOUBLE, SINGLE):
        if np.dtype(dtype) == precision.dtype:  # type: ignore[call-overload]
            return precision
    raise InputError(f"kernels compute in float64 or float32, not in {np.dtype(dtype)}")  # type: ignore[call-overload]
