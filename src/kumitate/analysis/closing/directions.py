"""The small motions that keep closed loops closed, with the changes of velocity that belong to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...compile import Kernel
from ...dynamics import chord_closings, constraint_rows, link_motions
from ...errors import ModelError
from ...kinematics import rate
from ...model import Mechanism
from ...scalar import Program, directional, is_zero, trace
from ..constraint_report import constraint_report
from ..loops import LoopEquations

#: Singular values below this fraction of the largest count as zero.
_ZERO = 1e-9


def closed_directions(equations: LoopEquations, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Z (nv, m), W (nv, k) and P (nv, m): closed loops stay closed if ξ = Z y and δv = W w + P y.

    J δv + (δJ) v = 0, and J ξ = 0 in the rows that restrict positions: all, unless bodies roll.

    Args:
        equations: of the mechanism; a tree has the identity as Z and W, and zero as P.
        q, v: coordinates (nq) and velocities (nv) that satisfy them.

    Raises:
        ModelError: in a singular posture, where these directions are not a vector space.
    """
    mechanism, n = equations.mechanism, equations.mechanism.nv
    if not equations.names:
        return np.eye(n), np.eye(n), np.zeros((n, n))
    report = constraint_report(equations, q)
    if report.singular:
        raise ModelError(
            f"{mechanism.name}: the posture is singular: {report.mobility} motions are free here and {report.usual_mobility} "
            "nearby, so that no linear equations hold on all sides of it. Choose another posture"
        )
    J = equations.state(q, v).J
    U, s, Vt = np.linalg.svd(J)
    rank, W = report.rank, Vt[report.rank :].T
    Z = W if equations.holonomic.all() else _null_space(J[equations.holonomic])
    tree, (E, _) = mechanism.tree, tangent(mechanism, q, v)

    def opening(q: Any, v: Any) -> list[Any]:
        rows = constraint_rows(tree, chord_closings(tree, q, v), q, v, link_motions(tree, q, v))
        return [row.rate for row in rows if is_zero(row.softness)]

    program = trace(opening, {"q": tree.nq, "v": n}, f"opening_{mechanism.name}")
    _, opened, _ = slopes_along(program, [q, v], [E @ Z, np.eye(n)])
    return Z, W, -(Vt[:rank].T / s[:rank]) @ U[:, :rank].T @ opened


def tangent(mechanism: Mechanism, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E (nq, nv) and C (nv, nv): q̇ = E(q) v and ξ̇ = δv + C ξ.

    d/dt δq = δ q̇ with δq = E ξ is E ξ̇ + Ė ξ = E δv + (δE) v: the difference of two derivatives of q̇.
    """
    tree, n = mechanism.tree, mechanism.nv
    moved = Kernel(directional(trace(lambda q, v: rate(tree, q, v), {"q": tree.nq, "v": n}, f"rate_{mechanism.name}")))
    units, still, fixed = np.eye(n), np.zeros((n, n)), np.zeros((n, tree.nq))
    E = moved(q, units, fixed, still)[0].T
    by_q = moved(q, v, E.T, still)[1]  # of E v, along every ξ
    by_time = moved(q, units, E @ v, still)[1]  # of E ξ, along v
    return E, np.linalg.pinv(E) @ (by_q - by_time).T


def slopes_along(program: Program, at: Sequence[np.ndarray], along: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """The program's output (k) at a point, and per input its derivatives (k, m) along the columns (size, m) of `along`."""
    counts = [columns.shape[1] for columns in along]
    rows = sum(counts)
    starts = np.cumsum([0, *counts])
    dots = [np.zeros((rows, len(columns))) for columns in along]
    for dot, columns, start, count in zip(dots, along, starts, counts, strict=False):
        dot[start : start + count] = columns.T
    values, slopes = Kernel(directional(program))(*at, *dots)
    return values[0], *(slopes[start : start + count].T for start, count in zip(starts, counts, strict=False))


def _null_space(J: np.ndarray) -> np.ndarray:
    """Orthonormal columns Z with J Z = 0."""
    _, s, Vt = np.linalg.svd(J)
    return np.asarray(Vt[int((s > _ZERO * s[0]).sum()) :].T)
