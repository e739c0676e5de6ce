"""Solids of few numbers: the box, the sphere, the ellipsoid, the cylinder and the capsule."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..values import LENGTH, checked_numbers
from .contract import Facets, Shape, arc, revolved

_CORNERS = np.stack(np.meshgrid(*[(-0.5, 0.5)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
#: Two triangles for each of the sides −x, +x, −y, +y, −z, +z.
_FACES = [
    (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
    (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
]  # fmt: skip


@dataclass(frozen=True)
class Box(Shape):
    """A box with the edge lengths `size` = (x, y, z) [m].

    >>> from kumitate import Body, Geometry
    >>> Body("table", 3.0, inertia=(0.1, 0.1, 0.1), collisions=(Geometry(Box((1.0, 0.6, 0.05))),)).collisions[0].shape.size
    (1.0, 0.6, 0.05)
    """

    kind: ClassVar[str] = "box"
    size: tuple[float, float, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", checked_numbers("a box", "the size [m]", self.size, 3, LENGTH))

    @property
    def bounding_radius(self) -> float:
        return 0.5 * math.hypot(*self.size)

    def facets(self) -> Facets:
        return Facets(_CORNERS * self.size, np.array(_FACES))


@dataclass(frozen=True)
class Sphere(Shape):
    """A sphere [m].

    >>> Sphere(0.1).bounding_radius
    0.1
    """

    kind: ClassVar[str] = "sphere"
    radius: float

    def __post_init__(self) -> None:
        self._check_lengths("radius")

    @property
    def bounding_radius(self) -> float:
        return self.radius

    def facets(self) -> Facets:
        return revolved(arc(self.radius, 0.0, -math.pi / 2.0, math.pi / 2.0, 16))

    def support(self) -> tuple[np.ndarray, float]:
        return np.zeros((1, 3)), self.radius


@dataclass(frozen=True)
class Ellipsoid(Shape):
    """An ellipsoid with the half axes `half_axes` along x, y, z [m].

    >>> Ellipsoid((0.1, 0.3, 0.2)).bounding_radius
    0.3
    """

    kind: ClassVar[str] = "ellipsoid"
    half_axes: tuple[float, float, float]

    def __post_init__(self) -> None:
        halves = checked_numbers("an ellipsoid", "the half_axes [m]", self.half_axes, 3, LENGTH)
        object.__setattr__(self, "half_axes", halves)

    @property
    def bounding_radius(self) -> float:
        return max(self.half_axes)

    def facets(self) -> Facets:
        return Sphere(1.0).facets().scaled(self.half_axes)


@dataclass(frozen=True)
class Cylinder(Shape):
    """A cylinder along its z axis [m].

    >>> Cylinder(radius=0.3, length=0.8).bounding_radius
    0.5
    """

    kind: ClassVar[str] = "cylinder"
    radius: float
    length: float

    def __post_init__(self) -> None:
        self._check_lengths("radius", "length")

    @property
    def bounding_radius(self) -> float:
        return math.hypot(self.radius, 0.5 * self.length)

    def facets(self) -> Facets:
        half = 0.5 * self.length
        return revolved([(0.0, -half), (self.radius, -half), (self.radius, half), (0.0, half)])

    def support(self) -> tuple[np.ndarray, float]:
        return np.array([[0.0, 0.0, -0.5 * self.length], [0.0, 0.0, 0.5 * self.length]]), self.radius


@dataclass(frozen=True)
class Capsule(Shape):
    """A cylinder along its z axis with half spheres on its ends; `length` is the cylinder's [m].

    >>> Capsule(0.125, 0.5).bounding_radius
    0.375
    """

    kind: ClassVar[str] = "capsule"
    radius: float
    length: float

    def __post_init__(self) -> None:
        self._check_lengths("radius", "length")

    @property
    def bounding_radius(self) -> float:
        return self.radius + 0.5 * self.length

    def facets(self) -> Facets:
        half = 0.5 * self.length
        ends = arc(self.radius, -half, -math.pi / 2.0, 0.0, 8), arc(self.radius, half, 0.0, math.pi / 2.0, 8)
        return revolved([*ends[0], *ends[1]])

    def support(self) -> tuple[np.ndarray, float]:
        return np.array([[0.0, 0.0, -0.5 * self.length], [0.0, 0.0, 0.5 * self.length]]), self.radius
