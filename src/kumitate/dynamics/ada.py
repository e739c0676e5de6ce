"""Forward dynamics by the assembly-disassembly algorithm (thesis 2.2.1).

Constraint-oriented: it inverts matrices of (6 − n_J)×(6 − n_J) only, and the force at every joint comes with it.

It starts from inverse inertias, as DCA does: where a link is much lighter than links on both sides of it, their inverses
are lost beside its own by rounding. Such links are therefore lent inertia across their joints, which changes no motion
(`model.tree.regular_inertias`). Where joints cannot lend enough (two light links in a row whose joints meet, light links on
prismatic joints), as many digits are lost as the masses differ by, and from a ratio of 1e6 on a warning says so; 'aba' and
'hybrid' lose none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..model import Chord, Link, Tree
from ..scalar import Scalar
from ..spatial import Dense, Factors, RangeInverse
from .acting import Acting
from .assembly.accelerations import Accelerations, assembled_accelerations
from .assembly.connection import Connection, heavy_freedoms
from .assembly.order import Order

__all__ = ["ConstraintGrip", "ada", "constraint_inverses", "constraint_law"]


def ada(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    acting: Acting,
    *,
    order: Order = None,
) -> Accelerations:
    """The joint accelerations of a tree and the force at every joint; arguments as of `assembled_accelerations`."""
    return assembled_accelerations(constraint_law, tree, q, v, tau, acting, order=order)


@dataclass(frozen=True)
class ConstraintGrip:
    """W = T Y Tᵀ with Y by the factors of its inverse."""

    T: Dense
    Y: Factors | RangeInverse

    def force(self, relative: Sequence[Scalar]) -> list[Scalar]:
        """W a."""
        pull = (self.T.T @ Dense.column(relative)).entries()
        return (self.T @ Dense.column(self.Y.solve(pull))).entries()

    def between(self, left: Dense, right: Dense) -> Dense:
        """G W Hᵀ."""
        mine = left @ self.T
        return self.Y.between(mine, mine if left is right else right @ self.T)


def constraint_law(connection: Connection, Psi: Dense, damping: Sequence[float] | None) -> ConstraintGrip:
    """How a connection grips that exerts F = T λ besides its drive (2.7), from Ψ = Φ_A + Φ_B.

    Args:
        damping: if Tᵀ Ψ T may be singular, what keeps its inverse within bounds, one value a column of T.
    """
    held = connection.holding
    softness = Dense.of([y if i == k else 0.0 for k in range(len(held.softness))] for i, y in enumerate(held.softness))
    inverse = held.T.T @ Psi @ held.T + softness  # Y⁻¹ of (2.18)
    return ConstraintGrip(held.T, inverse.factored() if damping is None else RangeInverse.of(inverse, damping))


def constraint_inverses(joint: Link | Chord) -> list[int]:
    """The sizes of the inverses that closing a joint takes: one of 6 − n_J, and one more for every armature."""
    rows = joint.kind.rows if isinstance(joint, Link) else joint.closure.rows
    size = rows + len(heavy_freedoms(joint.armature))
    return [size] if size else []
