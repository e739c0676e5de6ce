"""Derivatives of forward dynamics: ∂v̇/∂q, ∂v̇/∂v and ∂v̇/∂τ = M⁻¹, from those of inverse dynamics.

Inverse dynamics at the accelerations of forward dynamics gives τ again, so that M ∂v̇/∂x = −∂τ/∂x for x = q, v (Carpentier and
Mansard, RSS 2018): forward dynamics itself is not differentiated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ...errors import InputError
from ...model import Tree
from ...scalar import Scalar, Scalars, is_zero
from ...spatial import dot
from ..acting import Acting, Wrenches
from ..crba import crba
from ..loops.constraints import Row, row_solver
from ..passive import passive_curve, resisting_inertia
from ..rnea import rnea
from .chords import ChordLaw, ChordPath, LoopSlopes, chord_law, chord_path
from .factors import inverse_factors
from .inverse import Matrix, rnea_derivatives


class ForwardSlopes(NamedTuple):
    """Forward dynamics and its derivatives.

    Attributes:
        a: the accelerations v̇ (nv).
        by_q: ∂v̇/∂q (nv, nv), along the degrees of freedom.
        by_v: ∂v̇/∂v (nv, nv).
        by_tau: ∂v̇/∂τ, the inverse of the inertia matrix (nv, nv).
    """

    a: list[Scalar]
    by_q: Matrix
    by_v: Matrix
    by_tau: Matrix


def aba_derivatives(tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting) -> ForwardSlopes:
    """Forward dynamics of a tree with its derivatives; arguments as for `aba`. Wrenches keep their directions in the world.

    In an implicit step `by_tau` is the inverse of the inertia matrix with what damping and springs add to it.

    Raises:
        InputError: if efforts in loops, drives that resist, prescribed joints or wrenches of another class act.
    """
    gravity, implicit_step = acting.gravity, acting.implicit_step
    wrenches = differentiable(replace(acting, implicit_step=0.0), "aba_derivatives")
    bias = rnea(tree, q, v, [0.0] * tree.nv, gravity=gravity, wrenches=wrenches)
    M, left = crba(tree, q), [t - h for t, h in zip(tau, bias, strict=True)]
    for link in tree.links:
        rates = link.velocities(v)
        resisting = resisting_inertia(link, rates, implicit_step)
        for k, i in enumerate(range(link.v_start, link.v_start + link.kind.nv)):
            M[i][i] = M[i][i] + (resisting[k] - link.armature[k])
            left[i] = left[i] - implicit_step * link.stiffness[k] * rates[k]
    factors = inverse_factors(M)
    a = factors.solve(left)
    slopes = rnea_derivatives(tree, q, v, a, gravity=gravity, wrenches=wrenches)
    for link in tree.links:  # of h k v + h (∂f/∂v + h k) v̇, which an implicit step adds
        curves = passive_curve(link, link.velocities(v))
        for k, i in enumerate(range(link.v_start, link.v_start + link.kind.nv)):
            slopes.by_v[i][i] = slopes.by_v[i][i] + implicit_step * (link.stiffness[k] + curves[k] * a[i])
    both = factors.solve_columns([[-entry for entry in (*q, *v)] for q, v in zip(slopes.by_q, slopes.by_v, strict=True)])
    by_q, by_v = ([row[start : start + tree.nv] for row in both] for start in (0, tree.nv))
    return ForwardSlopes(a, by_q, by_v, factors.dense())


def differentiable(acting: Acting, purpose: str) -> Wrenches | None:
    """The wrenches that act, if gravity and wrenches at places are all that acts.

    Raises:
        InputError: for anything else, of which there are no derivatives here.
    """
    acting.at_an_instant(purpose)
    if acting.loop_tau or not isinstance(acting.wrenches, Wrenches | None):
        what = "efforts in loops" if acting.loop_tau else f"wrenches of the class {type(acting.wrenches).__name__}"
        raise InputError(f"{purpose}: {what} act, of which there are no derivatives here; leave them out, or give Wrenches")
    return acting.wrenches


# --- with closed loops ----------------------------------------------------------------------------------------------------
# With the force λ of the loops' rows, M v̇ + h − Jᵀλ = τ and J v̇ + J̇v + softness·λ = 0. Whatever moves, both stay true:
#
#     M ∂v̇ − Jᵀ ∂λ = −r,    J ∂v̇ + softness ∂λ = −g,
#
# where r and g are the derivatives of the left sides at fixed v̇ and λ: r from inverse dynamics (`inverse`) and from the forces
# in the chords, g from the relative motion of their ends (`chord_path`). So ∂v̇ = −N r − Gᵀ g, with N = ∂v̇/∂τ.


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
