"""Distances between the bodies of a robot, and rays that meet them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model import Mechanism

if TYPE_CHECKING:
    from ..contact.queries import Hit, Nearest, ShapeTable


class Nearness(ABC):
    """What `Robot` finds with the collision shapes of its bodies. Meshes are replaced by convex hulls."""

    mechanism: Mechanism

    @abstractmethod
    def poses(self, q: Any) -> dict[str, np.ndarray]:
        """The poses (..., 4, 4) of all bodies, by name."""

    def distance(self, q: Any, a: str, b: str) -> Nearest:
        """The shortest way between two bodies, or shapes by their names ("shape" or "body/shape").

        Args:
            q: coordinates (..., nq).

        Returns:
            `distance` (...) [m], negative where they overlap: the shortest way apart of the two shapes that are deepest;
            `points` (..., 2, 3) [m] of a and of b, and the unit `normal` (..., 3) from a to b, in the world.

        Raises:
            InputError: for unknown names, bodies without shapes, and a shape with itself.
        """
        return self._shape_table.distance(self.poses(q), a, b)

    def ray(self, q: Any, origin: Any, direction: Any) -> Hit | None:
        """What a ray meets first: its body, shape, distance [m], point and outward normal; None if nothing.

        Args:
            q: coordinates (nq).
            origin: (3), in the world [m]. If it is inside of a shape, that is met at distance 0.
            direction: (3), of any length but zero, in the axes of the world.

        Raises:
            InputError: for a direction that is zero, and for a robot without shapes.
        """
        return self._shape_table.ray(self.poses(q), origin, direction)

    @cached_property
    def _shape_table(self) -> ShapeTable:
        from ..contact.queries import ShapeTable

        return ShapeTable(self.mechanism)
