"""Forward dynamics by the divide-and-conquer algorithm, joint-oriented (thesis 2.2.3): inverses of 6×6 and n_J×n_J.

Table 2.3 of the thesis prints COR (constraint-oriented) for it; the text and (2.35) are joint-oriented. This requires Ψ to have
an inverse, which it may not have where a loop is closed: between two ends of a chain that moves in few directions. Connections
that close loops are therefore treated as in ADA, and so are all chords and gears.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..model import Tree
from ..scalar import Scalar, Scalars
from ..spatial import Dense, Factors
from .acting import Acting
from .ada import ConstraintGrip, constraint_law
from .assembly.accelerations import Accelerations, assembled_accelerations
from .assembly.connection import Connection, JointConnection
from .assembly.order import Order


def dca(tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting, *, order: Order = None) -> Accelerations:
    """The joint accelerations of a tree and the force at every joint; arguments as for `assembled_accelerations`."""
    return assembled_accelerations(joint_law, tree, q, v, tau, acting, order=order)


@dataclass(frozen=True)
class JointGrip:
    """W = Y − Y S R Sᵀ Y (2.42), with Y given by the factors of Ψ and R = (Sᵀ Y S + a)⁻¹; `YS` is Y S."""

    factors: Factors
    YS: Dense
    R: Dense

    def force(self, relative: Scalars) -> list[Scalar]:
        """W a."""
        held = self.factors.solve(relative)
        yielded = self.YS @ (self.R @ (self.YS.T @ Dense.column(relative)))
        return [h - y for h, y in zip(held, yielded.entries(), strict=True)]

    def between(self, left: Dense, right: Dense) -> Dense:
        """G W Hᵀ."""
        return self.factors.between(left, right) - left @ self.YS @ self.R @ (right @ self.YS).T


def joint_law(connection: Connection, Psi: Dense, damping: Sequence[float] | None) -> JointGrip | ConstraintGrip:
    """The W of a joint that moves by S q̈ (2.6) with Sᵀ F = −a q̈ in addition to its drive (2.10), from Ψ = Φ_A + Φ_B."""
    if not isinstance(connection, JointConnection) or connection.S is None or damping is not None:
        return constraint_law(connection, Psi, damping)
    factors = Psi.factored()  # of Y⁻¹ (2.38)
    YS = Dense.columns([factors.solve(column) for column in zip(*connection.S.rows, strict=True)])
    return JointGrip(factors, YS, (connection.S.T @ YS + Dense.diagonal(connection.armature)).inverse())
