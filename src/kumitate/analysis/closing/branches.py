"""Velocities admitted by loops that have lost rank: those along which the loops can stay closed to second order.

In a singular posture not every v with J v = 0 belongs to a motion. The loops stay closed to second order only if there are
accelerations with J v̇ = −J̇ v: for every n with nᵀJ = 0, nᵀ J̇ v = 0, which is a quadratic form in v. Its zeros are the tangents
of the branches that meet there (A. Müller, Local kinematic analysis of closed-loop linkages, J. Mechanisms Robotics 8, 2016).
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from ...kinematics import integrate
from ..loops import LoopEquations

#: Singular values below this fraction of the largest are directions that the loops do not constrain.
_RANK = 1e-9
#: The step of the finite differences of the loops' rates [rad, m], and the largest error by rounding and curvature, as a
#: fraction of the step and of the squared velocities.
_AWAY, _NOISE, _FLOOR = 1e-4, 1e-6, 1e-7
_TRIES = 200


class Admitted(NamedTuple):
    """The admitted velocity nearest to a given one with J v = 0.

    Attributes:
        v: (nv), the given velocity if it is admitted; zero if no nearer one was found.
        owners: the loops and couplings that do not admit the given velocity.
    """

    v: np.ndarray
    owners: tuple[str, ...] = ()


def admitted(loops: LoopEquations, q: np.ndarray, v: np.ndarray) -> Admitted:
    """The velocity nearest to v (nv), for which J v = 0, that also keeps the loops closed to second order."""
    J = loops.state(q, v).J
    if not J.size or not v.any():
        return Admitted(v)
    U, s, Vt = np.linalg.svd(J)
    rank = int((s > _RANK * s[0]).sum())
    unheld, free = U[:, rank:], Vt[rank:].T
    if not unheld.shape[1]:
        return Admitted(v)
    bend = _rate_of_rates(loops, q, v)
    outside = unheld @ (unheld.T @ bend)
    noise = _NOISE * float(np.linalg.norm(bend)) + _FLOOR * float(v @ v) * max(1.0, loops.mechanism.tree.size)
    if np.linalg.norm(outside) <= noise:
        return Admitted(v)
    rows = loops.rows(q, v)
    owners = dict.fromkeys(row.owner for row, part in zip(rows, outside, strict=True) if abs(part) > noise)
    return Admitted(_nearest(_forms(loops, q, free, unheld), free, v), tuple(owners))


def admitted_rows(loops: LoopEquations, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(N) whether the loops admit velocities (N, nv) that do not vanish, at states (N, nq) with J v = 0."""
    values, vectors = np.linalg.eigh((J := loops.jacobians(q, v)) @ J.swapaxes(1, 2))
    unheld = values <= _RANK * values[:, -1:]  # of J Jᵀ, so that small singular values count as lost from 3e-5 on
    if not unheld.any():
        return np.ones(len(q), dtype=bool)
    fastest = np.abs(v).max(axis=1)
    move = (_AWAY / fastest)[:, None] * v
    ahead, back = (loops.rates(loops.moved(q, side * move), v) for side in (1.0, -1.0))
    bend = (ahead - back) * (fastest / (2.0 * _AWAY))[:, None]
    along = np.where(unheld, np.einsum("nij,ni->nj", vectors, bend), 0.0)
    noise = _NOISE * np.linalg.norm(bend, axis=1) + _FLOOR * (v * v).sum(axis=1) * max(1.0, loops.mechanism.tree.size)
    return np.asarray(np.linalg.norm(along, axis=1) <= noise)


def _rate_of_rates(loops: LoopEquations, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """J̇ v (rows): the derivative of the loops' rates at constant v, by central differences."""
    tree, time = loops.mechanism.tree, _AWAY / float(np.abs(v).max())
    ahead, back = (loops.state(integrate(tree, q.tolist(), (side * time * v).tolist()), v).rate for side in (1.0, -1.0))
    return (ahead - back) / (2.0 * time)


def _forms(loops: LoopEquations, q: np.ndarray, free: np.ndarray, unheld: np.ndarray) -> np.ndarray:
    """(m, k, k): nᵀ J̇ v for every n as quadratic forms in y, where v = free y, from their values at sums of two directions."""
    k = free.shape[1]
    forms = np.zeros((unheld.shape[1], k, k))
    alone = [unheld.T @ _rate_of_rates(loops, q, free[:, i]) for i in range(k)]
    for i, j in combinations_with_replacement(range(k), 2):
        both = (
            alone[i] if i == j else 0.5 * (unheld.T @ _rate_of_rates(loops, q, free[:, i] + free[:, j]) - alone[i] - alone[j])
        )
        forms[:, i, j] = forms[:, j, i] = both
    return forms


def _nearest(forms: np.ndarray, free: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The nearest v at which all forms are zero, by steps to the nearest zero of their linearisation."""
    wished = free.T @ v
    y = wished.copy()
    for _ in range(_TRIES):
        slopes = 2.0 * forms @ y
        values = np.einsum("mij,i,j->m", forms, y, y)
        # nearest to the given velocity among those with values + slopes (next − y) = 0
        gap = values + slopes @ (wished - y)
        following = wished - np.linalg.pinv(slopes, rcond=1e-6) @ gap
        if np.abs(following - y).max() <= 1e-12 * np.abs(wished).max():
            break
        y = following
    left = np.abs(np.einsum("mij,i,j->m", forms, y, y)).max()
    return free @ y if left <= _NOISE * np.abs(forms).max() * float(wished @ wished) else np.zeros_like(v)
