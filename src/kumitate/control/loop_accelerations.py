"""Accelerations of a closed mechanism, sharp up to its singular postures: what a virtual loop is controlled by (T-7.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dynamics import chord_closings, chord_drives, constraint_rows, crba, link_motions, loop_jacobian, rnea, solve_symmetric
from ..dynamics.motion import acceleration, falling
from ..dynamics.wrenches import Applied
from ..model import Tree, outward
from ..scalar import table
from ..spatial import Motion, dot, nearest_solution

__all__ = ["loop_accelerations"]

Scalar = Any
#: Of Λ = J M⁻¹ Jᵀ, relative to the inverse of the mass: for what pushes, and for what velocities add. A push along a direction
#: that the loops nearly leave free would be a jump of acceleration where the damping lets go of it: that damping is small. What
#: velocities add is nearly nothing there, and divided by nearly nothing: that damping is large.
PUSHED, CARRIED = 1e-13, 1e-8


def loop_accelerations(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    *,
    gravity: Sequence[Scalar],
    wrenches: Applied | None = None,
) -> list[Scalar]:
    """v̇ (nv) of a mechanism with loops, the state being on them; arguments as of `closed_aba`.

    [M Jᵀ; J 0] [v̇; −λ] = [tau − h; −J̇v], by Λ = J M⁻¹ Jᵀ, in two damped solves.
    """
    motions, closings = link_motions(tree, q, v), chord_closings(tree, q, v)
    still = table([0.0] * tree.nv)
    bias = rnea(tree, q, v, still, gravity=gravity, wrenches=chord_drives(tree, closings, {}, wrenches))
    M = crba(tree, q)
    free = solve_symmetric(M, [t - h for t, h in zip(tau, bias, strict=True)])
    rows = constraint_rows(tree, closings, q, v, motions)
    J = loop_jacobian(tree, motions, rows)
    world = falling((0.0, 0.0, 0.0))
    coasting = outward(tree, lambda link, A: acceleration(motions[link], A, link.velocities(still)), world)

    def at(index: int) -> Motion:
        return coasting[tree.links[index]] if index >= 0 else world

    drift = [sum((at(index).dot(force) for index, force in row.on.items()), row.bias) for row in rows]  # J̇v
    responses = [solve_symmetric(M, row) for row in J]
    Lambda = [[dot(a, b) for b in responses] for a in J]
    own = [tree.mass * (tree.size**2 if row.angular else 1.0) for row in rows]
    for i, row in enumerate(rows):
        Lambda[i][i] = Lambda[i][i] + row.softness

    def forces(wanted: Sequence[Scalar], damping: float) -> list[Scalar]:
        ease = [[damping / scale if i == j else 0.0 for j in range(len(rows))] for i, scale in enumerate(own)]
        return nearest_solution(Lambda, wanted, ease)

    pushed = forces([-dot(row, free) for row in J], PUSHED)
    carried = forces([-more for more in drift], CARRIED)
    total = [a + b for a, b in zip(pushed, carried, strict=True)]
    return [x + dot((response[k] for response in responses), total) for k, x in enumerate(free)]
