"""Forward dynamics with loops: articulated bodies, plus the effect of the forces in chords and gears."""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Tree
from ...scalar import Scalar
from ..aba import aba, accelerations, articulated
from ..acting import Acting
from ..motion import falling, link_motions
from .chord_drives import with_chord_drives
from .constraints import chord_closings, constraint_rows
from .multipliers import row_forces
from .propagation import propagate_rows, with_forces

__all__ = ["aba_with_loops"]


def aba_with_loops(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    acting: Acting,
) -> list[Scalar]:
    """The joint accelerations v̇ of a tree with its chords and gears; arguments as for `aba`."""
    if not tree.closed:
        return aba(tree, q, v, tau, acting)
    motions = link_motions(tree, q, v)
    closings = chord_closings(tree, q, v)
    pushed = with_chord_drives(tree, closings, acting)
    rows = constraint_rows(tree, closings, q, v, motions, implicit_step=acting.implicit_step)
    handles = articulated(tree, motions, q, v, tau, pushed)
    reached = propagate_rows(tree, motions, handles, rows, falling(acting.gravity))
    decay = acting.baumgarte
    wanted = [-(reach.free + decay * (2.0 * row.rate + decay * row.error)) for row, reach in zip(rows, reached, strict=True)]
    released = with_forces(handles, reached, row_forces(tree, rows, reached, wanted))
    moved = accelerations(tree, motions, released, acting.gravity)
    return [rate for link in tree.links for rate in moved[link][1]]
