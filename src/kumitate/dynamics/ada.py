"""Forward dynamics by the assembly-disassembly algorithm (thesis 2.2.1).

Constraint-oriented: it inverts matrices of (6 − n_J)×(6 − n_J) only, and the force at every joint comes with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model import Tree
from ..spatial import Dense
from .assembly import Accelerations, assembled_accelerations
from .handles import Joint

__all__ = ["ada", "constraint_law"]

Scalar = Any


def ada(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], tau: Sequence[Scalar], **options: Any) -> Accelerations:
    """The joint accelerations of a tree and the force at every joint; arguments as of `assembled_accelerations`."""
    return assembled_accelerations(constraint_law, tree, q, v, tau, **options)


def constraint_law(joint: Joint, Psi: Dense, beta: Dense) -> tuple[Dense, Dense]:
    """W and γ of a joint that transmits F = T_a τ + T λ (2.7), from Ψ = Φ_A + Φ_B and β = B_A − B_B.

    A drive's armature a takes part of its force: along T_a the joint is then not free but gives way with 1/a, and that
    direction joins the constraints.
    """
    heavy = [k for k, a in enumerate(joint.armature) if a.__class__ is not float or a > 0.0]
    free = [k for k in range(len(joint.armature)) if k not in heavy]
    active, tau = list(zip(*joint.T_a.rows, strict=True)), joint.tau.entries()
    driven = Dense.columns([active[k] for k in free]) @ Dense.column([tau[k] for k in free]) if free else Dense.zero(6, 1)
    held = [*zip(*joint.T.rows, strict=True), *(active[k] for k in heavy)]
    if not held:
        return Dense.zero(6, 6), driven  # a free joint transmits nothing but its drive
    T = Dense.columns(held)
    rigid = len(held) - len(heavy)
    yielding = [0.0] * rigid + [1.0 / joint.armature[k] for k in heavy]
    softness = Dense.of([y if i == k else 0.0 for k in range(len(held))] for i, y in enumerate(yielding))
    Y = (T.T @ Psi @ T + softness).inverse()  # (2.18)
    pull = T.T @ (beta - Psi @ driven) + Dense.column([0.0] * rigid + [tau[k] / joint.armature[k] for k in heavy])
    return T @ Y @ T.T, T @ Y @ pull + driven  # (2.21)
