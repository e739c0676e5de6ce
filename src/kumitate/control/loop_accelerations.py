"""Accelerations of a closed mechanism, accurate up to its singular postures: for virtual loops (T-7.4, T-f5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..dynamics import chord_closings, chord_drives, crba, link_motions, loop_jacobian, rnea, solve_symmetric
from ..dynamics.loops.multipliers import solved_rows
from ..dynamics.loops.schur import LoopSystem, with_rows
from ..dynamics.wrenches import Applied
from ..model import Tree
from ..scalar import Scalar, table
from ..spatial import dot

#: Damping of Λ = J M⁻¹ Jᵀ, relative to the inverse of the mass: for applied forces, and for velocity terms. A force along a
#: direction that the loops nearly leave free would make the acceleration jump where the damping releases it: that damping is
#: small. Velocity terms there are small numbers divided by small numbers: that damping is large.
PUSHED, CARRIED = 1e-13, 1e-8


def loop_accelerations(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    *,
    gravity: Sequence[Scalar],
    wrenches: Applied | None = None,
    undriven: Sequence[int] = (),
) -> list[Scalar]:
    """v̇ (nv) of a mechanism with loops, for a state with closed loops; arguments as in `aba_with_loops`.

    As `factored_with_loops`, with the loops' forces by two damped solves.

    Args:
        undriven: indices in v without a drive. Drives then replace the loops' forces and the wrenches, so that no effort
            acts at undriven joints: each force is replaced by the efforts of the drives that accelerate the driven joints as
            it would.
    """
    still = table([0.0] * tree.nv)
    M = crba(tree, q)
    closings = chord_closings(tree, q, v)
    bias = rnea(tree, q, v, still, gravity=gravity)
    pushed = rnea(tree, q, v, still, gravity=gravity, wrenches=chord_drives(tree, closings, {}, wrenches))
    by_drives = _by_drives(M, undriven)
    virtual = by_drives([t + h - p for t, h, p in zip(tau, bias, pushed, strict=True)])
    system = with_rows(tree, q, v, closings, M, [a - h for a, h in zip(virtual, bias, strict=True)])
    if undriven:
        J = loop_jacobian(tree, link_motions(tree, q, v), system.rows)
        system = _closed_by(system, J, [solve_symmetric(M, by_drives(gradient)) for gradient in J])

    def forces(accelerations: Sequence[Scalar], damping: float) -> list[Scalar]:
        return solved_rows(tree, system.rows, system.Lambda, [-a for a in accelerations], damping=damping)

    pulled, carried = forces(system.pull, PUSHED), forces(system.drift, CARRIED)
    return system.accelerations([a + b for a, b in zip(pulled, carried, strict=True)])


def _by_drives(M: Sequence[Sequence[Scalar]], undriven: Sequence[int]) -> Callable[[Sequence[Scalar]], list[Scalar]]:
    """The equivalent forces of the drives alone, (0, g_d − M_du M_uu⁻¹ g_u), for generalised forces g = (g_u, g_d).

    M⁻¹ times them is M⁻¹ g less M_uu⁻¹ g_u in the undriven rows: the driven joints accelerate alike. For a row of J this is the
    generalised Jacobian of a floating robot (Umetani, Yoshida 1989), which accounts for the motion of the base.
    """
    M_uu = [[M[i][j] for j in undriven] for i in undriven]

    def by_drives(g: Sequence[Scalar]) -> list[Scalar]:
        if not undriven:
            return list(g)
        yielded = solve_symmetric(M_uu, [g[i] for i in undriven])
        return [0.0 if k in undriven else value - dot((M[k][i] for i in undriven), yielded) for k, value in enumerate(g)]

    return by_drives


def _closed_by(system: LoopSystem, J: Sequence[Sequence[Scalar]], responses: list[list[Scalar]]) -> LoopSystem:
    """The loop system whose rows are enforced by forces other than those along their own gradients."""
    return replace(system, responses=responses, Lambda=[[dot(row, response) for response in responses] for row in J])
