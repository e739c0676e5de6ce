"""Box against box: the separating axis, then either a face clipped to the other box's face, or two crossing edges."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

from ...model import Box
from ...scalar import Scalar, absolute, both, equal, maximum, select, sqrt
from ...spatial import Transform, Vector3, dot
from .facing import Oriented, face_touches
from .touch import FAR, Touch, axes_of, signed

__all__ = ["box_box"]

#: Edges are chosen over faces only if their separation is larger by this fraction of the shortest half edge: stacks use faces.
_FACES_FIRST = 0.02
#: A's face is chosen over B's only if its separation is larger by this fraction, so that the choice is stable in a stack.
_B_FIRST = 1e-4
#: sin² of the angle between edges below which they are parallel, and faces or corners suffice.
_PARALLEL = 1e-4


@dataclass(frozen=True)
class _Edges:
    """A pair of edges, by the numbers 0, 1, 2 of the axes of A and B along which they run."""

    apart: Scalar
    axis_a: Scalar
    axis_b: Scalar

    def or_else(self, other: _Edges) -> _Edges:
        """The pair with the larger separation."""
        mine = self.apart >= other.apart
        return _Edges(
            maximum(self.apart, other.apart),
            select(mine, self.axis_a, other.axis_a),
            select(mine, self.axis_b, other.axis_b),
        )


def box_box(a: Box, X_WA: Transform, b: Box, X_WB: Transform) -> list[Touch]:
    """Two boxes: up to eight points where a face of one meets a face of the other, or one where two edges cross.

    The direction of the largest separation, or least overlap, is found among the normals of their faces and the
    common perpendiculars of their edges (Gottschalk, Lin, Manocha, SIGGRAPH 1996).
    """
    box_a = Oriented(X_WA.translation, axes_of(X_WA), tuple(0.5 * edge for edge in a.size))
    box_b = Oriented(X_WB.translation, axes_of(X_WB), tuple(0.5 * edge for edge in b.size))
    C = [[mine.dot(other) for other in box_b.axes] for mine in box_a.axes]
    apart = box_a.center - box_b.center
    along_a, along_b = ([axis.dot(apart) for axis in box.axes] for box in (box_a, box_b))

    turned = [[absolute(x) for x in row] for row in C]
    faces_a = [
        absolute(along_a[i]) - box_a.half[i] - dot(turned[i], box_b.half) for i in range(3)
    ]  # the separation along each normal; negative: overlap
    faces_b = [absolute(along_b[j]) - box_b.half[j] - dot([row[j] for row in turned], box_a.half) for j in range(3)]
    edges = _furthest_edges(C, turned, along_a, box_a, box_b)

    shortest = min(*box_a.half, *box_b.half)
    most_a, most_b = reduce(maximum, faces_a), reduce(maximum, faces_b)
    by_a = most_a > most_b + _B_FIRST * shortest
    furthest = edges.apart > select(by_a, most_a, most_b) + _FACES_FIRST * shortest
    edge, on_both = _edge_touch(box_a, box_b, edges, apart, furthest)
    crossing = both(furthest, on_both)
    first, *others = face_touches(box_a, box_b, C, along_a, along_b, faces_a, faces_b, by_a)
    return [_either(crossing, edge, first), *(Touch(t.point, t.normal, select(crossing, FAR, t.gap)) for t in others)]


def _furthest_edges(C: Any, turned: Any, along_a: Any, a: Oriented, b: Oriented) -> _Edges:
    """The pair of edges whose common perpendicular separates the boxes most: a_i × b_j, in A's axes."""
    best = None
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
            found = _Edges(apart, float(i), float(j))
            best = found if best is None else best.or_else(found)
    assert best is not None
    return best


def _edge_touch(a: Oriented, b: Oriented, edges: _Edges, apart: Vector3, valid: Scalar) -> tuple[Touch, Scalar]:
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


def _corner(box: Oriented, chosen: Any, direction: Vector3) -> Vector3:
    """From the center to the midpoint of the edge along the chosen axis that is furthest in a direction."""
    corner = Vector3()
    for axis, half, skipped in zip(box.axes, box.half, chosen, strict=True):
        corner = corner + axis * signed(select(skipped, 0.0, half), axis.dot(direction))
    return corner


def _picked(which: Any, items: Any) -> Scalar:
    return select(which[0], items[0], select(which[1], items[1], items[2]))


def _either(condition: Scalar, yes: Touch, no: Touch) -> Touch:
    def of(a: Vector3, b: Vector3) -> Vector3:
        return Vector3(*(select(condition, x, y) for x, y in zip(a, b, strict=True)))

    return Touch(of(yes.point, no.point), of(yes.normal, no.normal), select(condition, yes.gap, no.gap))
