"""Box against box: the separating axis, then either a face clipped to the other box's face, or two crossing edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

from ...model import Box
from ...scalar import Scalar, Scalars, absolute, both, equal, maximum, minimum, select, sqrt
from ...spatial import Transform, Vector3, dot
from .touch import FAR, Touch, axes_of, signed

#: Edges are chosen over faces only if their separation is larger by this fraction of the shortest half edge: stacks use faces.
_FACES_FIRST = 0.02
#: A's face is chosen over B's only if its separation is larger by this fraction, so that the choice is stable in a stack.
_B_FIRST = 1e-4
#: sin² of the angle between edges below which they are parallel, and faces or corners suffice.
_PARALLEL = 1e-4
#: Edges with a slope below this are parallel to a side of the face.
_ALONG = 1e-15
#: The reference face is enlarged, and the clipped one reduced, by this fraction of its size, so that exactly one of two
#: coincident sides counts.
_SLACK = 1e-9

_Numbers = tuple[Scalar, Scalar]
_Rows = Sequence[Scalars]


@dataclass(frozen=True)
class _Oriented:
    """A box in the world: its center [m], its axes, its half edges [m]."""

    center: Vector3
    axes: tuple[Vector3, ...]
    half: tuple[Scalar, ...]


class _Edges(NamedTuple):
    """A pair of edges, by the numbers 0, 1, 2 of the axes of A and B along which they run."""

    apart: Scalar
    axis_a: Scalar
    axis_b: Scalar

    def or_else(self, other: _Edges) -> _Edges:
        """The pair with the larger separation."""
        axes = (select(self.apart >= other.apart, *pair) for pair in zip(self[1:], other[1:], strict=True))
        return _Edges(maximum(self.apart, other.apart), *axes)


def box_box(a: Box, X_WA: Transform, b: Box, X_WB: Transform) -> list[Touch]:
    """Two boxes: up to eight points where a face of one meets a face of the other, or one where two edges cross.

    The direction of the largest separation, or least overlap, is found among the normals of their faces and the
    common perpendiculars of their edges (Gottschalk, Lin, Manocha, SIGGRAPH 1996).
    """
    box_a = _Oriented(X_WA.translation, axes_of(X_WA), tuple(0.5 * edge for edge in a.size))
    box_b = _Oriented(X_WB.translation, axes_of(X_WB), tuple(0.5 * edge for edge in b.size))
    C = [[mine.dot(other) for other in box_b.axes] for mine in box_a.axes]
    apart = box_a.center - box_b.center
    along_a, along_b = ([axis.dot(apart) for axis in box.axes] for box in (box_a, box_b))
    turned = [[absolute(x) for x in row] for row in C]
    faces_a = [  # the separation along each normal; negative: overlap
        absolute(along_a[i]) - box_a.half[i] - dot(turned[i], box_b.half) for i in range(3)
    ]
    faces_b = [absolute(along_b[j]) - box_b.half[j] - dot([row[j] for row in turned], box_a.half) for j in range(3)]
    edges = _furthest_edges(C, turned, along_a, box_a, box_b)

    shortest = min(*box_a.half, *box_b.half)
    most_a, most_b = reduce(maximum, faces_a), reduce(maximum, faces_b)
    by_a = most_a > most_b + _B_FIRST * shortest
    furthest = edges.apart > select(by_a, most_a, most_b) + _FACES_FIRST * shortest
    edge, on_both = _edge_touch(box_a, box_b, edges, apart, furthest)
    crossing = both(furthest, on_both)
    first, *others = _face_touches(box_a, box_b, C, (along_a, along_b), (faces_a, faces_b), by_a)
    either = Touch(*(_select(crossing, one, other) for one, other in
                     ((edge.point, first.point), (edge.normal, first.normal), (edge.gap, first.gap))))  # fmt: skip
    return [either, *(Touch(t.point, t.normal, select(crossing, FAR, t.gap)) for t in others)]


def _furthest_edges(C: Any, turned: Any, along_a: Any, a: _Oriented, b: _Oriented) -> _Edges:
    """The pair of edges whose common perpendicular separates the boxes most: a_i × b_j, in A's axes."""
    found = []
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            distance = absolute(along_a[i2] * C[i1][j] - along_a[i1] * C[i2][j])
            reach_a = a.half[i1] * turned[i2][j] + a.half[i2] * turned[i1][j]
            reach_b = b.half[j1] * turned[i][j2] + b.half[j2] * turned[i][j1]
            sine2 = 1.0 - C[i][j] * C[i][j]
            parallel = sine2 < _PARALLEL
            scale = 1.0 / sqrt(select(parallel, 1.0, sine2))
            apart = select(parallel, -FAR, (distance - (reach_a + reach_b)) * scale)
            found.append(_Edges(apart, float(i), float(j)))
    return reduce(_Edges.or_else, found)


def _edge_touch(a: _Oriented, b: _Oriented, edges: _Edges, apart: Vector3, valid: Scalar) -> tuple[Touch, Scalar]:
    """The closest points of the lines of the two edges, and whether they are on both edges."""
    chosen_a = [equal(edges.axis_a, float(k)) for k in range(3)]
    chosen_b = [equal(edges.axis_b, float(k)) for k in range(3)]
    u, v = (
        Vector3(*(_picked(chosen, parts) for parts in zip(*box.axes, strict=True)))
        for box, chosen in ((a, chosen_a), (b, chosen_b))
    )
    across = u.cross(v)
    square = select(valid, across.dot(across), 1.0)
    scale = signed(1.0 / sqrt(square), across.dot(apart))
    normal = across * scale  # from B to A
    p = a.center - _corner(a, chosen_a, normal)
    q = b.center + _corner(b, chosen_b, normal)
    between = p - q
    cosine, along_u, along_v = u.dot(v), u.dot(between), v.dot(between)
    s = (cosine * along_v - along_u) / square
    t = (along_v - cosine * along_u) / square
    on_both = both(absolute(s) <= _picked(chosen_a, a.half), absolute(t) <= _picked(chosen_b, b.half))
    middle = (p + u * s + q + v * t) * 0.5
    return Touch(middle, normal, normal.dot(between)), on_both


def _corner(box: _Oriented, chosen: Any, direction: Vector3) -> Vector3:
    """From the center to the midpoint of the edge along the chosen axis that is furthest in a direction."""
    corner = Vector3()
    for axis, half, skipped in zip(box.axes, box.half, chosen, strict=True):
        corner = corner + axis * signed(select(skipped, 0.0, half), axis.dot(direction))
    return corner


def _picked(which: Any, items: Any) -> Scalar:
    return select(which[0], items[0], select(which[1], items[1], items[2]))


# --- the face of one box clipped to the opposite face of the other: the corners of their common area -----------------------
def _face_touches(box_a: _Oriented, box_b: _Oriented, C: _Rows, along: _Rows, faces: _Rows, by_a: Scalar) -> list[Touch]:
    """Eight slots: the corners of the common area of two faces, each at the start of one of its sides.

    The common area of two convex quadrilaterals has at most eight sides, four of each; the slot of a side that is not part of
    it is empty, so no corner is listed twice.

    Args:
        C: a_i·b_j; along: the components of p_BA in the axes of A, and of B [m]; faces: the separations along these [m].
        by_a: whether the reference face is one of A, else of B.
    """
    # the box R with the reference face, and the other box O seen from it: rows are O's coordinates in R's axes
    half_r = [select(by_a, a, b) for a, b in zip(box_a.half, box_b.half, strict=True)]
    half_o = [select(by_a, b, a) for a, b in zip(box_a.half, box_b.half, strict=True)]
    rows = [[select(by_a, C[i][j], C[j][i]) for j in range(3)] for i in range(3)]
    center = [select(by_a, -a, b) for a, b in zip(*along, strict=True)]
    axes = [_select(by_a, a, b) for a, b in zip(box_a.axes, box_b.axes, strict=True)]
    apart = [select(by_a, a, b) for a, b in zip(*faces, strict=True)]

    # permuted so that the face's normal is R's third axis, towards O
    turn = _first_of_most(apart)
    half_r, rows, center, axes = (_turned(turn, items) for items in (half_r, rows, center, axes))
    flip = center[2]
    for items in (rows, axes):
        items[1], items[2] = (_flipped(item, flip) for item in items[1:])
    center[1], center[2] = signed(center[1], flip), absolute(center[2])

    # the opposite face of O, by its midpoint and the halves e, f of its sides, counter-clockwise from above
    columns = [Vector3(*(row[j] for row in rows)) for j in range(3)]
    sides = [column * h for column, h in zip(columns, half_o, strict=True)]
    e, f, g = _turned(_first_of_most([absolute(column.z) for column in columns]), sides)
    g, f = (_flipped(side, g.z) for side in (g, f))
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


def _starts(middle: _Numbers, e: _Numbers, f: _Numbers, half: _Numbers) -> list[tuple[Scalar, Scalar, Scalar]]:
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


def _first_of_most(values: Scalars) -> tuple[Scalar, Scalar]:
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
