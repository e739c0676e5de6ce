"""The states that runs begin at, with their loops closed to rounding: one, or many at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..analysis import CLOSED, NEARLY, LoopEquations, admitted_rows, closed_state
from ..kinematics import neutral
from ..model import Bound, Mechanism
from .checks import check_limits, checked_count, checked_rows, checked_state
from .prescribed.starts import FollowedStarts

__all__ = ["Starts", "closed_starts"]

#: (q, v) → q, v with the loops closed, or adjusted in another way.
Projection = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]

#: Up to this many rows are closed one by one, without compiling.
_FEW = 8
#: A velocity that closing the loops changes by more than this part is checked closely.
_SAME = 1e-3


class Starts:
    """The states that the runs of a simulation begin at.

    Attributes:
        default: q (nq) and v (nv) where nothing else is said; its loops are closed after `close`.
    """

    def __init__(self, mechanism: Mechanism, q: Any = None, v: Any = None):
        """Those of a mechanism, by default neutral and at rest.

        Raises:
            InputError: for another shape, or numbers that are not finite.
        """
        self._mechanism = mechanism
        self.default = self._checked(q, v)

    def close(
        self, loops: LoopEquations, adjust: Projection, drives: Mapping[str, int], follow: FollowedStarts | None = None
    ) -> None:
        """Closes the default start's loops; from now on those of all.

        Args:
            adjust: to the surroundings; drives: of loops; follow: prescribed motions, if there are any.
        """
        self._loops, self._adjust, self._drives, self._follow = loops, adjust, drives, follow
        self.default = self._closed(*self.default)

    def given(self, q: Any, v: Any, bounds: Sequence[Bound] = ()) -> tuple[np.ndarray, np.ndarray]:
        """One start: the default one if neither is given, at rest if only q is.

        Raises:
            InputError: for another shape, if a loop is open, or, with loops, if it is outside these limits.
        """
        if q is None and v is None:
            found = self.default
        else:
            found = self._closed(*self._checked(self.default[0] if q is None else q, v))
        check_limits(self._mechanism, bounds, found[0])
        return found

    def many(self, q: Any, v: Any, count: int, projection: Projection) -> tuple[np.ndarray, np.ndarray]:
        """`count` initial states with their loops closed.

        Args:
            q, v: (nq) and (nv) of all of them, or (count, nq) and (count, nv); the default ones if neither is given.
            projection: (q, v) → q, v of many states with the loops closed.

        Raises:
            InputError: for another shape, or if a loop is open.
        """
        count = checked_count(count, "the number of states")
        if q is None and v is None:
            return np.tile(self.default[0], (count, 1)), np.tile(self.default[1], (count, 1))
        m = self._mechanism
        parts = ("q", self.default[0] if q is None else q, m.nq), ("v", np.zeros(m.nv) if v is None else v, m.nv)
        rows = [
            checked_rows(m, name, np.broadcast_to(x, (count, size)) if np.ndim(x) == 1 else x, size, count)
            for name, x, size in parts
        ]
        if self._follow is not None:
            rows = list(self._follow.rows(*rows))
        if self._loops.names:
            self._loops.lines.check_directions(*rows)
        return closed_starts(self._loops, rows[0], rows[1], projection)

    def _checked(self, q: Any, v: Any) -> tuple[np.ndarray, np.ndarray]:
        m = self._mechanism
        return (
            checked_state(m, "q", m.nq, neutral(m.tree) if q is None else q),
            checked_state(m, "v", m.nv, np.zeros(m.nv) if v is None else v),
        )

    def _closed(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A start with its gaps closed to rounding."""
        if self._follow is not None:
            q, v = self._follow.of(q, v)
        q, v = self._adjust(*closed_state(self._loops, q, v))
        self._loops.lines.check_directions(q, v, self._drives)
        return q, v


def closed_starts(loops: LoopEquations, q: np.ndarray, v: np.ndarray, projection: Projection) -> tuple[np.ndarray, np.ndarray]:
    """States (N, nq) and (N, nv) with nearly closed loops closed; states closed to rounding are unchanged.

    Most rows are projected in one batch by the compiled `projection`, (q, v) → q, v. Those that are open, or where loops have
    lost rank, are treated one by one by `closed_state`.

    Raises:
        InputError: as `closed_state`.
    """
    if not loops.names:
        return q, v
    q, v = q.copy(), v.copy()
    open_by = _open_by(loops, q, v)
    alone = np.flatnonzero(~(open_by <= CLOSED) | v.any(axis=1))
    if len(alone) > _FEW:
        alone = _side_by_side(loops, q, v, alone, open_by[alone] <= NEARLY, projection)
    for k in alone:
        q[k], v[k] = closed_state(loops, q[k], v[k])
    return q, v


def _side_by_side(
    loops: LoopEquations, q: np.ndarray, v: np.ndarray, rows: np.ndarray, near: np.ndarray, projection: Projection
) -> np.ndarray:
    """Closes rows in place where that is safe, if they are near; returns the remaining rows."""
    there_q, there_v = projection(*projection(q[rows], v[rows]))
    near = near & (_largest(there_v - v[rows]) <= _SAME * _largest(v[rows]) + NEARLY)
    near &= _open_by(loops, there_q, there_v) <= CLOSED
    moving = np.flatnonzero(v[rows].any(axis=1))
    if len(moving):
        near[moving] &= admitted_rows(loops, there_q[moving], there_v[moving])
    q[rows[near]], v[rows[near]] = there_q[near], there_v[near]
    return rows[~near]


def _open_by(loops: LoopEquations, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(N) how far the loops are open in position and velocity, at most, as a part of the mechanism's size."""
    size = loops.mechanism.tree.size
    distance, angle, speed, turning = loops.gaps_of_rows(q, v).T
    gap, rate = np.hypot(distance, angle * size).max(axis=0), np.hypot(speed, turning * size).max(axis=0)
    return np.asarray(np.maximum(gap, rate / (1.0 + _largest(v))) / size)


def _largest(rows: np.ndarray) -> np.ndarray:
    """(N) the largest number of each row, without its sign; NumPy is slow along short rows."""
    return np.asarray(np.ascontiguousarray(np.abs(rows).T).max(axis=0, initial=0.0))
