"""The line between two points, for springs and dampers: it has a length and no constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...scalar import Scalar, maximum, select, sqrt
from ...spatial import Force, Motion, Transform, Vector3
from .closure import Closing, Closure
from .contract import basis_forces
from .line_force import LineForce

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
    force: LineForce | Callable[[Any, Any], Any] | None = None

    def __post_init__(self) -> None:
        if self.force is not None:
            force = self.force if isinstance(self.force, LineForce) else LineForce.of(self.force)
            object.__setattr__(self, "force", force)
            object.__setattr__(self, "name", "nonlinear line")  # which no format of files has, so that writers report it

    @property
    def rows(self) -> int:
        return 0

    @property
    def nv(self) -> int:
        return 1

    @property
    def nq(self) -> int:
        return 1

    def pull(self, coordinates: Sequence[Scalar], rates: Sequence[Scalar]) -> list[Scalar]:
        return [0.0] if self.force is None else [self.force(coordinates[0], rates[0])]

    def pull_slopes(self, coordinates: Sequence[Scalar], rates: Sequence[Scalar]) -> list[tuple[Scalar, Scalar]]:
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
