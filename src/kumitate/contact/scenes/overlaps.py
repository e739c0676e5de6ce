"""Bodies that overlap at the start: their springs leave the overlaps out, less and less, so that they part slowly.

In traced code they are an input of the step (`simulate.driving.forcing`); how fast bodies part says `contact.parting`.
"""

from __future__ import annotations

from ...procedure import apply_at, local, procedure
from ...procedure.called import later
from ..parting import SHRINKS
from .arrays import OverlapList, Placed, ScenePoints, Springs


@later
def find_overlaps(placed: Placed, springs: Springs, points: ScenePoints, overlaps: OverlapList, count: int) -> None:
    """Before the first step: the depths of all pairs, if their springs hold enough energy to throw bodies up."""
    if overlaps.marks[0] == 0:
        return
    overlaps.marks[:] = 0
    overlaps.held[:] = 0.0
    stiffness, energy = local(1), local(1)
    for c in range(count):
        a, b, gap = points.solid[c, 0], points.solid[c, 1], points.gap[c]
        if len(springs.law) > 0:
            apply_at(springs.law[1], (gap,), (stiffness, energy))
        else:
            stiffness[0] = placed.surfaces[placed.material[a] * placed.materials + placed.material[b], 6]
            energy[0] = 0.5 * stiffness[0] * gap * gap
        if gap < 0.0 and stiffness[0] > 0.0:
            _note(overlaps, float(a), float(b), -gap, energy[0])
    if overlaps.held[0] < overlaps.thrown:
        overlaps.marks[1] = 0


@procedure
def _note(overlaps: OverlapList, a: float, b: float, depth: float, energy: float) -> None:
    """Adds a point of two solids that overlap, and the energy of its spring [J]; after those of earlier pairs."""
    row = overlaps.marks[1] - 1
    overlaps.held[0] += energy
    if row < 0 or overlaps.rows[row, 0] != a or overlaps.rows[row, 1] != b:
        row += 1
        overlaps.marks[1], overlaps.rows[row, 0], overlaps.rows[row, 1], overlaps.rows[row, 2] = row + 1, a, b, 0.0
    overlaps.rows[row, 2] = max(overlaps.rows[row, 2], depth)
    if depth > overlaps.held[1]:
        overlaps.held[1], overlaps.held[2], overlaps.held[3] = depth, a, b


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
            overlaps.rows[kept] = overlaps.rows[row]
            overlaps.rows[kept, 2] -= SHRINKS * time
            kept += 1
    overlaps.marks[1] = kept
