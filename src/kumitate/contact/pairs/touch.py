"""A contact point of a pair of shapes, and the points of the pieces that shapes have: balls, planes, corners."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from ...scalar import Scalar, Scalars, either, maximum, minimum, select, sqrt
from ...spatial import Transform, Vector3

#: The gap of a slot that holds no point now [m].
FAR = 1e6

#: Centers closer than this have no direction from one to the other [m].
_TOGETHER = 1e-12
#: A point this close to a surface counts as inside, where the nearest face gives the direction [m].
_INSIDE = 1e-12


@dataclass(frozen=True)
class Touch:
    """One possible contact point of a shape A with a shape B, in the axes and from the origin of the world W.

    Attributes:
        point: midway between the two surfaces along the normal [m].
        normal: the unit vector from B towards A, along which B pushes A.
        gap: the distance of the surfaces along the normal [m]; negative where they overlap, `FAR` where the slot holds no
            point now. An empty slot still has a unit normal and a point near the shapes, within a few times their size:
            contact models compute the velocity of every slot, and one of 1e12 m/s would spoil the others by rounding.
    """

    point: Vector3
    normal: Vector3
    gap: Scalar

    @property
    def numbers(self) -> list[Scalar]:
        """Its point, normal and gap."""
        return [*self.point, *self.normal, self.gap]

    @property
    def on_b(self) -> Touch:
        """The same with its point on B's surface; the point of a distant slot hardly moves."""
        return Touch(self.point - self.normal * (0.5 * minimum(self.gap, 1.0)), self.normal, self.gap)

    def flipped(self) -> Touch:
        """The same point, as one of B with A."""
        return Touch(self.point, -self.normal, self.gap)

    def closed_within(self, distance: Scalar) -> Touch:
        """The touch without a gap if its gap is at most `distance`, an empty slot otherwise; unchanged if that is negative."""
        return Touch(self.point, self.normal, select(distance < 0.0, self.gap, select(self.gap <= distance, 0.0, FAR)))

    def only_if(self, condition: Scalar) -> Touch:
        """The touch where the condition holds, an empty slot elsewhere."""
        return Touch(self.point, self.normal, select(condition, self.gap, FAR))


def between_balls(p_WA: Vector3, radius_a: Scalar, p_WB: Vector3, radius_b: Scalar, otherwise_W: Vector3) -> Touch:
    """A ball about one point against a ball about another, centers and radii in [m]; the normal, if the centers coincide."""
    apart = p_WA - p_WB
    square = apart.dot(apart)
    together = square < _TOGETHER * _TOGETHER
    distance = sqrt(square)
    scale = 1.0 / select(together, 1.0, distance)
    normal = Vector3(*(select(together, other, x * scale) for other, x in zip(otherwise_W, apart, strict=True)))
    gap = distance - (radius_a + radius_b)
    return Touch(p_WB + normal * (radius_b + 0.5 * gap), normal, gap)


def over_plane(center: Vector3, radius: Scalar, normal: Vector3, level: Scalar) -> Touch:
    """A ball over a plane; `level`: of the plane along its normal [m]."""
    height = normal.dot(center) - level
    return Touch(center - normal * (0.5 * (height + radius)), normal, height - radius)


def outside_corner(offsets: Scalars) -> tuple[Scalar, list[Scalar]]:
    """The signed distance to the set where all offsets are ≤ 0, and the unit vector away from it.

    Offsets are how far the point lies beyond each face, along mutually perpendicular directions [m]; of the vector, the
    components along these. Inside, the distance is minus the depth below the nearest face.
    """
    beyond = [maximum(offset, 0.0) for offset in offsets]
    square = sum((part * part for part in beyond[1:]), beyond[0] * beyond[0])
    outside = square > _INSIDE * _INSIDE
    length = sqrt(square)
    scale = 1.0 / select(outside, length, 1.0)
    nearest = reduce(maximum, offsets)
    away, taken = [], False
    for offset, part in zip(offsets, beyond, strict=True):
        here = offset >= nearest
        face = select(taken, 0.0, select(here, 1.0, 0.0))  # the first of equally near faces
        taken = either(taken, here)
        away.append(select(outside, part * scale, face))
    return select(outside, length, minimum(nearest, 0.0)), away


def axes_of(X_WS: Transform) -> tuple[Vector3, Vector3, Vector3]:
    """The three axes of a shape's frame S in the world: the columns of R_WS."""
    x, y, z = (X_WS.rotation.rotate(Vector3.unit(axis)) for axis in range(3))
    return x, y, z


def signed(magnitude: Scalar, like: Scalar) -> Scalar:
    """`magnitude`, negated where `like` is negative."""
    return select(like < 0.0, -magnitude, magnitude)
