"""How links answer pushes: the inverse inertia that each shows at its own place, the rest of the mechanism moving with it."""

from __future__ import annotations

from ..model import Link
from ..spatial import Force, Motion, SparseFactors
from .columns import Columns, Rows

__all__ = ["answer_to", "link_answer"]


def link_answer(columns: Columns, link: Link, factors: SparseFactors) -> Rows:
    """J M⁻¹ Jᵀ (6×6) of a link: from a wrench's impulse to its twist, in the axes of the world, about its origin.

    `factors` are those of the inertia matrix, loops left open: with them a link answers less. A wrench on a link passes through
    no other joints than those that carry it, and only they answer.
    """
    passed = {
        k: S for ancestor in columns.tree.ancestors(link.index) for k, S in enumerate(columns.S[ancestor], ancestor.v_start)
    }
    half: Rows = [[0.0] * (k + 1) for k in range(6)]  # its lower triangle
    for step in factors.steps:
        if step.pivot in passed:
            y = passed[step.pivot]
            for i, factor in step.column.items():
                passed[i] = passed[i] - y * factor
            eased = list(y * step.inverse)
            half = [[entry + a * b for entry, b in zip(row, eased, strict=False)] for row, a in zip(half, y, strict=True)]
    return [[half[max(i, j)][min(i, j)] for j in range(6)] for i in range(6)]


def answer_to(answer: Rows, push: Force) -> Motion:
    """The twist that an impulse gives."""
    return Motion.of([sum((a * b for a, b in zip(row, push, strict=True)), 0.0) for row in answer])
