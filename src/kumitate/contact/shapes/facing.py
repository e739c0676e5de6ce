"""The face of one box clipped to the opposite face of the other box: the corners of their common area."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...scalar import Scalar, absolute, both, maximum, minimum, select
from ...spatial import Vector3
from .touch import Touch, signed

__all__ = ["Oriented", "face_touches"]

#: Edges with a slope below this are parallel to a side of the face.
_ALONG = 1e-15
#: The reference face is enlarged, and the clipped one reduced, by this fraction of its size, so that exactly one of two
#: coincident sides counts.
_SLACK = 1e-9

Pair = tuple[Scalar, Scalar]


@dataclass(frozen=True)
class Oriented:
    """A box in the world: its center [m], its axes, its half edges [m]."""

    center: Vector3
    axes: tuple[Vector3, ...]
    half: tuple[Scalar, ...]


def face_touches(
    box_a: Oriented,
    box_b: Oriented,
    C: Sequence[Sequence[Scalar]],
    along_a: Sequence[Scalar],
    along_b: Sequence[Scalar],
    faces_a: Sequence[Scalar],
    faces_b: Sequence[Scalar],
    by_a: Scalar,
) -> list[Touch]:
    """Eight slots: the corners of the common area of two faces, each at the start of one of its sides.

    The common area of two convex quadrilaterals has at most eight sides, four of each; the slot of a side that is not part of
    it is empty, so no corner is listed twice.

    Args:
        C: a_i·b_j; along_a, along_b: the components of p_BA in the axes of A, of B [m].
        faces_a, faces_b: the separation of the boxes along the normals of each [m].
        by_a: whether the reference face is one of A, else of B.
    """
    # the box R with the reference face, and the other box O seen from it: rows are O's coordinates in R's axes
    half_r = [select(by_a, a, b) for a, b in zip(box_a.half, box_b.half, strict=True)]
    half_o = [select(by_a, b, a) for a, b in zip(box_a.half, box_b.half, strict=True)]
    rows = [[select(by_a, C[i][j], C[j][i]) for j in range(3)] for i in range(3)]
    center = [select(by_a, -a, b) for a, b in zip(along_a, along_b, strict=True)]
    axes = [_select(by_a, a, b) for a, b in zip(box_a.axes, box_b.axes, strict=True)]
    apart = [select(by_a, a, b) for a, b in zip(faces_a, faces_b, strict=True)]

    # permuted so that the face's normal is R's third axis, towards O
    turn = _first_of_most(apart)
    half_r, rows, center, axes = (_turned(turn, items) for items in (half_r, rows, center, axes))
    flip = center[2]
    for items in (rows, axes):
        items[1], items[2] = (_flipped(item, flip) for item in items[1:])
    center[1], center[2] = signed(center[1], flip), absolute(center[2])

    # the opposite face of O, by its midpoint and the halves e, f of its sides, counter-clockwise from above
    columns = [Vector3(*(row[j] for row in rows)) for j in range(3)]
    e, f, g = _turned(_first_of_most([absolute(column.z) for column in columns]), _scaled(columns, half_o))
    side = g.z < 0.0
    g = Vector3(*(select(side, -x, x) for x in g))
    f = Vector3(*(select(side, -x, x) for x in f))
    middle = Vector3(center[0] - g.x, center[1] - g.y, center[2] - g.z - half_r[2])

    # where O's sides begin inside R's face, and where the sides of R's face begin inside O's, by coordinates (α, β) of O's
    scale = 1.0 / (e.x * f.y - e.y * f.x)
    x_in_o = (half_r[0] * scale * f.y, -(half_r[0] * scale * e.y))
    y_in_o = (-(half_r[1] * scale * f.x), half_r[1] * scale * e.x)
    back = ((middle.y * f.x - middle.x * f.y) * scale, (middle.x * e.y - middle.y * e.x) * scale)
    wide = (half_r[0] * (1.0 + _SLACK), half_r[1] * (1.0 + _SLACK))
    narrow = (1.0 - _SLACK, 1.0 - _SLACK)
    normal = Vector3(*(select(by_a, -x, x) for x in axes[2]))
    origin = _select(by_a, box_a.center, box_b.center) + axes[2] * half_r[2]

    touches = []
    for s, t, there in _starts((middle.x, middle.y), (e.x, e.y), (f.x, f.y), wide):
        corner = middle + e * s + f * t
        touches.append(_touch(origin, axes, normal, corner.x, corner.y, corner.z).only_if(there))
    for s, t, there in _starts(back, x_in_o, y_in_o, narrow):
        height = middle.z + e.z * (back[0] + x_in_o[0] * s + y_in_o[0] * t) + f.z * (back[1] + x_in_o[1] * s + y_in_o[1] * t)
        touches.append(_touch(origin, axes, normal, half_r[0] * s, half_r[1] * t, height).only_if(there))
    return touches


def _starts(middle: Pair, e: Pair, f: Pair, half: Pair) -> list[tuple[Scalar, Scalar, Scalar]]:
    """Where the four sides of a parallelogram middle ± e ± f start inside the rectangle |x| ≤ half[0], |y| ≤ half[1].

    Counter-clockwise, as coordinates along e and f in −1…1, and whether any part of the side is inside.
    """
    found: list[tuple[Scalar, Scalar, Scalar]] = []
    for along, across, swapped in ((e, f, False), (f, e, True)):
        inverse = [1.0 / select(absolute(x) < _ALONG, _ALONG, x) for x in along]
        reach = [absolute(x) * h for x, h in zip(inverse, half, strict=True)]
        for side in (1.0, -1.0) if swapped else (-1.0, 1.0):
            # |middle + side·across + t·along| ≤ half, in x and in y
            at = [-((m + side * c) * x) for m, c, x in zip(middle, across, inverse, strict=True)]
            low = maximum(-1.0, maximum(at[0] - reach[0], at[1] - reach[1]))
            high = minimum(1.0, minimum(at[0] + reach[0], at[1] + reach[1]))
            # if no part of a side is inside, one end is beyond all bounds: clamp it so that its point stays on the side
            start = minimum(1.0, low) if (side < 0.0) != swapped else maximum(-1.0, high)
            found.append((side, start, high > low) if swapped else (start, side, high > low))
    return found


def _touch(origin: Vector3, axes: Sequence[Vector3], normal: Vector3, x: Scalar, y: Scalar, gap: Scalar) -> Touch:
    return Touch(origin + axes[0] * x + axes[1] * y + axes[2] * (0.5 * gap), normal, gap)


def _first_of_most(values: Sequence[Scalar]) -> tuple[Scalar, Scalar]:
    """Two conditions: whether the first value is the largest, and whether the second is."""
    a, b, c = values
    return both(a >= b, a >= c), b >= c


def _turned(turn: tuple[Scalar, Scalar], items: Sequence[Any]) -> list[Any]:
    """The three items in cyclic order, the chosen one last."""
    a, b, c = items
    return [
        _select(turn[0], first, _select(turn[1], second, third)) for first, second, third in ((b, c, a), (c, a, b), (a, b, c))
    ]


def _select(condition: Scalar, yes: Any, no: Any) -> Any:
    """`select` of scalars, vectors or lists."""
    if isinstance(yes, Vector3):
        return Vector3(*(select(condition, a, b) for a, b in zip(yes, no, strict=True)))
    if isinstance(yes, list):
        return [select(condition, a, b) for a, b in zip(yes, no, strict=True)]
    return select(condition, yes, no)


def _flipped(item: Any, flip: Scalar) -> Any:
    """A vector or list, negated where `flip` is negative."""
    parts = [signed(x, flip) for x in item]
    return Vector3.of(parts) if isinstance(item, Vector3) else parts


def _scaled(columns: Sequence[Vector3], half: Sequence[Scalar]) -> list[Vector3]:
    return [column * h for column, h in zip(columns, half, strict=True)]
