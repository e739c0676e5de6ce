"""Bodies that overlap at the start: their springs leave the overlaps out, less and less, so that they part slowly.

In traced code they are an input of the step (`simulate.driving.forcing`); how fast bodies part says `contact.parting`.
"""

from __future__ import annotations

from typing import NamedTuple

from ...procedure import Floats, Ints, procedure
from ..parting import SHRINKS
from .arrays import Placed, ScenePoints


class OverlapList(NamedTuple):
    """What springs leave out of overlaps, by pairs of solids.

    Attributes:
        marks: [1 before the first step; rows in use].
        thrown: the energy of the springs at the start from which on bodies are parted slowly [J].
        held: [that energy [J]; the deepest overlap at the start [m], of these two solids].
        rows: two solids, and by how much less deep than they are their points count [m]; in the order of points.
    """

    marks: Ints
    thrown: float
    held: Floats
    rows: Floats[3]


@procedure
def find_overlaps(placed: Placed, points: ScenePoints, overlaps: OverlapList, count: int) -> None:
    """Before the first step: the depths of compliant pairs, if their springs hold enough energy to throw bodies up."""
    if overlaps.marks[0] == 1:
        clear(overlaps)
        for c in range(count):
            a, b = placed.material[points.solid[c, 0]], placed.material[points.solid[c, 1]]
            stiffness, gap = placed.surfaces[a * placed.materials + b, 6], points.gap[c]
            if stiffness > 0.0 and gap < 0.0:
                note_overlap(points, overlaps, c, 0.5 * stiffness * gap * gap)
        keep_thrown(overlaps)


@procedure
def clear(overlaps: OverlapList) -> None:
    """Forgets all, and that no step was made."""
    overlaps.marks[:] = 0
    overlaps.held[:] = 0.0


@procedure
def note_overlap(points: ScenePoints, overlaps: OverlapList, c: int, energy: float) -> None:
    """Adds a point whose bodies overlap, and the energy of its spring [J]; after those of earlier pairs."""
    a, b, depth, row = float(points.solid[c, 0]), float(points.solid[c, 1]), -points.gap[c], overlaps.marks[1] - 1
    overlaps.held[0] += energy
    if row < 0 or overlaps.rows[row, 0] != a or overlaps.rows[row, 1] != b:
        row += 1
        overlaps.marks[1] = row + 1
        overlaps.rows[row, 0] = a
        overlaps.rows[row, 1] = b
        overlaps.rows[row, 2] = 0.0
    overlaps.rows[row, 2] = max(overlaps.rows[row, 2], depth)
    if depth > overlaps.held[1]:
        overlaps.held[1] = depth
        overlaps.held[2] = a
        overlaps.held[3] = b


@procedure
def keep_thrown(overlaps: OverlapList) -> None:
    """Forgets overlaps whose springs would not throw bodies up."""
    if overlaps.held[0] < overlaps.thrown:
        overlaps.marks[1] = 0


@procedure
def leave_out(points: ScenePoints, overlaps: OverlapList, count: int) -> None:
    """Fills `ScenePoints.left_out`; pairs stand in the order of their points."""
    rows, row, end = overlaps.rows, 0, overlaps.marks[1]
    for c in range(count):
        a, b = float(points.solid[c, 0]), float(points.solid[c, 1])
        while row < end and (rows[row, 0] < a or (rows[row, 0] == a and rows[row, 1] < b)):
            row += 1
        points.left_out[c] = rows[row, 2] if row < end and rows[row, 0] == a and rows[row, 1] == b else 0.0


@procedure
def shrink(overlaps: OverlapList, time: float) -> None:
    """Makes overlaps smaller, and forgets those that are gone."""
    kept = 0
    for row in range(overlaps.marks[1]):
        if overlaps.rows[row, 2] > SHRINKS * time:
            overlaps.rows[kept, 0] = overlaps.rows[row, 0]
            overlaps.rows[kept, 1] = overlaps.rows[row, 1]
            overlaps.rows[kept, 2] = overlaps.rows[row, 2] - SHRINKS * time
            kept += 1
    overlaps.marks[1] = kept
