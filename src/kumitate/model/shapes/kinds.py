"""The kinds of shapes: solids of few numbers, grounds, and surfaces of points."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...errors import ModelError
from ..values import LENGTH, POSITIVE, checked_number, checked_numbers, shown
from .contract import Facets, Shape, arc, checked_points, revolved

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
    lengths: ClassVar[tuple[str, ...]] = ("radius",)
    radius: float

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
    lengths: ClassVar[tuple[str, ...]] = ("radius", "length")
    radius: float
    length: float

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
    lengths: ClassVar[tuple[str, ...]] = ("radius", "length")
    radius: float
    length: float

    def facets(self) -> Facets:
        half = 0.5 * self.length
        ends = arc(self.radius, -half, -math.pi / 2.0, 0.0, 8), arc(self.radius, half, 0.0, math.pi / 2.0, 8)
        return revolved([*ends[0], *ends[1]])

    def support(self) -> tuple[np.ndarray, float]:
        return np.array([[0.0, 0.0, -0.5 * self.length], [0.0, 0.0, 0.5 * self.length]]), self.radius


# --- grounds --------------------------------------------------------------------------------------------------------------
#: Half the side of the piece that is drawn [m], and its depth below the plane, so that drawings on the plane are visible.
_PATCH, _BELOW = 2.0, 0.001


@dataclass(frozen=True)
class Plane(Shape):
    """The half space z ≤ 0 of its own frame: an unbounded floor with the outward normal z.

    >>> from kumitate import Contact, Geometry, Surface
    >>> Contact(ground=(Geometry(Plane()),), surface=Surface(friction=0.5)).ground[0].shape
    Plane()
    """

    kind: ClassVar[str] = "plane"
    endless: ClassVar[bool] = True

    def facets(self) -> Facets:
        corners = [(x * _PATCH, y * _PATCH, -_BELOW) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        return Facets(np.array(corners), np.array([[0, 1, 2], [0, 2, 3]]))

    def support(self) -> tuple[np.ndarray, float]:
        return np.zeros((1, 3)), math.inf


@dataclass(frozen=True)
class Polygon(Shape):
    """A flat convex facet in the plane z = 0 of its frame, solid on the side of −z, for floors and stairs.

    Attributes:
        vertices: (x, y) of three or more corners [m], counter-clockwise as seen from +z.
        depth: the largest depth below its face at which a point is in contact [m]; deeper points pass below.

    Raises:
        ModelError: if the corners are fewer than three, not convex, not counter-clockwise or not finite.

    >>> Polygon(((0, 0), (2, 0), (2, 1), (0, 1))).bounding_radius >= 1.25**0.5
    True
    """

    kind: ClassVar[str] = "polygon"
    vertices: tuple[tuple[float, float], ...]
    depth: float = 0.1

    def __post_init__(self) -> None:
        corners = checked_points("a polygon", self.vertices, 2)
        object.__setattr__(self, "vertices", corners)
        if len(corners) < 3:
            raise ModelError(f"a polygon has the corners {corners}; it needs three or more. List them counter-clockwise")
        object.__setattr__(self, "depth", checked_number("a polygon", "the depth [m]", self.depth, POSITIVE))
        turned = 0.0
        for k, (bx, by) in enumerate(corners):
            (ax, ay), (cx, cy) = corners[k - 1], corners[(k + 1) % len(corners)]
            bend = math.atan2((bx - ax) * (cy - by) - (by - ay) * (cx - bx), (bx - ax) * (cx - bx) + (by - ay) * (cy - by))
            turned += bend
            if bend < -1e-9 or (bx, by) == (ax, ay):
                raise ModelError(
                    f"a polygon turns to the right, or not at all, at its corner {k} {bx, by}; list the corners of a convex "
                    "polygon counter-clockwise, each once, and cut others into convex ones"
                )
        if not abs(turned - 2.0 * math.pi) < 1e-6:
            raise ModelError(
                f"a polygon with {len(corners)} corners goes {turned / (2.0 * math.pi):.3g} times round; once is right"
            )

    @property
    def bounding_radius(self) -> float:
        return math.inf  # it is open below, and contact evaluates it at any distance

    def facets(self) -> Facets:
        corners = np.array([(*corner, 0.0) for corner in self.vertices])
        return Facets(corners, np.array([[0, k, k + 1] for k in range(1, len(corners) - 1)]))


@dataclass(frozen=True)
class HeightField(Shape):
    """Ground whose heights are given on a grid, with two triangles between four neighbors; solid below.

    Attributes:
        heights: z of the grid's points [m], a row per y, in the order of x; two rows and two columns at least.
        size: the lengths of the grid along x and y [m], centered on its frame.

    Raises:
        ModelError: if the rows are fewer than two, or not equally long, or numbers are not finite.

    >>> HeightField([[0.0, 0.0], [0.0, 0.5]], (2.0, 2.0)).facets().vertices.tolist()[-1]
    [1.0, 1.0, 0.5]
    """

    kind: ClassVar[str] = "height_field"
    heights: tuple[tuple[float, ...], ...] = field(repr=False)  # thousands of numbers
    size: tuple[float, float]

    def __post_init__(self) -> None:
        rows = tuple(self.heights) if isinstance(self.heights, Iterable) else ()
        width = len(rows[0]) if rows and hasattr(rows[0], "__len__") else 0
        if len(rows) < 2 or width < 2:
            raise ModelError(
                f"a height field has {len(rows)} rows of {width} heights; it needs two or more of each. Give a list of rows"
            )
        object.__setattr__(self, "heights", checked_points("a height field", rows, width))
        object.__setattr__(self, "size", checked_numbers("a height field", "the size [m]", self.size, 2, POSITIVE))

    @cached_property
    def _grid(self) -> np.ndarray:
        return np.array(self.heights)

    def points(self) -> np.ndarray:
        """The points (ny · nx, 3) of the grid, row by row [m]."""
        z = self._grid
        y, x = (np.linspace(-0.5 * length, 0.5 * length, count) for length, count in zip(self.size[::-1], z.shape, strict=True))
        return np.stack([*np.meshgrid(x, y), z], axis=-1).reshape(-1, 3)

    def height(self, x: Any, y: Any) -> np.ndarray:
        """The height of the ground at places (…) in its frame [m], on its triangles; beyond the grid, that at its edge.

        >>> float(HeightField([[0.0, 0.0], [0.0, 0.5]], (2.0, 2.0)).height(0.5, 0.0))
        0.25
        """
        z = self._grid
        u, w = (
            np.clip((np.asarray(place) / length + 0.5) * (count - 1), 0.0, count - 1.0)
            for place, length, count in zip((x, y), self.size, z.shape[::-1], strict=True)
        )
        i, k = (np.minimum(part.astype(int), count - 2) for part, count in ((u, z.shape[1]), (w, z.shape[0])))
        u, w = u - i, w - k
        near, far, ahead, aside = z[k, i], z[k + 1, i + 1], z[k, i + 1], z[k + 1, i]
        # two triangles of a cell, on either side of its diagonal from `near` to `far`
        return np.where(u >= w, near + u * (ahead - near) + w * (far - ahead), near + w * (aside - near) + u * (far - aside))

    def facets(self) -> Facets:
        rows, columns = len(self.heights), len(self.heights[0])
        first = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
        cells = [(first, first + 1, first + columns + 1), (first, first + columns + 1, first + columns)]
        return Facets(self.points(), np.stack([np.stack(cell, axis=1) for cell in cells], axis=1).reshape(-1, 3))


# --- surfaces of points ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Mesh(Shape):
    """A mesh file, scaled along its axes. `path` is that in the model file; `resolved`: where it was found, or None.

    >>> Mesh("package://arm/link.dae", scale=(0.001, 0.001, 0.001)).resolved is None
    True
    """

    kind: ClassVar[str] = "mesh"
    path: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    resolved: str | None = None

    def __post_init__(self) -> None:
        for name, what in (("path", "path"), ("resolved", "path at which it was found")):
            value = getattr(self, name)
            if not (isinstance(value, str) or (value is None and name == "resolved")):
                raise ModelError(f"a mesh: the {what} is {shown(value)}; it must be a text. Give the path of a mesh file")
        object.__setattr__(self, "scale", checked_numbers(f"mesh {shown(self.path)}", "the scale", self.scale, 3))

    @property
    def bounding_radius(self) -> float:
        return math.inf  # the file is not read for this; contact uses hulls of meshes

    def facets(self) -> Facets:
        from .mesh_files import mesh_surface

        return mesh_surface(self.path, self.resolved).scaled(self.scale)


@dataclass(frozen=True)
class Hull(Shape):
    """The convex hull of some points in its frame; it replaces a mesh for contact.

    `model.meshes.touching_hull` makes one from a mesh file. Points on one line, or a single one, touch others but are not
    drawn.

    Attributes:
        vertices: (x, y, z) of its points [m], one or more.

    >>> Hull(((0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1))).bounding_radius
    0.1
    """

    kind: ClassVar[str] = "hull"
    vertices: tuple[tuple[float, float, float], ...]

    def __post_init__(self) -> None:
        points = checked_points("a hull", self.vertices, 3)
        object.__setattr__(self, "vertices", points)
        if not points:
            raise ModelError("a hull has no vertices; it needs one or more. Give points (x, y, z)")

    @property
    def bounding_radius(self) -> float:
        return max(math.hypot(*vertex) for vertex in self.vertices)

    @property
    def has_surface(self) -> bool:
        from .hulls import on_one_line

        return not on_one_line(np.array(self.vertices))

    def facets(self) -> Facets:
        from .hulls import convex_hull

        return convex_hull(Facets(np.array(self.vertices), np.zeros((0, 3))), "a hull")

    def support(self) -> tuple[np.ndarray, float]:
        return np.array(self.vertices), 0.0
