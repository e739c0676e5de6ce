"""Shapes: their contract, their surfaces, and where they are on a body. A new shape is a class in `kinds`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from ...errors import ModelError
from ...spatial import Transform
from ..values import FRACTION, LENGTH, NOT_NEGATIVE, checked_name, checked_number, checked_numbers, checked_pose, shown

#: Sides of a full turn.
_SIDES = 32


@dataclass(frozen=True, eq=False)
class Facets:
    """A surface of triangles. The arrays are read-only.

    Attributes:
        vertices: (n, 3) [m].
        faces: (m, 3) int32, indices of vertices, counter-clockwise as seen from outside.
        colors: (m, 3) uint8, red, green and blue of each face (sRGB); None if the file has none.
    """

    vertices: np.ndarray
    faces: np.ndarray
    colors: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name, kind in (("vertices", np.float64), ("faces", np.int32), ("colors", np.uint8)):
            if getattr(self, name) is not None:
                array = np.array(getattr(self, name), dtype=kind).reshape(-1, 3)
                array.setflags(write=False)
                object.__setattr__(self, name, array)

    def scaled(self, scale: Sequence[float]) -> Facets:
        """The surface scaled along its axes; negative factors mirror it, and normals still point outward.

        >>> Facets([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]).scaled((-2, 1, 1)).faces.tolist()
        [[0, 2, 1]]
        """
        if tuple(scale) == (1.0, 1.0, 1.0):
            return self
        faces = self.faces[:, [0, 2, 1]] if np.prod(scale) < 0.0 else self.faces
        return Facets(self.vertices * np.asarray(scale, dtype=float), faces, self.colors)


def revolved(profile: Sequence[tuple[float, float]]) -> Facets:
    """The surface that a profile of points (distance from the z axis, z) [m] sweeps about the z axis, rising along z.

    >>> cone = revolved([(0.0, 0.0), (1.0, 0.0), (0.0, 2.0)])
    >>> cone.vertices.shape, cone.faces.shape
    ((34, 3), (64, 3))
    """
    turn = np.linspace(0.0, 2.0 * np.pi, _SIDES, endpoint=False)
    on_axis = 1e-12 * max(radius for radius, _ in profile)
    vertices: list[list[float]] = []
    rings: list[np.ndarray] = []  # of every point of the profile, the indices of its vertices, one for each side
    for radius, z in profile:
        start, count = len(vertices), _SIDES if radius > on_axis else 1
        vertices += [[radius * np.cos(angle), radius * np.sin(angle), z] for angle in turn[:count]]
        rings.append(start + np.arange(_SIDES) % count)
    faces: list[tuple[int, int, int]] = []
    for below, above in pairwise(rings):
        for a, b, c, d in zip(below, np.roll(below, -1), np.roll(above, -1), above, strict=True):
            faces += [face for face in ((a, b, c), (a, c, d)) if len(set(face)) == 3]
    return Facets(np.array(vertices), np.array(faces))


def arc(radius: float, center: float, start: float, end: float, pieces: int) -> list[tuple[float, float]]:
    """Points of a profile for `revolved`: of a circle about (0, center), from one angle above the plane to another [rad]."""
    angles = np.linspace(start, end, pieces + 1)
    return [(radius * float(np.cos(angle)), center + radius * float(np.sin(angle))) for angle in angles]


class Shape(ABC):
    """A solid for drawing and contact. Lengths in metres, centered on its own frame.

    A shape is a frozen dataclass of numbers, texts and lists of them, which are its entries in kumitate's JSON. This contract
    is enough for files, pages and figures; for contact with other shapes, `contact.pairs.PAIRS` needs a routine.

    Attributes:
        kind: its name in files and messages, and its key in `SHAPES`.
        endless: whether it is unbounded, as the half space z ≤ 0 of its frame, so that only a piece can be drawn.
        lengths: those of its fields that are lengths.
    """

    kind: ClassVar[str]
    endless: ClassVar[bool] = False
    lengths: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name in self.lengths:
            object.__setattr__(self, name, checked_number(f"a {self.kind}", f"the {name} [m]", getattr(self, name), LENGTH))

    @property
    def bounding_radius(self) -> float:
        """The largest distance of its points from its frame's origin [m]; infinite if not known or not bounded."""
        points, radius = self.support()
        return float(np.linalg.norm(points, axis=1).max()) + radius

    @property
    def has_surface(self) -> bool:
        """Whether there is a surface to draw: points and lines touch others, but have none."""
        return True

    @abstractmethod
    def facets(self) -> Facets:
        """Its surface as triangles, in its frame; round sides as prisms of a few dozen faces, unbounded shapes as a piece.

        Raises:
            InputError: if it cannot be made, with the reason.
        """

    def support(self) -> tuple[np.ndarray, float]:
        """Points (k, 3) and a radius: the convex hull of balls about these points contains the shape [m]."""
        return self.facets().vertices, 0.0


def checked_points(owner: str, vertices: Any, size: int) -> tuple[tuple[float, ...], ...]:
    """Points of `size` coordinates each, as tuples of numbers."""
    try:
        rows = tuple(vertices)
    except TypeError:
        raise ModelError(f"{owner}: the vertices are {shown(vertices)}; they must be a list of points. Give one") from None
    return tuple(checked_numbers(owner, f"vertex {k} [m]", row, size) for k, row in enumerate(rows))


@dataclass(frozen=True)
class Geometry:
    """A shape on a body: `pose` in the body's frame; `color`: red, green, blue, opacity in 0…1 (None: the viewer's choice).

    `friction`: the coefficient of its own surface [1], as in MJCF files (None: it has none). Of two shapes that touch, the
    larger one holds, unless the contact says otherwise (`kumitate.Contact.surface`).

    >>> from kumitate import Cylinder, pose
    >>> Geometry(Cylinder(0.02, 1.0), pose((0, 0, 0.5)), color=(0.8, 0.1, 0.1, 1.0)).shape.length
    1.0
    """

    shape: Shape
    pose: Transform = field(default_factory=Transform)
    color: tuple[float, float, float, float] | None = None
    name: str = ""
    friction: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.shape, Shape):
            raise ModelError(f"a geometry: the shape is {shown(self.shape)}; it must be a Box, a Sphere or the like. Make one")
        owner = f"a {self.shape.kind}"
        checked_name(owner, self.name)
        object.__setattr__(self, "pose", checked_pose(owner, "the pose", self.pose))
        if self.color is not None:
            rgba = checked_numbers(owner, "the color (red, green, blue, opacity)", self.color, 4, FRACTION)
            object.__setattr__(self, "color", rgba)
        if self.friction is not None:
            object.__setattr__(self, "friction", checked_number(owner, "the friction", self.friction, NOT_NEGATIVE))
