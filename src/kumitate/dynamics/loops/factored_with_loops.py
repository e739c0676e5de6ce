"""Forward dynamics with loops from an inertia matrix, an alternative to `aba_with_loops`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...model import Tree
from ...scalar import Scalar
from ..acting import Acting
from ..factored import factored
from .schur import loop_system


def factored_with_loops(
    mass_matrix: Callable[[Tree, Sequence[Scalar]], list[list[Scalar]]],
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    acting: Acting,
) -> list[Scalar]:
    """The joint accelerations v̇ (nv) from the inertia matrix that `mass_matrix` computes; the rest as for `aba_with_loops`."""
    if not tree.closed:
        return factored(mass_matrix, tree, q, v, tau, acting)
    return loop_system(mass_matrix, tree, q, v, tau, acting).solved(tree)
