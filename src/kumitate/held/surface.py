"""Surfaces C(r) = 0 on which points are held: functions of plain arithmetic, with their derivatives (N eq. 1, 12, 13)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..model.values import POSITIVE, SMALLEST, checked_number, checked_numbers
from ..scalar import Program, Scalar, TraceError, directional, gradient, inlined, trace
from ..spatial import Vector3

#: C of a position r = (x, y, z) in the world [m]; zero on the surface, positive on the side that the normal points to.
GapFunction = Callable[[Any], Any]


@dataclass(frozen=True)
class PlaneSurface:
    """The plane through a point with this normal (of any length) [m]; by default the floor z = 0.

    >>> PlaneSurface()([0.3, 0.0, 0.25])
    0.25
    """

    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    through: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        _check_direction("PlaneSurface", "normal", self.normal)
        _check_point("PlaneSurface", "through", self.through)

    def __call__(self, r: Sequence[Scalar]) -> Scalar:
        """The distance from the plane [m]."""
        length = _length(self.normal)
        return sum((n / length * (x - p) for n, x, p in zip(self.normal, r, self.through, strict=True)), 0.0)


@dataclass(frozen=True)
class SphereSurface:
    """The sphere with this radius about a center [m].

    >>> SphereSurface(2.0)([0.0, 3.0, 0.0])
    1.25
    """

    radius: float
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        _check_radius("SphereSurface", self.radius)
        _check_point("SphereSurface", "center", self.center)

    def __call__(self, r: Sequence[Scalar]) -> Scalar:
        """(|r − c|² − R²)/2R [m]: approximately the distance near the surface, and smooth at the center."""
        d = Vector3.of([x - c for x, c in zip(r, self.center, strict=True)])
        return (d.dot(d) - self.radius**2) * (0.5 / self.radius)


@dataclass(frozen=True)
class CylinderSurface:
    """The infinite cylinder with this radius about the axis through a point [m]; the axis vector may have any length.

    >>> CylinderSurface(2.0)([0.0, 3.0, 7.0])
    1.25
    """

    radius: float
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    through: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        _check_radius("CylinderSurface", self.radius)
        _check_direction("CylinderSurface", "axis", self.axis)
        _check_point("CylinderSurface", "through", self.through)

    def __call__(self, r: Sequence[Scalar]) -> Scalar:
        """(ρ² − R²)/2R with the distance ρ from the axis [m]."""
        length = _length(self.axis)
        a = Vector3.of([x / length for x in self.axis])
        d = Vector3.of([x - p for x, p in zip(r, self.through, strict=True)])
        along = d.dot(a)
        return (d.dot(d) - along * along - self.radius**2) * (0.5 / self.radius)


@dataclass(frozen=True)
class SurfaceState:
    """The gap, normal and curvature term of a surface at a moving point."""

    gap: Scalar  # C/‖∂C/∂r‖ [m], the distance from the surface to first order
    normal: Vector3  # ∂C/∂r divided by its length
    bending: Scalar  # ṙᵀ (∂²C/∂r²) ṙ/‖∂C/∂r‖ [m/s²]: the first term of N eq. 23


class TracedSurface:
    """A surface's function and its derivatives as programs.

    Raises:
        InputError: if the function cannot be traced or differentiated; `where` names it in the message.
    """

    def __init__(self, surface: GapFunction, where: str):
        def value(r: Any) -> Scalar:
            return surface(np.array(list(r), dtype=object))

        try:
            self.value: Program = trace(value, {"r": 3}, "surface")
            self.slope: Program = gradient(self.value, "r")
        except (TraceError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise InputError(
                f"{where}: the surface {surface!r} cannot be traced ({error}); give a function C(r) of the position "
                "r = (x, y, z) that returns one number by plain operators and NumPy's elementary functions: lambda r: r[2]"
            ) from error
        if all(part.op == "const" and part.payload == 0.0 for part in self.slope.results):
            raise InputError(
                f"{where}: C(r) of the surface {surface!r} does not depend on r; it must change across the "
                "surface. Give a function that is zero on the surface only, such as lambda r: r[2]"
            )
        self.turning: Program = directional(self.slope)

    def at(self, r: Vector3, r_rate: Vector3) -> SurfaceState:
        """The state at the position r [m] in the world, moving with the velocity ṙ [m/s]."""
        (C,) = inlined(self.value, (list(r),))
        *slope, x, y, z = inlined(self.turning, (list(r), list(r_rate)))
        across = Vector3.of(slope)
        shrink = 1.0 / across.norm()
        return SurfaceState(C * shrink, across * shrink, Vector3(x, y, z).dot(r_rate) * shrink)


def _length(vector: Sequence[float]) -> float:
    return math.hypot(*vector)


def _check_direction(what: str, name: str, vector: Sequence[float]) -> None:
    if _length(checked_numbers(what, f"the {name}", vector, 3, error=InputError)) < SMALLEST:
        raise InputError(f"{what}: the {name} {vector!r} has no direction; give a vector that is not zero")


def _check_radius(what: str, radius: float) -> None:
    checked_number(what, "the radius [m]", radius, POSITIVE, error=InputError)


def _check_point(what: str, name: str, point: Sequence[float]) -> None:
    checked_numbers(what, f"the point {name!r} [m]", point, 3, error=InputError)
