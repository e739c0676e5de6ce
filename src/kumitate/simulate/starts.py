"""Many initial states at once, with their loops closed to rounding."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..analysis import CLOSED, NEARLY, LoopEquations, admitted_rows, closed_state

__all__ = ["closed_starts"]

#: (q, v) → q, v with the loops closed.
Projection = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]

#: Up to this many rows are closed one by one, without compiling.
_FEW = 8
#: A velocity that closing the loops changes by more than this part is checked closely.
_SAME = 1e-3


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
    alone = np.flatnonzero(~_closed(loops, q, v, CLOSED) | v.any(axis=1))
    if len(alone) > _FEW:
        alone = _side_by_side(loops, q, v, alone, projection)
    for k in alone:
        q[k], v[k] = closed_state(loops, q[k], v[k])
    return q, v


def _side_by_side(loops: LoopEquations, q: np.ndarray, v: np.ndarray, rows: np.ndarray, projection: Projection) -> np.ndarray:
    """Closes rows in place where that is safe; returns the remaining rows."""
    near = _closed(loops, q[rows], v[rows], NEARLY)
    there_q, there_v = projection(*projection(q[rows], v[rows]))
    change = np.abs(there_v - v[rows]).max(axis=1, initial=0.0)
    near &= change <= _SAME * np.abs(v[rows]).max(axis=1, initial=0.0) + NEARLY
    near &= _closed(loops, there_q, there_v, CLOSED)
    moving = np.flatnonzero(v[rows].any(axis=1))
    if len(moving):
        near[moving] &= admitted_rows(loops, there_q[moving], there_v[moving])
    q[rows[near]], v[rows[near]] = there_q[near], there_v[near]
    return rows[~near]


def _closed(loops: LoopEquations, q: np.ndarray, v: np.ndarray, part: float) -> np.ndarray:
    """(N) whether all loops are closed in position and velocity, to this part of the mechanism's size."""
    size = loops.mechanism.tree.size
    distance, angle, speed, turning = np.moveaxis(loops.gaps_of_rows(q, v), 2, 0)
    fastest = 1.0 + np.abs(v).max(axis=1, initial=0.0)
    gap, rate = np.hypot(distance, angle * size).max(axis=1), np.hypot(speed, turning * size).max(axis=1)
    return np.asarray((gap <= part * size) & (rate <= part * size * fastest))
