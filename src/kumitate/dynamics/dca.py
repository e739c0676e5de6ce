"""Forward dynamics by the divide-and-conquer algorithm, joint-oriented (thesis 2.2.3): inverses of 6×6 and n_J×n_J.

Table 2.3 of the thesis prints COR for it; the text and (2.35) are joint-oriented.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model import Tree
from ..spatial import Dense
from .assembly import Accelerations, assembled_accelerations
from .handles import Joint

__all__ = ["dca", "joint_law"]

Scalar = Any


def dca(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], tau: Sequence[Scalar], **options: Any) -> Accelerations:
    """The joint accelerations of a tree and the force at every joint; arguments as of `assembled_accelerations`."""
    return assembled_accelerations(joint_law, tree, q, v, tau, **options)


def joint_law(joint: Joint, Psi: Dense, beta: Dense) -> tuple[Dense, Dense]:
    """W and γ of a joint that moves by S q̈ (2.6) while Sᵀ F = τ − a q̈ (2.10), from Ψ = Φ_A + Φ_B and β = B_A − B_B."""
    Y = Psi.inverse()  # (2.38)
    YS = Y @ joint.S
    n = len(joint.armature)
    armature = Dense.of([a if i == k else 0.0 for k in range(n)] for i, a in enumerate(joint.armature))
    free = YS @ (joint.S.T @ YS + armature).inverse()
    W = Y - free @ YS.T  # (2.42)
    return W, W @ beta + free @ joint.tau  # (2.43)
