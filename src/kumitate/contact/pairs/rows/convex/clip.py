"""A convex polygon in a plane, cut by lines (Sutherland and Hodgman, Communications of the ACM 17, 1974)."""

from __future__ import annotations

from .....procedure import Floats, procedure

__all__ = ["EDGES", "INSIDE", "cut"]

#: A point this far outside counts as inside, so that faces with common edges keep their points [m].
INSIDE = 1e-7
#: Sides of two polygons are numbered below this.
EDGES = 256


@procedure
def cut(polygon: Floats[4], count: int, kept: Floats[4], a: float, b: float, most: float, side: int) -> int:
    """The part of a polygon with a x + b y ≤ most, and its number of corners.

    Args:
        polygon: corners x, y, any third number linear in these, and the number of the side that begins there. Overwritten.
        count: of its corners; two are a line between these.
        kept: room for one corner more.
        a, b, most: the line, (a, b) of unit length.
        side: the number of the new side.
    """
    outside = False
    for i in range(count):
        outside = outside or a * polygon[i, 0] + b * polygon[i, 1] - most > INSIDE
    if not outside:
        return count
    found = 0
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        here = a * polygon[i, 0] + b * polygon[i, 1] - most
        there = a * polygon[j, 0] + b * polygon[j, 1] - most
        if here <= INSIDE:
            for c in range(4):
                kept[found, c] = polygon[i, c]
            found += 1
        if (here <= INSIDE) != (there <= INSIDE):
            part = min(max(here / (here - there), 0.0), 1.0)  # a corner that counts as inside may lie beyond the line
            for c in range(3):
                kept[found, c] = polygon[i, c] + part * (polygon[j, c] - polygon[i, c])
            kept[found, 3] = float(side) if here <= INSIDE else polygon[i, 3]
            found += 1
    for i in range(found):
        for c in range(4):
            polygon[i, c] = kept[i, c]
    return found
