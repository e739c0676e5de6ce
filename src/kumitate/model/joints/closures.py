"""Joints that only close loops: lines between two points, with springs and dampers or of fixed length; rolling without slip."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import ModelError
from ...scalar import Program, Scalar, Scalars, call, jacobian, maximum, select, sqrt
from ...spatial import Force, Motion, Transform, Vector3
from ..values import POSITIVE, Rule, checked_number
from .contract import Closing, Closure, basis_forces

#: Lengths [m] and rates [m/s] at which a function is tried before it is compiled.
_TRIALS = ((0.5, 0.25), (1.0, -0.5), (2.0, 1.0))


@dataclass(frozen=True)
class LineForce:
    """The pull of a line, as a program of (length, rate).

    Two are equal if their programs are the same, operation by operation: mechanisms with them may be compared, hashed, and
    found again in the stores of compiled programs.

    Attributes:
        listing: the program as text.
        program: from the length [m] and its rate [m/s] to the pull [N].
    """

    listing: str
    program: Program = field(repr=False, compare=False)

    @classmethod
    def of(cls, function: Callable[[Any, Any], Any]) -> LineForce:
        """The force of a function f(length, rate); a `ModelError` if it depends on more, or gives not one finite number."""
        from ...scalar.purity import judged  # inspects code: loaded where there is a function to inspect

        states = [(length, np.array([rate])) for length, rate in _TRIALS]
        if not callable(function):
            raise ModelError(
                f"a line's force is {function!r}; give a function f(length, rate) of metres and m/s that returns the pull in "
                "N, positive where it draws the ends together"
            )
        verdict = judged(lambda length, rate: np.array([function(length, rate[0])]), states, 1, ("length", "rate"))
        if verdict.program is None:
            raise ModelError(
                f"a line's force cannot be compiled: {verdict.reason}. Give a function f(length, rate) [m, m/s] that returns "
                "one number [N], from its arguments alone, by NumPy's or kumitate's functions"
            )
        return cls(str(verdict.program), verdict.program)

    def __call__(self, length: Scalar, rate: Scalar) -> Scalar:
        """The pull [N], for floats and symbols alike."""
        return call(self.program, length, rate)[0]  # type: ignore[no-any-return]

    def slopes(self, length: Scalar, rate: Scalar) -> tuple[Scalar, Scalar]:
        """Its derivatives by the length [N/m] and by the rate [N·s/m]."""
        by_length, by_rate = (call(slope, length, rate) for slope in self._slopes)
        return by_length["result_by_length"][0][0], by_rate["result_by_rate"][0][0]

    @cached_property
    def _slopes(self) -> tuple[Program, Program]:
        return jacobian(self.program, "length"), jacobian(self.program, "rate")


#: Squares of lengths below this count as zero [m²]; it is representable in single precision.
_NOTHING = 1e-36


@dataclass(frozen=True)
class Line(Closure):
    """From F's origin to M's; its one coordinate is their distance [m].

    A line of zero length has the direction of M's velocity, and none at rest. So the force of a damper is continuous through
    zero length, −d v, and zero at rest. A spring with zero rest length has the force −k p in all directions. Other springs,
    drives and armatures have no direction at zero length and rest: `analysis.loops` reports such states.

    Attributes:
        force: of a nonlinear spring or damper, in addition to the loop's stiffness, damping and friction: a function
            f(length, rate) of metres and m/s that gives its pull [N], positive where it draws the ends together. It may read
            nothing but its arguments and constants, and is compiled. Energy audits count its work as that of damping, as what
            it stores is not known. Files of robots cannot express it, and files of runs have its program as text alone.

    Raises:
        ModelError: if the force cannot be compiled.

    >>> import kumitate as km
    >>> km.Line(force=lambda length, rate: 40.0 * (length - 0.2) ** 3 + 2.0 * rate).pull([1.2], [0.5])
    [41.0]
    """

    name = "line"
    coordinates = velocities = ("length",)
    rows = 0
    force: LineForce | Callable[[Any, Any], Any] | None = None

    def __post_init__(self) -> None:
        if self.force is not None:
            force = self.force if isinstance(self.force, LineForce) else LineForce.of(self.force)
            object.__setattr__(self, "force", force)
            object.__setattr__(self, "name", "nonlinear line")  # which no format of files has, so that writers report it

    def pull(self, coordinates: Scalars, rates: Scalars) -> list[Scalar]:
        return [0.0] if self.force is None else [self.force(coordinates[0], rates[0])]

    def pull_slopes(self, coordinates: Scalars, rates: Scalars) -> list[tuple[Scalar, Scalar]]:
        return [self.force.slopes(coordinates[0], rates[0])] if isinstance(self.force, LineForce) else [(0.0, 0.0)]

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


_LENGTH = Rule(POSITIVE.words, "For points that coincide take a spherical joint", POSITIVE.holds)


@dataclass(frozen=True)
class Distance(Closure):
    """Keeps the origins of M and F at the distance `length` [m], which must be above zero (for zero, use a spherical joint)."""

    name = "distance"
    rows = 1
    length: float = 1.0

    def __post_init__(self) -> None:
        length = checked_number("distance", "the length [m]", self.length, _LENGTH)
        object.__setattr__(self, "length", length)

    def closing(self, X_FM: Transform, V_FM: Motion) -> Closing:
        p = X_FM.rotation.unrotate(X_FM.translation)
        far = sqrt(p.dot(p))
        along = p * (1.0 / far)
        v = V_FM.linear
        stretching = along.dot(v)
        # d²|p|/dt² = u·a + (v² − (u·v)²)/|p|, with a as an observer in F sees it; in M's axes it differs by ω × v
        swing = (stretching * stretching - v.dot(v)) / far - along.dot(V_FM.angular.cross(v))
        error = Motion(Vector3(), along * (far - self.length))
        return Closing(X_FM, V_FM, V_FM, Motion(Vector3(), along * swing), (Force(Vector3(), along),), (), (), (), error)


# --- rolling without slip -------------------------------------------------------------------------------------------------
# The point of contact of a disc or a sphere has the velocity of the plane.
# F is the plane: its z is the normal, on the side of the rolling body. M is the body's center; for a disc its z is the axle.
# Along the normal the constraint is one of positions, the height of the lowest point; along the plane it restricts velocities
# alone, and does not say where the body may get to (nonholonomic: E. J. Routh, Advanced Rigid Dynamics, chapter V; J. I.
# Neimark, N. A. Fufaev, Dynamics of Nonholonomic Systems, 1972). Its forces act at the point of contact r, which is at rest on
# the plane, and do no work. The body neither lifts off nor slides: compare the forces of the loop with the friction that is
# there.


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
