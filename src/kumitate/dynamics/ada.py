"""Forward dynamics by the assembly-disassembly algorithm (thesis 2.2.1).

It is constraint-oriented: it only inverts matrices of size (6 − n_J)×(6 − n_J), and it also gives the force at every joint.

Like DCA it starts from inverse inertias. Where a link is much lighter than its neighbors on both sides, its inverse inertia is
so much larger than theirs that rounding removes theirs from the sum. Inertia is therefore moved across joints to such links,
which does not change the motion (`model.tree.regular_inertias`). Where that is not enough (two light links in a row whose
joints meet, light links on prismatic joints), the loss in digits is the order of magnitude of the mass ratio; a warning is
given from a ratio of 1e6. The methods 'aba' and 'hybrid' do not lose digits this way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..model import Tree
from ..scalar import Scalar, Scalars
from ..spatial import Dense, Factors, RangeInverse
from .acting import Acting
from .assembly.accelerations import Accelerations, assembled_accelerations
from .assembly.connection import Connection
from .assembly.order import Order


def ada(tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting, *, order: Order = None) -> Accelerations:
    """The joint accelerations of a tree and the force at every joint; arguments as for `assembled_accelerations`."""
    return assembled_accelerations(constraint_law, tree, q, v, tau, acting, order=order)


@dataclass(frozen=True)
class ConstraintGrip:
    """W = T Y Tᵀ, with Y given by the factors of its inverse."""

    T: Dense
    Y: Factors | RangeInverse

    def force(self, relative: Scalars) -> list[Scalar]:
        """W a."""
        pull = (self.T.T @ Dense.column(relative)).entries()
        return (self.T @ Dense.column(self.Y.solve(pull))).entries()

    def between(self, left: Dense, right: Dense) -> Dense:
        """G W Hᵀ."""
        mine = left @ self.T
        return self.Y.between(mine, mine if left is right else right @ self.T)


def constraint_law(connection: Connection, Psi: Dense, damping: Sequence[float] | None) -> ConstraintGrip:
    """The W of a connection that exerts F = T λ in addition to its drive (2.7), from Ψ = Φ_A + Φ_B.

    Args:
        damping: keeps the inverse of Tᵀ Ψ T bounded where that may be singular, one value per column of T; None if regular.
    """
    held = connection.holding
    inverse = held.T.T @ Psi @ held.T + Dense.diagonal(held.softness)  # Y⁻¹ of (2.18)
    return ConstraintGrip(held.T, inverse.factored() if damping is None else RangeInverse.of(inverse, damping))
