"""Forward dynamics by the assembly-disassembly algorithm (thesis 2.2.1).

Constraint-oriented: it inverts matrices of (6 − n_J)×(6 − n_J) only, and the force at every joint comes with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..model import Link, Tree
from ..spatial import Dense, Factors, Force, Motion
from .assembly import Accelerations, assembled_accelerations
from .unassembled import Joint

__all__ = ["ConstraintGrip", "ada", "constraint_inverses", "constraint_law"]

Scalar = Any


def ada(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], tau: Sequence[Scalar], **options: Any) -> Accelerations:
    """The joint accelerations of a tree and the force at every joint; arguments as of `assembled_accelerations`."""
    return assembled_accelerations(constraint_law, tree, q, v, tau, **options)


@dataclass(frozen=True)
class ConstraintGrip:
    """W = T Y Tᵀ with Y by the factors of its inverse."""

    T: Dense
    factors: Factors

    def force(self, relative: Motion) -> Force:
        """W a."""
        pull = (self.T.T @ Dense.column(relative)).entries()
        return Force.of((self.T @ Dense.column(self.factors.solve(pull))).entries())

    def between(self, left: Dense, right: Dense) -> Dense:
        """G W Hᵀ."""
        return self.factors.between(left @ self.T, right @ self.T)


def constraint_law(joint: Joint, Psi: Dense) -> ConstraintGrip:
    """How a joint grips that exerts F = T λ besides its drive (2.7), from Ψ = Φ_A + Φ_B.

    A drive's armature a takes part of its force: along T_a the joint is then not free but gives way with 1/a, and that
    direction joins the constraints.
    """
    heavy = _heavy(joint.armature)
    active = list(zip(*joint.T_a.rows, strict=True))
    held = [*zip(*joint.T.rows, strict=True), *(active[k] for k in heavy)]
    if not held:  # a free joint transmits nothing but its drive
        return ConstraintGrip(Dense.zero(6, 1), Dense.of([[1.0]]).factored())
    T = Dense.columns(held)
    yielding = [0.0] * (len(held) - len(heavy)) + [1.0 / joint.armature[k] for k in heavy]
    softness = Dense.of([y if i == k else 0.0 for k in range(len(held))] for i, y in enumerate(yielding))
    return ConstraintGrip(T, (T.T @ Psi @ T + softness).factored())  # Y⁻¹ of (2.18)


def constraint_inverses(link: Link) -> list[int]:
    """The sizes of the inverses that closing a link's joint takes: one of 6 − n_J, and one more for every armature."""
    size = 6 - link.kind.nv + len(_heavy(link.armature))
    return [size] if size else []


def _heavy(armature: Sequence[Scalar]) -> list[int]:
    """Which freedoms have one; what is not known yet counts."""
    return [k for k, a in enumerate(armature) if a.__class__ is not float or a > 0.0]
