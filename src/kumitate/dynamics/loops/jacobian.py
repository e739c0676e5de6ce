"""The Jacobian of the loops' rows by statics: the effect of each row's unit force on the joints of the tree."""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Link, PerLink, Tree, inward
from ...scalar import Scalar
from ...spatial import Force
from ..motion import LinkMotion
from .constraints import Row

Carried = tuple[dict[int, Force], dict[int, Force]]


def carried_forces(tree: Tree, motions: PerLink[LinkMotion], rows: Sequence[Row]) -> PerLink[Carried]:
    """For each link, two dictionaries by row number: unit forces of the rows whose ends lie on different sides of its joint.

    The first in the link's frame and about its origin, the second in the parent's.
    """

    def carry(link: Link, children: list[Carried]) -> Carried:
        felt = {k: row.on[link.index] for k, row in enumerate(rows) if link.index in row.on}
        for _, from_child in children:
            for k, force in from_child.items():
                felt[k] = felt[k] + force if k in felt else force
        return felt, {k: force.to_parent(motions[link].X_PL) for k, force in felt.items()}

    return inward(tree, carry)


def loop_jacobian(tree: Tree, motions: PerLink[LinkMotion], rows: Sequence[Row]) -> list[list[Scalar]]:
    """J (rows, nv): J v are the rates of the rows, and Jᵀλ are the generalised forces of their forces λ."""
    J: list[list[Scalar]] = [[0.0] * tree.nv for _ in rows]
    for k, row in enumerate(rows):
        for i, ratio in row.along.items():
            J[k][i] = ratio
    carried = carried_forces(tree, motions, rows)
    for link in tree.links:
        for k, force in carried[link][0].items():
            for i, S in enumerate(motions[link].S):
                J[k][link.v_start + i] = J[k][link.v_start + i] + S.dot(force)
    return J
