"""The motion of all joints that drives act in: those of the tree, and loop joints and lines after them."""

from __future__ import annotations

from collections.abc import Sequence

from ..kinematics import rate
from ..model import Mechanism, freedoms
from ..scalar import Scalar, call, directional
from .loop_motion import loop_coordinates

__all__ = ["joint_accelerations", "joint_motion"]


def joint_motion(m: Mechanism, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
    """The coordinates and velocities of all joints, as `Driven` counts them; q, v where no loop joint has a drive."""
    if freedoms(m) == m.nv:
        return list(q), list(v)
    moved = call(loop_coordinates(m), q, v)
    return [*q, *moved["loop_q"]], [*v, *moved["loop_v"]]


def joint_accelerations(m: Mechanism, q: Sequence[Scalar], v: Sequence[Scalar], vdot: Sequence[Scalar]) -> list[Scalar]:
    """The rates of the velocities of `joint_motion`, while the tree's joints accelerate at vdot (nv)."""
    if freedoms(m) == m.nv:
        return list(vdot)
    moved = call(directional(loop_coordinates(m)), q, v, rate(m.tree, q, v), vdot)
    return [*vdot, *moved["loop_v_dot"]]
