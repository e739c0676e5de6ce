"""Held points by articulated bodies: their rows and those of loops, propagated inwards through ABA, O(n) for each.

An alternative to the extended Newton-Euler method: neither M nor J is formed, and the mechanism may have loops.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dynamics import Acting, chord_closings, constraint_rows, link_motions
from ...dynamics.aba import accelerations, articulated
from ...dynamics.loops.chord_forces import with_chord_drives
from ...dynamics.loops.multipliers import mobilities, propagate_rows, solved_rows, with_forces
from ...dynamics.motion import falling
from ...model import Tree
from ...scalar import Scalar
from ...spatial import dot
from .point import HeldPoints
from .system import HeldSystem


def articulated_rows(
    tree: Tree,
    points: HeldPoints,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    acting: Acting,
) -> HeldSystem:
    """The equations of the held points with the loops closed; arguments as for `kumitate.dynamics.aba_with_loops`."""
    motions, closings = link_motions(tree, q, v), chord_closings(tree, q, v)
    ends = points.ends(tree, q, v, motions)
    loops = constraint_rows(tree, closings, q, v, motions, implicit_step=acting.implicit_step, resisting=acting.loop_resisting)
    pushed = with_chord_drives(tree, closings, acting)
    handles = articulated(tree, motions, q, v, tau, pushed)
    held = [row for end in ends for row in end.rows]
    reached = propagate_rows(tree, motions, handles, [*loops, *held], falling(acting.gravity))
    mobility, count = mobilities(reached), len(loops)
    own = [row[:count] for row in mobility[:count]]
    coupling = [row[:count] for row in mobility[count:]]  # of the loops' rows and the held rows

    def answer(wanted: Sequence[Scalar]) -> list[Scalar]:
        return solved_rows(tree, loops, own, wanted) if loops else []

    alpha = acting.baumgarte
    decay = [alpha * (2.0 * row.rate + alpha * row.error) for row in loops]
    # the loops' forces with those of the held points zero,
    at_rest = answer([-(reach.free + more) for reach, more in zip(reached, decay, strict=False)])
    answers = [answer([-x for x in row]) for row in coupling]  # and their change per unit force of each held row
    Lambda = [
        [mobility[count + i][count + j] + dot(coupling[i], answers[j]) for j in range(len(held))] for i in range(len(held))
    ]
    free = [reach.free + dot(row, at_rest) for reach, row in zip(reached[count:], coupling, strict=True)]

    def moved(forces: Sequence[Scalar]) -> list[Scalar]:
        loop_forces = [f + dot((a[k] for a in answers), forces) for k, f in enumerate(at_rest)]
        released = with_forces(handles, reached, [*loop_forces, *forces])
        found = accelerations(tree, motions, released, acting.gravity)
        return [rate for link in tree.links for rate in found[link][1]]

    return HeldSystem(ends, Lambda, free, moved)
