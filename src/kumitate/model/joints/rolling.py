"""Rolling without slip of a disc or a sphere on a plane: the point of contact has the velocity of the plane.

F is the plane: its z is the normal, on the side of the rolling body. M is the body's center; for a disc its z is the axle.
Along the normal the constraint is one of positions, the height of the lowest point; along the plane it restricts velocities
alone, and does not say where the body may get to (nonholonomic: E. J. Routh, Advanced Rigid Dynamics, chapter V; J. I.
Neimark, N. A. Fufaev, Dynamics of Nonholonomic Systems, 1972). Its forces act at the point of contact r, which is at rest on
the plane, and do no work. The body neither lifts off nor slides: compare the forces of the loop with the friction that is
there.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from ...scalar import sqrt
from ...spatial import Force, Motion, Transform, Vector3
from ..values import POSITIVE, checked_number
from .contract import Closing, Closure


@dataclass(frozen=True)
class _Rolling(Closure):
    rows = 3
    velocity_rows = 2
    radius: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", checked_number(self.name, "the radius [m]", self.radius, POSITIVE))

    @abstractmethod
    def lowest(self, n: Vector3, rate: Vector3) -> tuple[Vector3, Vector3]:
        """The lowest point r for the normal n, and its rate for that of n; in M's axes, from its origin."""

    def closing(self, X_FM: Transform, V_FM: Motion) -> Closing:
        x, y, n = (X_FM.rotation.unrotate(Vector3.unit(axis)) for axis in range(3))
        omega = V_FM.angular
        r, moving = self.lowest(n, n.cross(omega))  # the plane turns by −ω in M's axes
        slip = V_FM.linear + omega.cross(r)
        # of T·V = e·(v + ω × r) for an axis e of the plane, with r′ = `moving` and e′ = e × ω: T′·V = e·(ω × (r′ + slip))
        bias = Motion(Vector3(), -omega.cross(moving + slip))
        constraint = tuple(Force(r.cross(e), e) for e in (n, x, y))
        error = Motion(Vector3(), n * (X_FM.translation.z + n.dot(r)))
        opening = Motion(Vector3(), slip)
        return Closing(X_FM, V_FM, V_FM, bias, constraint, (), (), (), error, opening=opening)


@dataclass(frozen=True)
class RollingDisc(_Rolling):
    """A thin disc of this `radius` [m] rolls on its edge on the plane z = 0 of frame F; its axle is z of frame M at its center.

    It may lean and steer, and has no equations where it lies flat.
    """

    name = "rolling_disc"

    def lowest(self, n: Vector3, rate: Vector3) -> tuple[Vector3, Vector3]:
        size = sqrt(n.x * n.x + n.y * n.y)  # the sine of the angle between axle and normal
        up = Vector3(n.x, n.y) * (1.0 / size)
        turning = Vector3(rate.x, rate.y)
        return up * -self.radius, (turning - up * up.dot(turning)) * (-self.radius / size)


@dataclass(frozen=True)
class RollingSphere(_Rolling):
    """A sphere of this `radius` [m] about the origin of frame M rolls on the plane z = 0 of frame F.

    It may spin about the normal.
    """

    name = "rolling_sphere"

    def lowest(self, n: Vector3, rate: Vector3) -> tuple[Vector3, Vector3]:
        return n * -self.radius, rate * -self.radius
