"""The inverse inertia felt at a link, with the rest of the mechanism free to move."""

from __future__ import annotations

from ...model import Link
from ...scalar import Scalar
from ...spatial import Dense, Force, Motion, SparseFactors, dot
from .jacobians import LinkJacobians

__all__ = ["inverse_link_inertia", "twist_of"]


def inverse_link_inertia(jacobians: LinkJacobians, link: Link, factors: SparseFactors) -> Dense:
    """J M⁻¹ Jᵀ (6×6) of a link: maps an impulsive wrench to its twist, in the axes of the world, about its origin.

    `factors` are those of the inertia matrix with loops open; closed loops would reduce the response. A wrench on a link passes
    only through the joints that carry it, so the other joints do not contribute.
    """
    passed = {
        k: S for ancestor in jacobians.tree.ancestors(link.index) for k, S in enumerate(jacobians.S[ancestor], ancestor.v_start)
    }
    half: list[list[Scalar]] = [[0.0] * (k + 1) for k in range(6)]  # its lower triangle
    for step in factors.steps:
        if step.pivot in passed:
            y = passed[step.pivot]
            for i, factor in step.column.items():
                passed[i] = passed[i] - y * factor
            eased = list(y * step.inverse)
            half = [[entry + a * b for entry, b in zip(row, eased, strict=False)] for row, a in zip(half, y, strict=True)]
    return Dense.of([half[max(i, j)][min(i, j)] for j in range(6)] for i in range(6))


def twist_of(inverse_inertia: Dense, impulse: Force) -> Motion:
    """The twist caused by an impulse."""
    return Motion.of([dot(row, impulse) for row in inverse_inertia.rows])
