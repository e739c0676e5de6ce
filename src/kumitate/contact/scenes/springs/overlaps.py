"""Bodies that overlap at the start: their springs leave the overlaps out, less and less, so that they part slowly.

As `simulate.prescribed.overlaps` for traced springs; there it is said how fast bodies then part.
"""

from __future__ import annotations

from ....procedure import apply_at, local, procedure
from ..arrays import ScenePoints
from .law import Springs

__all__ = ["SHRINKS", "find_overlaps", "leave_out", "shrink"]

#: How fast overlaps that are left out shrink [m/s].
SHRINKS = 0.2


@procedure
def find_overlaps(points: ScenePoints, springs: Springs, count: int) -> None:
    """Before the first step: the depths of all pairs, if their springs hold enough energy to throw bodies up."""
    if springs.marks[0] == 0:
        return
    springs.marks[0] = 0
    springs.marks[1] = 0
    for k in range(4):
        springs.held[k] = 0.0
    stiffness, energy, row = local(1), local(1), -1
    for c in range(count):
        apply_at(springs.law[1], (points.gap[c],), (stiffness, energy))
        springs.held[0] += energy[0]
        depth = -points.gap[c]
        if depth > 0.0:
            a, b = float(points.solid[c, 0]), float(points.solid[c, 1])
            if row < 0 or springs.overlaps[row, 0] != a or springs.overlaps[row, 1] != b:
                row += 1
                springs.overlaps[row, 0] = a
                springs.overlaps[row, 1] = b
                springs.overlaps[row, 2] = 0.0
            springs.overlaps[row, 2] = max(springs.overlaps[row, 2], depth)
        if depth > springs.held[1]:
            springs.held[1] = depth
            springs.held[2] = float(points.solid[c, 0])
            springs.held[3] = float(points.solid[c, 1])
    if springs.held[0] >= springs.thrown:
        springs.marks[1] = row + 1


@procedure
def leave_out(points: ScenePoints, springs: Springs, count: int, sign: float) -> None:
    """Adds what is left out to the gaps of points, or takes it back; pairs stand in the order of their points."""
    row, end = 0, springs.marks[1]
    for c in range(count):
        a, b = float(points.solid[c, 0]), float(points.solid[c, 1])
        while row < end and (springs.overlaps[row, 0] < a or (springs.overlaps[row, 0] == a and springs.overlaps[row, 1] < b)):
            row += 1
        if row < end and springs.overlaps[row, 0] == a and springs.overlaps[row, 1] == b:
            points.gap[c] += sign * springs.overlaps[row, 2]


@procedure
def shrink(springs: Springs, time: float) -> None:
    """Makes overlaps smaller, and forgets those that are gone."""
    kept = 0
    for row in range(springs.marks[1]):
        if springs.overlaps[row, 2] > SHRINKS * time:
            springs.overlaps[kept, 0] = springs.overlaps[row, 0]
            springs.overlaps[kept, 1] = springs.overlaps[row, 1]
            springs.overlaps[kept, 2] = springs.overlaps[row, 2] - SHRINKS * time
            kept += 1
    springs.marks[1] = kept
