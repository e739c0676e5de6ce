"""Forward dynamics at the start of a step that also closes the loops, by one linearised projection with the same factors.

A step leaves a small gap e in the loops, and a small rate ė. The next one begins with the Newton step J δq = −e and with the
impulse J δv = −ė, both the smallest in the metric of the mass matrix, M⁻¹Jᵀλ. J, M and Λ = J M⁻¹ Jᵀ are those that the
accelerations need at that state, so that closing costs two solves more, and not a factorisation of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...model import Tree
from ...scalar import Scalar, is_zero
from ..acting import Acting
from .articulated_loops import ArticulatedLoops, articulated_loops
from .constraints import largest_gap
from .multipliers import DAMPING

__all__ = ["ClosingStep", "closing_step"]

#: A row counts as resolved if its pivot is above this part of a body's that has the mechanism's mass, which is 10⁴ times the
#: damping: then the solve needs no sweeps. Between 1e-3 and 1, singular postures are passed equally well.
RESOLVED = 1e-2


class ClosingStep(NamedTuple):
    """How a step begins.

    Attributes:
        acceleration: v̇ (nv); `move`: δq (nv), of the coordinates; `change`: δv (nv).
        gap: the largest error of a loop before, angles times the mechanism's size [m].
        rank: the number of resolved rows; in a singular posture it is smaller than elsewhere.
    """

    acceleration: list[Scalar]
    move: list[Scalar]
    change: list[Scalar]
    gap: Scalar
    rank: Scalar


def closing_step(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    acting: Acting,
    opening: Scalar = 0.0,
) -> ClosingStep:
    """v̇ of a tree with loops, and the changes of q and v that close them.

    Args:
        tree, q, v, tau, acting: as for `aba_with_loops`. With an implicit step h, v̇ contains δv/h, and the change is zero.
        opening: a step that moves along v opens the loops by this times J̇v [s²]; they are closed as much too far.
    """
    loops = articulated_loops(tree, q, v, tau, acting)
    rank = loops.solver.rank(DAMPING / RESOLVED)
    gap, _ = largest_gap(tree, loops.rows)
    missing, against = _missing(loops, opening), [-row.rate for row in loops.rows]
    if is_zero(acting.implicit_step):
        acceleration, move, change = loops.accelerations_and_responses([0.0] * len(against), missing, against)
        return ClosingStep(acceleration, move, change, gap, rank)
    acceleration, move = loops.accelerations_and_responses([rate / acting.implicit_step for rate in against], missing)
    return ClosingStep(acceleration, move, [0.0] * tree.nv, gap, rank)


def _missing(loops: ArticulatedLoops, opening: Scalar) -> list[Scalar]:
    """J δq (rows): against the errors, and against those that this step will make; nothing along soft rows and those
    of velocities alone."""
    if is_zero(opening):
        return [-row.error for row in loops.rows]
    return [
        opening * drift - row.error if is_zero(row.softness) and row.holonomic else 0.0
        for row, drift in zip(loops.rows, loops.drift(), strict=True)
    ]
