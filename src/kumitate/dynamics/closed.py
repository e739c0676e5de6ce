"""Forward dynamics with loops: articulated bodies, and what the forces in chords and gears add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model import Tree
from ..scalar import Scalar
from .aba import aba, accelerations, articulated
from .chord_drives import chord_drives
from .constraints import chord_closings, constraint_rows
from .motion import falling, link_motions
from .reaches import reaches, with_forces
from .row_forces import row_forces
from .wrenches import Applied

__all__ = ["closed_aba"]


def closed_aba(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    *,
    gravity: Sequence[Scalar],
    wrenches: Applied | None = None,
    implicit_step: Scalar = 0.0,
    loop_tau: Mapping[str, Sequence[Scalar]] | None = None,
    baumgarte: Scalar = 0.0,
) -> list[Scalar]:
    """The joint accelerations v̇ of a tree whose chords and gears hold; arguments as of `aba`, and

    Args:
        loop_tau: forces of drives along the freedoms of chords, by the chord's name [N·m or N].
        baumgarte: a rate α [1/s] at which errors are made to decay: φ̈ + 2αφ̇ + α²φ = 0 in place of φ̈ = 0.
    """
    if not tree.closed:
        return aba(tree, q, v, tau, gravity=gravity, wrenches=wrenches, implicit_step=implicit_step)
    motions = link_motions(tree, q, v)
    closings = chord_closings(tree, q, v)
    pushed = chord_drives(tree, closings, loop_tau or {}, wrenches, implicit_step)
    rows = constraint_rows(tree, closings, q, v, motions, implicit_step=implicit_step)
    handles = articulated(tree, motions, q, v, tau, wrenches=pushed, implicit_step=implicit_step)
    reached = reaches(tree, motions, handles, rows, falling(gravity))
    wanted = [
        -(reach.free + baumgarte * (2.0 * row.rate + baumgarte * row.error)) for row, reach in zip(rows, reached, strict=True)
    ]
    released = with_forces(handles, reached, row_forces(tree, rows, reached, wanted))
    moved = accelerations(tree, motions, released, gravity)
    return [rate for link in tree.links for rate in moved[link][1]]
