"""Forward dynamics with loops: articulated bodies, plus the effect of the forces in chords and gears."""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Tree
from ...scalar import Scalar
from ..aba import aba
from ..acting import Acting
from .articulated_loops import articulated_loops


def aba_with_loops(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    acting: Acting,
) -> list[Scalar]:
    """The joint accelerations v̇ of a tree with its chords and gears; arguments as for `aba`."""
    if not tree.closed:
        return aba(tree, q, v, tau, acting)
    loops, decay = articulated_loops(tree, q, v, tau, acting), acting.baumgarte
    return loops.accelerations([-decay * (2.0 * row.rate + decay * row.error) for row in loops.rows])
