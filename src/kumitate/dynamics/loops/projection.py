"""Projection onto the loop constraints: the smallest change in the metric of the mass matrix that satisfies them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from ...kinematics import integrate
from ...model import Tree
from ...scalar import Scalar
from ..aba import articulated
from ..acting import Acting
from ..motion import link_motions
from .articulated_loops import with_rows_through
from .constraints import Row, chord_closings, constraint_rows


def projected(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    *,
    velocities_only: bool = False,
    fixed: Collection[int] = (),
    more: Callable[[Sequence[Scalar], Sequence[Scalar]], list[Row]] | None = None,
) -> tuple[list[Scalar], list[Scalar]]:
    """q after one Newton step towards closed loops, and v without the part that opens them.

    Both changes are M⁻¹Jᵀλ, the effect of an impulse in the loops. Near closed loops the error converges quadratically.

    Args:
        q, v: coordinates (nq) and velocities (nv), with small loop errors.
        fixed: indices in v of joints of one degree of freedom that do not take part.
        velocities_only: whether to leave q unchanged.
        more: further constraint rows, at q and v.
    """

    def all_rows(q: Sequence[Scalar]) -> list[Row]:
        return [*_rows(tree, q, v), *(more(q, v) if more is not None else [])]

    if not velocities_only:
        rows = all_rows(q)
        q = integrate(tree, q, _response(tree, q, rows, [-row.error for row in rows], fixed))
    rows = all_rows(q)
    change = _response(tree, q, rows, [-row.rate for row in rows], fixed)
    return list(q), [rate + more for rate, more in zip(v, change, strict=True)]


def _rows(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Row]:
    return constraint_rows(tree, chord_closings(tree, q, v), q, v, link_motions(tree, q, v))


def _response(
    tree: Tree, q: Sequence[Scalar], rows: Sequence[Row], wanted: Sequence[Scalar], fixed: Collection[int]
) -> list[Scalar]:
    """M⁻¹Jᵀλ with Λλ = wanted, at rest."""
    still, weightless = [0.0] * tree.nv, Acting((0.0, 0.0, 0.0), prescribed=dict.fromkeys(fixed, 0.0))
    motions = link_motions(tree, q, still)
    handles = articulated(tree, motions, q, still, still, weightless)
    return with_rows_through(tree, motions, handles, rows, weightless.gravity).response(wanted)
