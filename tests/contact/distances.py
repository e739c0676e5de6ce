"""Distances of shapes by other means than the package's: formulas of points, convex hulls, least squares."""

from __future__ import annotations

import itertools

import numpy as np

from kumitate.model import Box, Capsule, Cylinder, Ellipsoid, Hull, Plane, Polygon, Sphere
from kumitate.spatial import DenseRotation, Matrix3, Transform, Vector3

__all__ = ["core", "hull_distance", "numeric_pose", "random_rotations", "signed_distance", "support"]


def random_rotations(rng: np.random.Generator, n: int) -> np.ndarray:
    """(n, 3, 3), uniform: from unit quaternions."""
    w, x, y, z = (q := rng.normal(size=(4, n))) / np.linalg.norm(q, axis=0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def numeric_pose(X) -> Transform:
    """Of twelve scalars: the rotation by rows, then the position."""
    rows = [[X[3 * i + j] for j in range(3)] for i in range(3)]
    return Transform(DenseRotation(Matrix3.of(rows)), Vector3(X[9], X[10], X[11]))


def signed_distance(shape, p: np.ndarray) -> float:
    """Of a point in the shape's frame from its surface, negative inside."""
    match shape:
        case Sphere(radius):
            return float(np.linalg.norm(p)) - radius
        case Capsule(radius, length):
            return float(np.linalg.norm(p - [0, 0, np.clip(p[2], -length / 2, length / 2)])) - radius
        case Cylinder(radius, length):
            return _corner(np.array([np.hypot(p[0], p[1]) - radius, abs(p[2]) - length / 2]))
        case Ellipsoid(halves):  # to first order, which is exact on the surface
            near, far = np.linalg.norm(p / halves), np.linalg.norm(p / np.square(halves))
            return float(near * (near - 1.0) / far)
        case Box(size):
            return _corner(np.abs(p) - np.array(size) / 2)
        case Plane() | Polygon():
            return float(p[2])
        case Hull(vertices):
            return hull_distance(np.array(vertices) - p)
    raise TypeError(shape)


def _corner(beyond: np.ndarray) -> float:
    return float(np.linalg.norm(np.maximum(beyond, 0.0)) + min(beyond.max(), 0.0))


def core(shape) -> tuple[np.ndarray, float]:
    """Points (n, 3) whose convex hull, thickened by a radius, is the shape."""
    match shape:
        case Sphere(radius):
            return np.zeros((1, 3)), radius
        case Capsule(radius, length):
            return np.array([[0, 0, -length / 2], [0, 0, length / 2]]), radius
        case Box(size):
            return np.array(list(itertools.product(*((-edge / 2, edge / 2) for edge in size)))), 0.0
        case Hull(vertices):
            return np.array(vertices), 0.0
    raise TypeError(shape)


def hull_distance(points: np.ndarray) -> float:
    """Of the origin from the convex hull of points (n, 3), negative the depth inside."""
    from scipy.optimize import nnls
    from scipy.spatial import ConvexHull, QhullError

    try:
        offsets = ConvexHull(points).equations[:, 3]  # n·x + offset ≤ 0 inside
        if offsets.max() <= 0.0:
            return float(offsets.max())
    except (QhullError, ValueError):
        pass  # flat: there is no inside
    # min ‖Σ λ p‖ with Σ λ = 1, λ ≥ 0 (Lawson and Hanson, chapter 23)
    heavy = 1e3
    weights, _ = nnls(np.vstack([points.T, heavy * np.ones(len(points))]), np.array([0, 0, 0, heavy]), maxiter=1000)
    return float(np.linalg.norm(points.T @ (weights / weights.sum())))


def support(shape, direction: np.ndarray) -> float:
    """max d·p over the points p of the shape, for a direction in its frame."""
    if isinstance(shape, Cylinder):
        return shape.radius * float(np.hypot(direction[0], direction[1])) + shape.length / 2 * abs(float(direction[2]))
    if isinstance(shape, Ellipsoid):
        return float(np.linalg.norm(np.multiply(shape.half_axes, direction)))
    points, radius = core(shape)
    return float((points @ direction).max()) + radius * float(np.linalg.norm(direction))
