"""Second derivatives of inverse dynamics, contracted with a vector: Σ wᵢ ∂²τᵢ.

Reverse mode over recursive Newton-Euler gives the gradient of Σ wᵢ τᵢ at about twice its cost; forward mode along every degree
of freedom, its rate and its acceleration then gives the second derivatives. Of two that are equal, the one along the joint
further out is taken: less moves with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...kinematics import rate
from ...model import Tree
from ...scalar import Program, Scalar, Scalars, gradient, inlined, inlined_slopes, trace
from ..acting import Wrenches
from ..rnea import rnea
from .slopes import Matrix, zeros


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
    tree: Tree,
    q: Scalars,
    v: Scalars,
    vdot: Scalars,
    weights: Scalars,
    *,
    gravity: Scalars,
    wrenches: Wrenches | None = None,
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
    units = [[1.0 if i == k else 0.0 for i in range(n)] for k in range(n)]
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
        units = ([1.0 if i == k else 0.0 for i in range(n)] for k in range(n))
        turned = [sum((r * g for r, g in zip(rate(tree, q, unit), of, strict=False)), 0.0) for unit in units]
        return [*turned, *of[m : m + 2 * n]]

    return trace(slopes, size, "contracted_gradient")
