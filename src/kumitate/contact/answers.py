"""How links answer pushes: the inverse inertia that each shows at its own place, the rest of the mechanism moving with it.

From the world outwards by ABA's articulated bodies (the force propagation of Kreutz-Delgado, Jain and Rodriguez 1992).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dynamics.aba import articulated
from ..dynamics.motion import link_motions
from ..model import Link, PerLink, outward
from ..spatial import Force, Motion, Transform
from .columns import Columns, Rows

__all__ = ["answer_to", "link_answers"]

Scalar = Any


def link_answers(columns: Columns, q: Sequence[Scalar], v: Sequence[Scalar], implicit_step: Scalar) -> PerLink:
    """Of every link the 6×6 matrix from a wrench's impulse to its twist, in the axes of the world, about its origin.

    Loops are left open: with them a link answers less.
    """
    tree, still = columns.tree, [0.0] * columns.tree.nv
    motions = link_motions(tree, q, still)
    handles = articulated(tree, motions, q, v, still, wrenches=None, implicit_step=implicit_step)

    def stage(link: Link, answer: Rows) -> Rows:
        pose = columns.poses[link]
        at_origin = Transform(pose.rotation, pose.translation - columns.origins[link])
        for S, release in reversed(list(zip(columns.S[link], handles[link].releases, strict=True))):
            gain = release.gain.to_parent(at_origin)
            y = answer_to(answer, gain)
            own = y.dot(gain) + release.mobility
            # (1 − S gᵀ) Λ (1 − g Sᵀ) + S D⁻¹ Sᵀ: what the joint does not pass on, and what it gives by itself
            answer = [
                [entry - a * z - c * b + a * own * b for entry, b, z in zip(row, S, y, strict=True)]
                for row, a, c in zip(answer, S, y, strict=True)
            ]
        return answer

    return outward(tree, stage, [[0.0] * 6 for _ in range(6)])


def answer_to(answer: Rows, push: Force) -> Motion:
    """The twist that an impulse gives."""
    return Motion.of([sum((a * b for a, b in zip(row, push, strict=True)), 0.0) for row in answer])
