"""Derivatives of inverse dynamics: ∂τ/∂q and ∂τ/∂v, with the inertia matrix ∂τ/∂v̇, in one pass out and one in.

Column by column as Carpentier and Mansard (RSS 2018) and Singh, Russo and Wensing (RA-L 7, 2022) have it: a joint changes the
accelerations of all that it carries (`fields`), whose forces are summed up on the way in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...kinematics import rate
from ...model import Link, Tree, inward, outward
from ...scalar import Program, Scalar, Scalars, gradient, inlined, inlined_slopes, trace
from ...spatial import Dense, Force, Transform, Vector3
from ..acting import Wrenches
from ..motion import falling
from ..passive import passive_force, passive_slope, spring_force
from ..rnea import rnea
from .fields import Carrier, MovingComposite, Weight, carrier

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


# --- the derivatives ------------------------------------------------------------------------------------------------------
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
    tree: Tree, q: Scalars, v: Scalars, vdot: Scalars, *, gravity: Scalars, wrenches: Wrenches | None = None
) -> InverseSlopes:
    """Inverse dynamics with its derivatives; arguments as for `rnea`. Wrenches keep their directions in the world."""
    n = tree.nv
    tau: list[Scalar] = [0.0] * n
    by_q, by_v, by_a = zeros(n), zeros(n), zeros(n)
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
        X, rate = at.X_PL, at.origin_rate
        seen = [
            _Column(row, by_q.to_parent(X), by_v.to_parent(X), weight.to_parent(X, rate)) for row, by_q, by_v, weight in columns
        ]
        return _Carried(composite.to_parent(X, rate), force.to_parent(X), seen)

    inward(tree, inside)
    for link in tree.links:
        add_passive(link, q, v, vdot, InverseSlopes(tau, by_q, by_v, by_a))
    return InverseSlopes(tau, by_q, by_v, by_a)


# --- second derivatives ---------------------------------------------------------------------------------------------------
# Reverse mode over recursive Newton-Euler gives the gradient of Σ wᵢ τᵢ at about twice its cost; forward mode along every
# degree of freedom, its rate and its acceleration then gives the second derivatives. Of two that are equal, the one along the
# joint further out is taken: less moves with it.


class SecondSlopes(NamedTuple):
    """Σ wᵢ ∂²τᵢ of inverse dynamics, as matrices (nv, nv).

    Attributes:
        by_qq: entry (i, j) is the derivative along j of that along i: symmetric, except between the degrees of freedom of one
            joint that turns about several axes, where the order of the two moves matters.
        by_qv, by_qa: row by coordinate, column by velocity or acceleration.
        by_vv: symmetric. The derivatives by v and a, and by a twice, are zero.
    """

    by_qq: Matrix
    by_qv: Matrix
    by_vv: Matrix
    by_qa: Matrix


def rnea_second_derivatives(
    tree: Tree, q: Scalars, v: Scalars, vdot: Scalars, weights: Scalars, *, gravity: Scalars, wrenches: Wrenches | None = None
) -> SecondSlopes:
    """The second derivatives for weights w (nv); other arguments as for `rnea`.

    Raises:
        TraceError: for chains so long that inverse dynamics is a loop over bodies.
    """
    n, places = tree.nv, list(wrenches.by_place) if wrenches is not None else []
    program = _contracted_gradient(tree, gravity, places)
    pushes = [x for name in places for x in wrenches.by_place[name]] if wrenches is not None else []
    at = [[*q, *v, *vdot, *weights, *pushes]]
    tail: list[Scalar] = [0.0] * (n + len(pushes))
    still, fixed = [0.0] * n, [0.0] * tree.nq
    units = Dense.unit(n).rows
    along_q = inlined_slopes(program, at, [[[*rate(tree, q, unit), *still, *still, *tail]] for unit in units])
    along_v = inlined_slopes(program, at, [[[*fixed, *unit, *still, *tail]] for unit in units])
    along_a = inlined_slopes(program, at, [[[*fixed, *still, *unit, *tail]] for unit in units])
    joint = [link.index for link in tree.links for _ in range(link.kind.nv)]
    found = SecondSlopes(zeros(n), zeros(n), zeros(n), zeros(n))
    for i in range(n):
        for j in range(n):
            outer, inner = max(i, j), min(i, j)
            found.by_qq[i][j] = along_q[j][i] if joint[i] == joint[j] else along_q[outer][inner]
            found.by_vv[i][j] = along_v[outer][n + inner]
            # of a coordinate i and a velocity or acceleration j
            found.by_qv[i][j] = along_q[i][n + j] if i > j else along_v[j][i]
            found.by_qa[i][j] = along_q[i][2 * n + j] if i > j else along_a[j][i]
    return found


def _contracted_gradient(tree: Tree, gravity: Scalars, places: Sequence[str]) -> Program:
    """(q, v, v̇, w, wrenches, all in one row) → the gradient of Σ wᵢ τᵢ by the degrees of freedom, by v and by v̇."""
    n, m = tree.nv, tree.nq

    def power(x: Any) -> list[Scalar]:
        q, v, a, w = ([x[k] for k in range(start, stop)] for start, stop in
                      ((0, m), (m, m + n), (m + n, m + 2 * n), (m + 2 * n, m + 3 * n)))  # fmt: skip
        first = m + 3 * n
        values = {name: [x[first + 6 * k + i] for i in range(6)] for k, name in enumerate(places)}
        tau = rnea(tree, q, v, a, gravity=gravity, wrenches=Wrenches(tree, values) if values else None)
        return [sum((weight * force for weight, force in zip(w, tau, strict=True)), 0.0)]

    size: dict[str, int | tuple[int, ...]] = {"x": m + 3 * n + 6 * len(places)}
    reverse = gradient(trace(power, size, "power"), "x")

    def slopes(x: Any) -> list[Scalar]:
        of = inlined(reverse, [list(x)])
        q = [x[k] for k in range(m)]
        rates = (rate(tree, q, unit) for unit in Dense.unit(n).rows)
        turned = [sum((r * g for r, g in zip(along, of, strict=False)), 0.0) for along in rates]
        return [*turned, *of[m : m + 2 * n]]

    return trace(slopes, size, "contracted_gradient")
