"""Distances between the shapes of a mechanism, and rays against them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError, did_you_mean
from ..model import Hull, Mechanism, Shape
from .mesh_hulls import touchable
from .pairs.rows import pose_row, solids_of, surface_rows
from .pairs.rows.nearest import OnBody, first_hit, least_gaps

#: The most vertices of a hull that replaces a mesh.
_VERTICES = 128


class Nearest(NamedTuple):
    """The shortest way between two bodies or shapes; arrays have the leading axes of q.

    Attributes:
        distance: () [m]; negative: how far one has to move along the normal until they touch.
        points: (2, 3), the closest point of the first and that of the second, in the world [m].
        normal: (3), of unit length, from the first to the second, in the axes of the world.
    """

    distance: Any
    points: np.ndarray
    normal: np.ndarray


class Hit(NamedTuple):
    """What a ray meets first.

    Attributes:
        body, shape: the names of the body and of its shape ("" if it has none).
        distance: from the origin of the ray [m]; 0 if that is inside.
        point: (3), in the world [m].
        normal: (3), of unit length, out of the shape, in the axes of the world.
    """

    body: str
    shape: str
    distance: float
    point: np.ndarray
    normal: np.ndarray


class _Shape(NamedTuple):
    """A solid on a body; of a height field, one triangle."""

    body: str
    name: str
    row: int
    mount: np.ndarray


class ShapeTable:
    """The collision shapes of a mechanism as solids; meshes are replaced by their hulls."""

    def __init__(self, mechanism: Mechanism):
        self.mechanism = mechanism
        shapes: list[Shape] = []
        names: list[str] = []
        listed: list[_Shape] = []
        for body in mechanism.bodies:
            owner = f"{mechanism.name}: {body.name!r}"
            for k, item in enumerate(touchable(owner, body.collisions, _VERTICES)):
                listed.append(_Shape(body.name, item.name, len(shapes), pose_row(item.pose)))
                shapes.append(item.shape)
                names.append(f"{owner}: {item.name or f'shape {k}'}")
        self.point = len(shapes)
        self._sides: dict[str, tuple[str, OnBody]] = {}  # by name, the body and its shapes of that name
        self.solids = solids_of([*shapes, Hull(((0.0, 0.0, 0.0),))], names)
        self.shapes = [shape._replace(row=row) for shape in listed for row in surface_rows(self.solids, shape.row)]
        self.bodies = {body.name: k for k, body in enumerate(mechanism.bodies)}

    def named(self, name: str) -> list[_Shape]:
        """The shapes of a body, or the shape with that name.

        Raises:
            InputError: if there are none, or if several bodies have a shape of that name.
        """
        of_body = [shape for shape in self.shapes if shape.body == name]
        if of_body:
            return of_body
        found = [shape for shape in self.shapes if name and name in (shape.name, f"{shape.body}/{shape.name}")]
        if len({shape.body for shape in found}) == 1:
            return found
        title, known = self.mechanism.name, sorted({shape.body for shape in self.shapes})
        if found:
            owners = ", ".join(dict.fromkeys(f"{shape.body}/{shape.name}" for shape in found))
            raise InputError(f"{title}: {name!r} is the name of several shapes; write one of {owners}")
        if name in self.bodies:
            have = f"; bodies with shapes are {', '.join(known)}" if known else ""
            raise InputError(
                f"{title}: {name!r} has no collision shapes, so that nothing has a distance from it{have}. Give it some"
            )
        names = [*self.bodies, *(shape.name for shape in self.shapes if shape.name)]
        hint = did_you_mean(name, names, f"those with shapes are {', '.join(known) or 'none'}")
        raise InputError(f"{title}: {name!r} is not the name of a body or of a shape; {hint}")

    def _side(self, name: str) -> tuple[str, OnBody]:
        if name not in self._sides:
            found = self.named(name)
            self._sides[name] = found[0].body, _on_body(found)
        return self._sides[name]

    def body(self, name: str) -> str:
        """The body that a body's or a shape's name stands for; errors as of `distance`."""
        return self._side(name)[0]

    def distance(self, poses: Mapping[str, np.ndarray], a: str, b: str) -> Nearest:
        """The shortest way between two bodies or shapes, at the poses (..., 4, 4) of all bodies.

        Raises:
            InputError: for unknown names, bodies without shapes, and twice the same.
        """
        (one, first), (other, second) = self._side(a), self._side(b)
        if not set(first.rows.tolist()).isdisjoint(second.rows.tolist()):
            raise InputError(f"{self.mechanism.name}: the distance from {a!r} to {b!r} is from a shape to itself; name two")
        X, Y = _rows(poses[one]), _rows(poses[other])
        results = np.zeros((len(X), 10))
        least_gaps(self.solids, first, X, second, Y, results)
        axes = np.shape(poses[one])[:-2]
        gap, normal, points = results[:, 0], results[:, 1:4], results[:, 4:].reshape(-1, 2, 3)
        return Nearest(gap.reshape(axes)[()], points.reshape(*axes, 2, 3), normal.reshape(*axes, 3))

    def ray(self, poses: Mapping[str, np.ndarray], origin: Any, direction: Any) -> Hit | None:
        """What a ray meets first, at the poses (4, 4) of all bodies; None if nothing.

        Raises:
            InputError: for a direction that is zero, numbers that are not finite, and a mechanism without shapes.
        """
        start, along = (
            _vector(self.mechanism.name, what, value) for what, value in (("origin", origin), ("direction", direction))
        )
        length = float(np.linalg.norm(along))
        if not length > 0.0:
            raise InputError(
                f"{self.mechanism.name}: the direction of a ray is {along.tolist()}; it must not be zero. Give one"
            )
        if not self.shapes:
            raise InputError(
                f"{self.mechanism.name}: no body has a collision shape, so that rays meet nothing. Give bodies some"
            )
        if any(np.ndim(pose) != 2 for pose in poses.values()):
            raise InputError(
                f"{self.mechanism.name}: a ray meets one state, and q has more than one axis. Give one state after another"
            )
        result, stacked = np.zeros(5), np.concatenate([_rows(poses[shape.body]) for shape in self.shapes])
        first_hit(self.solids, self.point, _on_body(self.shapes), stacked, np.concatenate([start, along / length]), result)
        if result[0] < 0.0:
            return None
        shape, t = self.shapes[int(result[0])], float(result[1])
        return Hit(shape.body, shape.name, t, start + t / length * along, result[2:].copy())


def _on_body(shapes: Sequence[_Shape]) -> OnBody:
    return OnBody(np.array([shape.row for shape in shapes]), np.array([shape.mount for shape in shapes]))


def _rows(poses: np.ndarray) -> np.ndarray:
    """Poses (..., 4, 4) as rows of a rotation and a position."""
    flat = np.asarray(poses, dtype=float).reshape(-1, 4, 4)
    return np.concatenate([flat[:, :3, :3], flat[:, None, :3, 3]], axis=1)


def _vector(owner: str, what: str, value: Any) -> np.ndarray:
    try:
        found = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        found = np.full(1, np.nan)
    if found.shape != (3,) or not np.isfinite(found).all():
        raise InputError(f"{owner}: the {what} of a ray is {value!r}; it must be three finite numbers. Give x, y, z")
    return found
