"""Derivatives of inverse dynamics: ∂τ/∂q and ∂τ/∂v, with the inertia matrix ∂τ/∂v̇, in one pass out and one in.

Column by column as Carpentier and Mansard (RSS 2018) and Singh, Russo and Wensing (RA-L 7, 2022) have it: a joint changes the
accelerations of all that it carries (`fields`), whose forces are summed up on the way in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...model import Link, Tree, inward, outward
from ...scalar import Scalar
from ...spatial import Force, Transform, Vector3
from ..motion import falling
from ..passive import passive_force, passive_slope, spring_force
from ..wrenches import Wrenches
from .composite import MovingComposite, Weight
from .fields import Carrier, carrier

__all__ = ["InverseSlopes", "rnea_derivatives"]

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


class _Column(NamedTuple):
    """What one degree of freedom does to the force on a link: with its coordinate, its velocity, its acceleration.

    `weight`: what fields of joints further in do to the joint's own force.
    """

    row: int
    by_q: Force
    by_v: Force
    weight: Weight


class _Carried(NamedTuple):
    """What a link carries, itself included: the composite, the force that moves it, the columns of all its joints."""

    composite: MovingComposite
    force: Force
    columns: list[_Column]


def rnea_derivatives(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    vdot: Sequence[Scalar],
    *,
    gravity: Sequence[Scalar],
    wrenches: Wrenches | None = None,
) -> InverseSlopes:
    """Inverse dynamics with its derivatives; arguments as for `rnea`. Wrenches keep their directions in the world."""
    n = tree.nv
    tau: list[Scalar] = [0.0] * n
    by_q, by_v, by_a = _zeros(n), _zeros(n), _zeros(n)
    world = Carrier(Transform(), (), Vector3(), falling(gravity), Vector3())
    carriers = outward(tree, lambda link, parent: carrier(link, parent, q, v, vdot), world)

    def meet(at: Carrier, link: Link, column: _Column) -> None:
        """The entries of one column and of the joint of a link further in, or of its own."""
        for k, S in enumerate(at.S):
            row, other = link.v_start + k, column.row
            by_q[row][other], by_v[row][other] = S.dot(column.by_q), S.dot(column.by_v)
            by_a[row][other] = by_a[other][row] = S.dot(column.weight.force)

    def inside(link: Link, children: list[_Carried]) -> _Carried:
        at = carriers[link]
        composite = MovingComposite.of_body(link.inertia, at.omega)
        force = link.inertia.times(at.acceleration) + link.inertia.velocity_force(at.omega)
        if wrenches is not None:
            force, composite = force - wrenches.on(link, q), composite.loaded(wrenches.separate(link, q))
        columns: list[_Column] = []
        for child in children:
            composite, force = composite + child.composite, force + child.force
            columns += child.columns
        for column in columns:  # of the joints further out
            meet(at, link, column)
            for k, (position, velocity) in enumerate(zip(at.by_position, at.by_velocity, strict=True)):
                by_q[column.row][link.v_start + k] = column.weight.of(position)
                by_v[column.row][link.v_start + k] = column.weight.of(velocity)
        for k, S in enumerate(at.S):
            row = link.v_start + k
            tau[row] = S.dot(force)
            own = _Column(
                row, composite.response(at.by_position[k]), composite.response(at.by_velocity[k]), composite.weight(S)
            )
            meet(at, link, own)
            for i, slope in enumerate(at.subspace_slopes[k]):  # the direction of the joint's own force changes
                by_q[link.v_start + i][row] = by_q[link.v_start + i][row] + slope.dot(force)
            # seen by the parent, the force on the link turns and moves along with it
            columns.append(own._replace(by_q=own.by_q + S.cross_force(force)))
        return _seen_by_parent(at, _Carried(composite, force, columns))

    inward(tree, inside)
    for link in tree.links:
        _add_passive(link, q, v, vdot, InverseSlopes(tau, by_q, by_v, by_a))
    return InverseSlopes(tau, by_q, by_v, by_a)


def _zeros(n: int) -> Matrix:
    return [[0.0] * n for _ in range(n)]


def _seen_by_parent(at: Carrier, carried: _Carried) -> _Carried:
    X, rate = at.X_PL, at.origin_rate
    columns = [
        _Column(row, by_q.to_parent(X), by_v.to_parent(X), weight.to_parent(X, rate))
        for row, by_q, by_v, weight in carried.columns
    ]
    return _Carried(carried.composite.to_parent(X, rate), carried.force.to_parent(X), columns)


def _add_passive(link: Link, q: Sequence[Scalar], v: Sequence[Scalar], vdot: Sequence[Scalar], slopes: InverseSlopes) -> None:
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
