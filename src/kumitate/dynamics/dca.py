"""Forward dynamics by the divide-and-conquer algorithm, joint-oriented (thesis 2.2.3): inverses of 6×6 and n_J×n_J.

Table 2.3 of the thesis prints COR for it; the text and (2.35) are joint-oriented.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..model import Link, Tree
from ..spatial import Dense, Factors, Force, Motion
from .assembly import Accelerations, assembled_accelerations
from .unassembled import Joint

__all__ = ["JointGrip", "dca", "joint_inverses", "joint_law"]

Scalar = Any


def dca(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], tau: Sequence[Scalar], **options: Any) -> Accelerations:
    """The joint accelerations of a tree and the force at every joint; arguments as of `assembled_accelerations`."""
    return assembled_accelerations(joint_law, tree, q, v, tau, **options)


@dataclass(frozen=True)
class JointGrip:
    """W = Y − Y S R Sᵀ Y (2.42) with Y by the factors of Ψ and R = (Sᵀ Y S + a)⁻¹; `YS` is Y S."""

    factors: Factors
    YS: Dense
    R: Dense

    def force(self, relative: Motion) -> Force:
        """W a."""
        held = self.factors.solve(list(relative))
        yielded = self.YS @ (self.R @ (self.YS.T @ Dense.column(relative)))
        return Force.of([h - y for h, y in zip(held, yielded.entries(), strict=True)])

    def between(self, left: Dense, right: Dense) -> Dense:
        """G W Hᵀ."""
        return self.factors.between(left, right) - left @ self.YS @ self.R @ (right @ self.YS).T


def joint_law(joint: Joint, Psi: Dense) -> JointGrip:
    """How a joint grips that moves by S q̈ (2.6) while Sᵀ F = −a q̈ besides its drive (2.10), from Ψ = Φ_A + Φ_B."""
    factors = Psi.factored()  # of Y⁻¹ (2.38)
    YS = Dense.columns([factors.solve(column) for column in zip(*joint.S.rows, strict=True)])
    n = len(joint.armature)
    armature = Dense.of([a if i == k else 0.0 for k in range(n)] for i, a in enumerate(joint.armature))
    return JointGrip(factors, YS, (joint.S.T @ YS + armature).inverse())


def joint_inverses(link: Link) -> list[int]:
    """The sizes of the inverses that closing a link's joint takes: 6, and n_J."""
    return [6, link.kind.nv]
