"""The derivatives of inverse dynamics as matrices, to which the joints' own forces are added."""

from __future__ import annotations

from typing import NamedTuple

from ...model import Link
from ...scalar import Scalar, Scalars
from ..passive import passive_force, passive_slope, spring_force

Matrix = list[list[Scalar]]


class InverseSlopes(NamedTuple):
    """Inverse dynamics and its derivatives.

    Attributes:
        tau: the forces of the drives (nv) [N·m, N].
        by_q: ∂τ/∂q (nv, nv), along the degrees of freedom.
        by_v: ∂τ/∂v (nv, nv).
        by_a: ∂τ/∂v̇, the inertia matrix (nv, nv).
    """

    tau: list[Scalar]
    by_q: Matrix
    by_v: Matrix
    by_a: Matrix


def zeros(n: int, width: int | None = None) -> Matrix:
    """A matrix of n rows, square unless `width` is given."""
    return [[0.0] * (n if width is None else width) for _ in range(n)]


def add_passive(link: Link, q: Scalars, v: Scalars, vdot: Scalars, slopes: InverseSlopes) -> None:
    """Adds springs, damping, friction and armature of a joint."""
    rates = link.velocities(v)
    spring, lost = spring_force(link, link.coordinates(q)), passive_force(link, rates)
    steep, accelerations = passive_slope(link, rates), link.velocities(vdot)
    for k in range(link.kind.nv):
        row = link.v_start + k
        slopes.tau[row] = slopes.tau[row] + spring[k] + lost[k] + link.armature[k] * accelerations[k]
        slopes.by_q[row][row] = slopes.by_q[row][row] + link.stiffness[k]
        slopes.by_v[row][row] = slopes.by_v[row][row] + steep[k]
        slopes.by_a[row][row] = slopes.by_a[row][row] + link.armature[k]
