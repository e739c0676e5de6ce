"""What every point of contact obeys, and other ways to the same numbers."""

from __future__ import annotations

import math

import numpy as np

from kumitate.contact.pairs.rows import Solid, points_for, solids_of, touching

from ..distances import core, hull_distance, random_rotations, signed_distance

__all__ = ["Pair", "distance_of", "random_pose", "turn_about"]


class Pair:
    """Two shapes that are made to touch."""

    def __init__(self, a, b) -> None:
        self.shapes = a, b
        self.solids = solids_of([a, b])
        self.out = points_for(1)

    def __call__(self, X, Y, margin=0.0, before=-1, order=(0, 1)) -> list[tuple[np.ndarray, np.ndarray, float, int]]:
        """(position, normal, gap, feature) of every point of A, whose pose is X (4, 3), with B, whose pose is Y."""
        poses = (X, Y) if order == (0, 1) else (Y, X)
        one, other = (Solid(self.solids, row, pose) for row, pose in zip(order, poses, strict=True))
        count = touching(one, other, margin, before, self.out, 0)
        out = self.out
        return [
            (out.positions[k].copy(), out.normals[k].copy(), float(out.gaps[k]), int(out.features[k])) for k in range(count)
        ]


def random_pose(rng: np.random.Generator, spread: float) -> np.ndarray:
    return np.vstack([random_rotations(rng, 1)[0], spread * rng.normal(size=3)])


def turn_about(axis: int, angle: float) -> np.ndarray:
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = math.cos(angle)
    R[j, i] = math.sin(angle)
    R[i, j] = -R[j, i]
    return R


def into(X: np.ndarray, p: np.ndarray) -> np.ndarray:
    return X[:3].T @ (p - X[3])


def outside(shape, X: np.ndarray, p: np.ndarray) -> float:
    """The distance of a point of the world from a shape; negative inside."""
    return signed_distance(shape, into(X, p))


def distance_of(a, X, b, Y) -> float:
    """Of two shapes of corners and balls, by the hull of all differences of corners; negative: the depth."""
    (p, r), (o, s) = core(a), core(b)
    R, S = X[:3], Y[:3]
    difference = (o @ S.T + Y[3])[:, None] - (p @ R.T + X[3])[None]
    return hull_distance(difference.reshape(-1, 3)) - r - s
