"""Surfaces of triangles, and surfaces of revolution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

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
