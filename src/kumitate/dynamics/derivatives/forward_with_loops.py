"""Derivatives of forward dynamics with closed loops, by the equations that hold at its solution.

With the force λ of the loops' rows, M v̇ + h − Jᵀλ = τ and J v̇ + J̇v + softness·λ = 0. Whatever moves, both stay true:

    M ∂v̇ − Jᵀ ∂λ = −r,    J ∂v̇ + softness ∂λ = −g,

where r and g are the derivatives of the left sides at fixed v̇ and λ: r from inverse dynamics (`inverse`) and from the forces
in the chords, g from the relative motion of their ends (`chord_path`). So ∂v̇ = −N r − Gᵀ g, with N = ∂v̇/∂τ.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Tree
from ...scalar import Scalar, Scalars, is_zero
from ...spatial import dot
from ..acting import Acting
from ..crba import crba
from ..loops.constraints import Row
from ..loops.multipliers import row_solver
from ..rnea import rnea
from .chords import ChordLaw, ChordPath, LoopSlopes, chord_law, chord_path
from .factors import inverse_factors
from .forward import ForwardSlopes, aba_derivatives, differentiable
from .inverse import rnea_derivatives
from .slopes import Matrix


def loop_derivatives(tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting) -> ForwardSlopes:
    """Forward dynamics of a tree with chords and gears, with its derivatives; arguments as for `aba_derivatives`."""
    if not tree.closed:
        return aba_derivatives(tree, q, v, tau, acting)
    gravity, wrenches = acting.gravity, differentiable(acting, "loop_derivatives")
    n, still = tree.nv, [0.0] * tree.nv
    laws = [chord_law(tree, q, v, chord) for chord in tree.chords]
    coasting = [chord_path(tree, q, v, still, law.chord, law.pose) for law in laws]
    J, rows, drift, left = _equations(tree, laws, coasting)
    bias = rnea(tree, q, v, still, gravity=gravity, wrenches=wrenches)
    factors = inverse_factors(crba(tree, q))
    free = factors.solve([t - h + push for t, h, push in zip(tau, bias, left, strict=True)])
    responses = [factors.solve(row) for row in J]
    solver = row_solver(tree, rows, [[dot(row, response) for response in responses] for row in J])
    strengths = solver.solve([-(rate + dot(row, free)) for rate, row in zip(drift, J, strict=True)])
    a = [x + dot(strengths, column) for x, column in zip(free, _transposed(responses, n), strict=True)]
    moved = rnea_derivatives(tree, q, v, a, gravity=gravity, wrenches=wrenches)
    in_loops = LoopSlopes.of(tree, laws, [chord_path(tree, q, v, a, law.chord, law.pose) for law in laws], strengths, len(J))
    G = _transposed([solver.solve(column) for column in _transposed(responses, n)], len(J))
    N = factors.dense()
    for response, reached in zip(responses, G, strict=True):
        N = [[x - p * g for x, g in zip(row, reached, strict=True)] for row, p in zip(N, response, strict=True)]
    by_q = _solved(N, G, _difference(moved.by_q, in_loops.force_by_q), in_loops.rows_by_q)
    by_v = _solved(N, G, _difference(moved.by_v, in_loops.force_by_v), in_loops.rows_by_v)
    return ForwardSlopes(a, by_q, by_v, N)


def _equations(
    tree: Tree, laws: Sequence[ChordLaw], paths: Sequence[ChordPath]
) -> tuple[Matrix, list[Row], list[Scalar], list[Scalar]]:
    """J, the rows, their drift J̇v, and the generalised forces of springs and dampers in the chords."""
    J: Matrix = []
    rows: list[Row] = []
    drift: list[Scalar] = []
    left: list[Scalar] = [0.0] * tree.nv
    for law, path in zip(laws, paths, strict=True):
        drift += law.accelerations(path.acceleration)
        drive = law.force([0.0] * len(law.units))
        for T, softness in zip(law.units, law.softness, strict=True):
            gradient: list[Scalar] = [0.0] * tree.nv
            for column in path.columns:
                gradient[column.index] = column.move.dot(T)
            J.append(gradient)
            rows.append(Row({}, {}, 0.0, 0.0, 0.0, softness, all(is_zero(part) for part in T.force)))
        for column in path.columns:
            left[column.index] = left[column.index] + column.move.dot(drive)
    for gear in tree.gears:
        J.append([dict(gear.v_ratios).get(i, 0.0) for i in range(tree.nv)])
        rows.append(Row({}, {}, 0.0, 0.0, 0.0, 0.0, True))
        drift.append(0.0)
    return J, rows, drift, left


def _difference(a: Matrix, b: Matrix) -> Matrix:
    return [[x - y for x, y in zip(row, other, strict=True)] for row, other in zip(a, b, strict=True)]


def _transposed(rows: Matrix, width: int) -> Matrix:
    """The columns, `width` in number, also where there are no rows."""
    return [[row[k] for row in rows] for k in range(width)]


def _solved(N: Matrix, G: Matrix, r: Matrix, g: Matrix) -> Matrix:
    """−N r − Gᵀ g, column by column; zeros cost nothing."""
    left = [[*row, *column] for row, column in zip(N, _transposed(G, len(N)), strict=True)]
    columns = [[(k, x) for k, x in enumerate(column) if not is_zero(x)] for column in _transposed([*r, *g], len(r))]
    return [[-sum((row[k] * x for k, x in column if not is_zero(row[k])), 0.0) for column in columns] for row in left]
