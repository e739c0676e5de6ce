"""Flat drawings of mechanisms: every shape becomes a few filled outlines in orthographic projection, the nearest on top.

The drawings are vector graphics for print and GIF, and need no display.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..model import WORLD, Box, Capsule, Cylinder, Geometry, Mechanism, Polygon, Shape, Sphere
from ..model.shapes.hulls import planar_hull
from .stick_shapes import drawn_shapes

_CIRCLE = np.linspace(0.0, 2.0 * np.pi, 33)[:-1]
_CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
#: The direction of the light, in the view's axes (right, up, towards the eye).
_LIGHT = np.array([-0.45, 0.75, 0.5]) / np.linalg.norm([-0.45, 0.75, 0.5])


def broadside(points: np.ndarray) -> float:
    """The azimuth of the eye for points (n, 3) [rad]: slightly oblique to the vertical plane that they mostly lie along.

    Points without a main direction are viewed from the front right.
    """
    flat = points[:, :2] - points[:, :2].mean(axis=0)
    spread, directions = np.linalg.eigh(flat.T @ flat)
    if spread[0] >= 0.1 * spread[1]:
        return float(np.deg2rad(-52.0))
    along = np.arctan2(directions[1, 1], directions[0, 1])
    across = (along + np.pi / 2.0) % np.pi - np.pi  # of the two sides, the one with the eye at negative y
    return float(across + np.deg2rad(25.0))


@dataclass(frozen=True, eq=False)
class View:
    """An orthographic view."""

    axes: np.ndarray  # rows right, up, towards the eye, (3, 3), in the world
    plane: bool = False  # whether it is perpendicular to the plane of the motion

    @classmethod
    def along(cls, axis: int) -> View:
        """The view along a world axis: x-z seen from −y, y-z from +x, x-y from +z."""
        rows = {0: [[0, 1, 0], [0, 0, 1], [1, 0, 0]], 1: [[1, 0, 0], [0, 0, 1], [0, -1, 0]], 2: np.eye(3)}[axis]
        return cls(np.array(rows, dtype=float), plane=True)

    @classmethod
    def from_angles(cls, azimuth: float, elevation: float) -> View:
        """The view from a direction [rad]: azimuth of the eye about z from x, elevation above the ground."""
        sa, ca, se, ce = np.sin(azimuth), np.cos(azimuth), np.sin(elevation), np.cos(elevation)
        return cls(np.array([[-sa, ca, 0.0], [-se * ca, -se * sa, ce], [ce * ca, ce * sa, se]]))

    @classmethod
    def of_motion(cls, poses: np.ndarray) -> View:
        """The view perpendicular to a planar motion (x-z, y-z or x-y), X_WB (n, bodies, 4, 4), else from above at a corner."""
        origins, turns = poses[..., :3, 3], poses[..., :3, :3]
        size = float(np.ptp(origins.reshape(-1, 3), axis=0).max())
        own = float(np.ptp(origins[0], axis=0).max())  # without the motion of the whole mechanism
        for axis in (1, 0, 2):
            shift = np.abs(origins[..., axis] - origins[:1, :, axis]).max()
            # rotations since the first frame must leave the axis unchanged, and the bodies lie in one layer
            tilt = np.abs(np.einsum("kbij,bj->kbi", turns, turns[0, :, axis, :]) - np.eye(3)[axis]).max()
            if shift <= 1e-6 * size and tilt < 1e-6 and np.ptp(origins[..., axis]) <= 0.1 * own + 1e-6 * size:
                return cls.along(axis)
        return cls.from_angles(broadside(origins.reshape(-1, 3)), np.deg2rad(20.0))


class Outline(NamedTuple):
    """A filled polygon in the view."""

    points: np.ndarray  # (k, 2) [m]
    depth: float  # towards the eye [m]
    tone: float  # −1…1, dark to light, of its colour
    body: int  # the index of the body it belongs to (−1: the world)
    color: tuple[float, float, float] | None  # that the model gives


class Silhouettes:
    """The outlines of a mechanism in any posture, under one view."""

    def __init__(self, mechanism: Mechanism, view: View):
        shapes = drawn_shapes(mechanism)
        self.view = view
        self.name = mechanism.name
        self._items = [(index, item) for index, body in enumerate(mechanism.bodies) for item in shapes[body.name]]
        self._items += [(-1, item) for item in shapes[WORLD]]
        self._places = [np.array(item.pose.matrix(), dtype=float) for _, item in self._items]

    def outlines(self, poses: np.ndarray) -> list[Outline]:
        """The outlines in one posture, X_WB (bodies, 4, 4), the furthest first."""
        places = zip(self._items, self._places, strict=True)
        return self._drawn((body, item, poses[body] @ place if body >= 0 else place) for (body, item), place in places)

    def still(self, shapes: Sequence[Geometry]) -> list[Outline]:
        """The outlines of shapes fixed in the world, the furthest first."""
        return self._drawn((-1, item, np.array(item.pose.matrix(), dtype=float)) for item in shapes)

    def _drawn(self, items: Iterable[tuple[int, Geometry, np.ndarray]]) -> list[Outline]:
        """The outlines of shapes with their bodies and their poses in the world, the furthest first."""
        found = []
        for body, item, X in items:
            turn, origin = self.view.axes @ X[:3, :3], self.view.axes @ X[:3, 3]
            color = None if item.color is None else item.color[:3]
            found += [Outline(part, depth, tone, body, color) for part, depth, tone in _parts(item, turn, origin)]
        return sorted(found, key=lambda outline: outline.depth)

    def box(self, poses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The corners (2,), (2,) [m] of the bounding box of one posture in the view."""
        points = np.concatenate([outline.points for outline in self.outlines(poses)] or [np.zeros((1, 2))])
        return points.min(axis=0), points.max(axis=0)


#: Points (k, 2), depth and tone of a part of a drawing.
_Part = tuple[np.ndarray, float, float]
#: Depth offset of details on a shape, which are drawn right after it [m].
_NEARER = 1e-6


def _parts(item: Geometry, turn: np.ndarray, origin: np.ndarray) -> list[_Part]:
    """The outlines of a shape, whose frame stands at `origin` with axes `turn` in the view.

    Shapes drawn with shading are in `_SHADED`; others are flat, and unbounded ones have no outline.
    """
    if item.shape.endless:
        return []
    return _SHADED.get(type(item.shape), _flat)(item.shape, turn, origin)


def _flat(shape: Shape, turn: np.ndarray, origin: np.ndarray) -> list[_Part]:
    points, radius = shape.support()
    seen = origin + points @ turn.T
    rim = seen[:, :2] if radius == 0.0 else np.concatenate([_disc(point, radius) for point in seen])
    return [(rim[planar_hull(rim)], origin[2], 0.12)]


def _of_sphere(shape: Sphere, turn: np.ndarray, origin: np.ndarray) -> list[_Part]:
    return [(_disc(origin, shape.radius), origin[2] + shape.radius, 0.12)]


def _of_capsule(shape: Capsule, turn: np.ndarray, origin: np.ndarray) -> list[_Part]:
    ((rim, depth, _),) = _flat(shape, turn, origin)
    return [(rim, depth, _shade(turn[:, 2]))]


def _of_cylinder(shape: Cylinder, turn: np.ndarray, origin: np.ndarray) -> list[_Part]:
    axis, half = turn[:, 2], 0.5 * shape.length
    rim = shape.radius * (np.outer(np.cos(_CIRCLE), turn[:, 0]) + np.outer(np.sin(_CIRCLE), turn[:, 1]))
    ends = (origin + half * axis + rim, origin - half * axis + rim)
    rim = np.concatenate(ends)[:, :2]
    side = (rim[planar_hull(rim)], origin[2] + half * abs(axis[2]), _shade(axis))
    facing = 0 if axis[2] >= 0.0 else 1
    cap = (ends[facing][:, :2], side[1] + _NEARER, _tone(axis if facing == 0 else -axis))
    return [side, cap] if abs(axis[2]) > 0.02 else [side]


def _of_box(shape: Box, turn: np.ndarray, origin: np.ndarray) -> list[_Part]:
    corners = origin + (_CORNERS * shape.size) @ turn.T
    parts = []
    for k in range(3):
        sign = 1.0 if turn[2, k] > 0.0 else -1.0
        face = corners[_CORNERS[:, k] * sign > 0.0][[0, 1, 3, 2]]
        if abs(turn[2, k]) > 0.02:
            parts.append((face[:, :2], origin[2] + k * _NEARER, _tone(sign * turn[:, k])))
    return parts


def _of_polygon(shape: Polygon, turn: np.ndarray, origin: np.ndarray) -> list[_Part]:
    points, axis = origin + shape.support()[0] @ turn.T, turn[:, 2]
    return [(points[:, :2], origin[2], _tone(axis if axis[2] >= 0.0 else -axis))]  # a line where seen from the side


_SHADED: dict[type[Shape], Callable[[Any, np.ndarray, np.ndarray], list[_Part]]] = {
    Sphere: _of_sphere, Capsule: _of_capsule, Cylinder: _of_cylinder, Box: _of_box, Polygon: _of_polygon,
}  # fmt: skip


def _disc(center: np.ndarray, radius: float) -> np.ndarray:
    return center[:2] + radius * np.column_stack([np.cos(_CIRCLE), np.sin(_CIRCLE)])


def _tone(normal: np.ndarray) -> float:
    """The tone of a face: light if it faces the light."""
    return float(0.34 * (normal @ _LIGHT) - 0.04)


def _shade(axis: np.ndarray) -> float:
    """The tone of a round side: that of its part facing the eye."""
    normal = np.array([0.0, 0.0, 1.0]) - axis[2] * axis
    length = float(np.linalg.norm(normal))
    return _tone(normal / length) if length > 1e-9 else 0.0
