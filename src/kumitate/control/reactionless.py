"""Torques that move the joints without a reaction on the base: the reaction null space as a controller (T-6.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dynamics import crba, rnea, solve_symmetric
from ..model import Tree
from ..scalar import Scalar
from .compiled_page import CompiledPage, mechanism_of
from .controllers import Controller
from .reaction_null_space import actuated_columns, reactionless_acceleration


def reactionless(
    robot: Any,
    wish: Controller,
    base: str = "world",
    *,
    rows: Sequence[int] = (0, 1, 2, 3, 4, 5),
    about_mass_center: bool = False,
    decay: float = 0.0,
) -> Controller:
    """Drives the joints with desired accelerations (n) = f(t, q, v), projected so that no reaction acts on the base.

    Args:
        robot: fixed to the world (base "world"), or floating by its first joint, which is not driven.
        wish: desired joint accelerations, without those of the floating joint.
        base, rows, about_mass_center, decay: as in `reactionless_acceleration`. To hold the attitude of a free body, take
            rows=(0, 1, 2) and about_mass_center=True; its center of mass is at rest by itself.
    """
    mechanism = mechanism_of(robot)
    tree, joints = mechanism.tree, actuated_columns(mechanism.tree, base)

    def law(q: Any, v: Any, b: Any) -> Any:
        options: dict[str, Any] = {"rows": rows, "about_mass_center": about_mass_center, "decay": decay}
        found = reactionless_acceleration(tree, q, v, b, base, **options)
        return joint_acceleration_torque(tree, q, v, found, joints, gravity=mechanism.gravity)

    sizes: dict[str, int | tuple[int, ...]] = {"q": mechanism.nq, "v": mechanism.nv, "b": len(joints)}
    page = CompiledPage(law, sizes, f"reactionless_{mechanism.name}_{base}")
    return lambda t, q, v: page(q, v, np.asarray(wish(t, q, v)))


def joint_acceleration_torque(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    wanted: Sequence[Scalar],
    joints: Sequence[int],
    *,
    gravity: Sequence[Scalar],
) -> list[Scalar]:
    """The forces (nv) that give the driven joints their accelerations; all other joints move freely.

    Args:
        wanted: accelerations (n) of the driven degrees of freedom; joints: their indices in v (n).
    """
    free = [k for k in range(tree.nv) if k not in set(joints)]
    vdot: list[Scalar] = [0.0] * tree.nv
    for k, value in zip(joints, wanted, strict=True):
        vdot[k] = value
    if free:
        missing = rnea(tree, q, v, vdot, gravity=gravity)
        M = crba(tree, q)
        yielded = solve_symmetric([[M[i][j] for j in free] for i in free], [-missing[k] for k in free])
        for k, value in zip(free, yielded, strict=True):
            vdot[k] = value
    tau = rnea(tree, q, v, vdot, gravity=gravity)
    for k in free:
        tau[k] = 0.0
    return tau
