"""Accelerations of a closed mechanism, sharp up to its singular postures: what a virtual loop is controlled by (T-7.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dynamics import crba
from ..dynamics.loop_system import loop_system
from ..dynamics.row_forces import solved_rows
from ..dynamics.wrenches import Applied
from ..model import Tree

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

    As `closed_factored`, with the loops' forces by two damped solves.
    """
    system = loop_system(crba, tree, q, v, tau, gravity=gravity, wrenches=wrenches)

    def forces(accelerations: Sequence[Scalar], damping: float) -> list[Scalar]:
        return solved_rows(tree, system.rows, system.Lambda, [-a for a in accelerations], damping=damping)

    pushed, carried = forces(system.pull, PUSHED), forces(system.drift, CARRIED)
    return system.accelerations([a + b for a, b in zip(pushed, carried, strict=True)])
