"""The line between two points, for springs and dampers: it has a length and no constraints."""

from __future__ import annotations

from dataclasses import dataclass

from ...scalar import maximum, select, sqrt
from ...spatial import Force, Motion, Transform, Vector3
from .closure import Closing, Closure
from .contract import basis_forces

__all__ = ["Line"]

#: Squares of lengths below this count as zero [m²]; it is representable in single precision.
_NOTHING = 1e-36


@dataclass(frozen=True)
class Line(Closure):
    """From F's origin to M's; its one coordinate is their distance [m].

    A line of zero length has the direction of M's velocity, and none at rest. So the force of a damper is continuous through
    zero length, −d v, and zero at rest. A spring with zero rest length has the force −k p in all directions. Other springs,
    drives and armatures have no direction at zero length and rest: `analysis.loops` reports such states.
    """

    name = "line"
    coordinates = velocities = ("length",)

    @property
    def rows(self) -> int:
        return 0

    @property
    def nv(self) -> int:
        return 1

    @property
    def nq(self) -> int:
        return 1

    def closing(self, X_FM: Transform, V_FM: Motion) -> Closing:
        p = X_FM.rotation.unrotate(X_FM.translation)
        v = V_FM.linear
        shrunk = p.dot(p) < _NOTHING
        towards = Vector3(*(select(shrunk, b, a) for a, b in zip(p, v, strict=True)))
        size = sqrt(maximum(towards.dot(towards), _NOTHING))
        along, length = towards * (1.0 / size), select(shrunk, 0.0, size)
        rate = along.dot(v)
        # as for a rod of fixed length: d²|p|/dt² = u·a + (v² − (u·v)²)/|p|, in M's rotating axes
        swing = select(shrunk, 0.0, (rate * rate - v.dot(v)) / size) - along.dot(V_FM.angular.cross(v))
        bias = Motion(Vector3(), along * swing)
        springs = tuple(zip(basis_forces((3, 4, 5)), p, strict=True))
        return Closing(X_FM, V_FM, V_FM, bias, (), (Force(Vector3(), along),), (length,), (rate,), Motion(), springs)
