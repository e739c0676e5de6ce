"""The inertia matrix by the unit-vector method: one inverse dynamics per column (N eq. 33; article C; Walker and Orin 1982)."""

from __future__ import annotations

from collections.abc import Sequence

from ..dynamics.passive import spring_force
from ..dynamics.rnea import rnea
from ..model import Tree
from ..scalar import Scalar, table


def unit_vector(tree: Tree, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """The joint-space inertia matrix M(q) (nv, nv): M e_i = INV(q, 0, e_i) without gravity (after N eq. 33).

    Args:
        tree: of the mechanism.
        q: coordinates (nq).
    """
    still, weightless = table([0.0] * tree.nv), (0.0, 0.0, 0.0)
    columns = []
    springs = [force for link in tree.links for force in spring_force(link, link.coordinates(q))]
    for i in range(tree.nv):
        unit = table([1.0 if k == i else 0.0 for k in range(tree.nv)])
        columns.append([f - k for f, k in zip(rnea(tree, q, still, unit, gravity=weightless), springs, strict=True)])
    # symmetric only up to rounding: one triangle is used for both
    return [[columns[min(i, j)][max(i, j)] for j in range(tree.nv)] for i in range(tree.nv)]
