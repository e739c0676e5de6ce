"""One search from each of many postures: in single precision until the target is near, then in double precision.

In single precision one instruction works on twice as many searches, and most steps of a search are made far from the target,
where their rounding does not matter. A search that has come near is continued in double precision, where one or two steps of
Newton's method are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..compile import Kernel
from ..scalar import Program

#: Where double precision takes over [rad, m]: single precision reaches it, and one step of Newton's method leaves about 1e-8.
NEAR = 1e-4
#: The same as part of the length of coordinates and target together: 17 roundings of single precision.
NEAR_OF_SIZE = 1e-6


class Found(NamedTuple):
    """The ends of several searches, or the best ends for several targets: posture, largest error, and number of steps."""

    q: np.ndarray
    error: np.ndarray
    steps: np.ndarray


class Search:
    """A search from each of many postures, in double precision.

    Attributes:
        lanes: how many searches are worked on at a time.
    """

    def __init__(self, program: Program):
        self._double = Kernel(program)
        self.lanes = self._double.lanes

    def __call__(self, q: np.ndarray, tolerance: float, most: float, targets: Sequence[np.ndarray]) -> Found:
        """The ends of searches from postures q (N, nq) for targets (N, size), of at most `most` steps each."""
        return _ends(self._double, q, np.full(len(q), tolerance), np.full(len(q), most), *targets)

    def finish(self, best: Found, tolerance: float, targets: Sequence[np.ndarray]) -> None:
        """Improves the best ends (N) for targets that were not reached, where more steps in double precision can."""


class TwoPrecisions(Search):
    """A search that begins in single precision. One that does not come near its target there goes no further."""

    def __init__(self, program: Program):
        super().__init__(program)
        self._single = Kernel(program, np.float32)
        self.lanes = self._single.lanes

    def __call__(self, q: np.ndarray, tolerance: float, most: float, targets: Sequence[np.ndarray]) -> Found:
        size = np.sqrt(sum(np.einsum("nk,nk->n", numbers, numbers) for numbers in (q, *targets)))
        near = np.maximum(NEAR_OF_SIZE * size, max(NEAR, tolerance)).astype(np.float32)
        given = [np.asarray(numbers, np.float32) for numbers in (q, near, np.full(len(q), most), *targets)]
        found = Found(*(end.astype(float) for end in _ends(self._single, *given)))
        self._continued(found, np.flatnonzero(found.error <= near), tolerance, targets)
        return found

    def finish(self, best: Found, tolerance: float, targets: Sequence[np.ndarray]) -> None:
        self._continued(best, np.flatnonzero(~(best.error <= tolerance)), tolerance, targets)

    def _continued(self, ends: Found, rows: np.ndarray, tolerance: float, targets: Sequence[np.ndarray]) -> None:
        """Continues some of the searches in double precision."""
        if len(rows):
            q, error, steps = super().__call__(ends.q[rows], tolerance, np.inf, [x.take(rows, axis=0) for x in targets])
            ends.q[rows], ends.error[rows] = q, error
            ends.steps[rows] += steps


def _ends(kernel: Kernel, *rows: np.ndarray) -> Found:
    """The ends of searches, one for each row. With copies of too few rows the lanes are filled, which one call needs."""
    count = len(rows[0])
    if not 0 < count < kernel.lanes:
        return Found(*kernel(*rows))
    filled = np.arange(kernel.lanes) % count
    return Found(*(end[:count] for end in kernel(*(numbers.take(filled, axis=0) for numbers in rows))))
