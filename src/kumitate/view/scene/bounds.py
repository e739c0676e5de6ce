"""Where a motion is: the box that it stays in, what the camera must keep in view, and from where it is seen best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...model import WORLD, Geometry, Mechanism, Mesh, Shape
from ...model.meshes import Facets
from ..outlines import broadside
from ..surfaces import unscaled

#: Directions along which a mesh's furthest vertices are found, (3, k): edges, corners and faces of a cube.
_DIRECTIONS = np.array([d for d in np.ndindex(3, 3, 3) if d != (1, 1, 1)], dtype=float).T - 1.0


def outlines(
    mechanism: Mechanism, shapes: Mapping[str, Sequence[Geometry]], surfaces: Mapping[Shape, Facets]
) -> list[list[tuple[np.ndarray, float]]]:
    """`_outline` of each shape of the bodies in their order, and of the world last."""
    names = [*(body.name for body in mechanism.bodies), WORLD]
    return [[_outline(item, surfaces) for item in shapes[name]] for name in names]


def _outline(item: Geometry, surfaces: Mapping[Shape, Facets]) -> tuple[np.ndarray, float]:
    """Points (k, 3) in the body's frame and a radius about them that together hold the shape, or nearly."""
    shape = item.shape
    if isinstance(shape, Mesh):
        vertices = surfaces[unscaled(shape)].vertices * np.asarray(shape.scale)
        corners, radius = vertices[np.unique((vertices @ _DIRECTIONS).argmax(axis=0))], 0.0
    elif shape.endless:  # an unbounded shape does not limit the camera
        corners, radius = np.zeros((1, 3)), 0.0
    elif shape in surfaces:
        corners, radius = surfaces[shape].vertices, 0.0
    else:
        corners, radius = shape.support()
    rows = np.asarray(item.pose.matrix(), dtype=float)
    return corners @ rows[:3, :3].T + rows[:3, 3], float(radius)


def bounds(
    frames: np.ndarray, outlines: Sequence[Sequence[tuple[np.ndarray, float]]], floor: float | None = None
) -> dict[str, Any]:
    """The bounding box of the motion, the mechanism's size, the ground's height, and the direction of view.

    `outlines` are of the bodies and, last, of the world; `floor`: the ground's height, if it is known.
    """
    origins = frames[:, :, :3, 3]
    low, high = [origins.min(axis=1)], [origins.max(axis=1)]
    reached = [origins.reshape(-1, 3)]
    centers = [origins.reshape(-1, 3)]
    still = np.broadcast_to(np.eye(4), (len(frames), 4, 4))
    for poses, items in zip([*frames.swapaxes(0, 1), still], outlines, strict=True):
        for points, radius in items:
            places = points @ poses[:, :3, :3].swapaxes(1, 2) + poses[:, None, :3, 3]
            low.append(places.min(axis=1) - radius)
            high.append(places.max(axis=1) + radius)
            reached.append(places.reshape(-1, 3))
            centers.append(places.mean(axis=1))
    lower, upper = np.min(low, axis=0), np.max(high, axis=0)
    extent_low, extent_high = lower.min(axis=0), upper.max(axis=0)
    size = float(np.median(np.linalg.norm(upper - lower, axis=1))) or 1.0
    if floor is None:  # at zero unless the mechanism hangs below it
        floor = 0.0 if extent_low[2] > -0.05 * size else float(extent_low[2]) - 0.05 * size
    view = _view_from(np.concatenate(centers), size)
    rim = _outermost(np.concatenate(reached))
    return {"extent": [extent_low.tolist(), extent_high.tolist()], "rim": rim, "size": size, "ground": floor, "view": view}


def _outermost(points: np.ndarray) -> list[list[float]]:
    """The points (of (n, 3)) that are furthest in one of many directions, which the camera must keep in view."""
    k = np.arange(64) + 0.5  # directions spread evenly over the sphere, on a spiral
    height, turn = 1.0 - k / 32.0, np.pi * (1.0 + 5.0**0.5) * k
    across = np.sqrt(1.0 - height**2)
    directions = np.column_stack([across * np.cos(turn), across * np.sin(turn), height])
    furthest = np.unique([int((points @ direction).argmax()) for direction in directions])
    return points[furthest].tolist()


def _view_from(centers: np.ndarray, size: float) -> list[float]:
    """The direction from the motion to the eye: nearly perpendicular to a planar motion, otherwise from a corner."""
    spread = np.ptp(centers, axis=0)
    thin = 0.02 * min(float(spread.max()), size)
    if spread[1] <= thin < spread[0]:
        return [0.32, -1.0, 0.22]
    if spread[0] <= thin < spread[1]:
        return [1.0, 0.32, 0.22]
    if spread[2] <= thin < max(spread[0], spread[1]):
        return [0.0, -0.55, 1.0]
    azimuth = broadside(centers)
    return [float(np.cos(azimuth)), float(np.sin(azimuth)), 0.4]
