"""A point of a body that stands on something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ...spatial import Vector3

#: Faces of the pyramid inside the friction cone.
FACES = 4


@dataclass(frozen=True)
class StandingPoint:
    """A point that stands: it does not accelerate, and is pushed within a friction cone.

    Attributes:
        body: name of the body or frame.
        point: in its frame [m].
        friction: coefficient of static friction.
        normal: of the surface, in the world, towards the body.
    """

    body: str
    point: Sequence[float] = (0.0, 0.0, 0.0)
    friction: float = 0.6
    normal: Sequence[float] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        if not (self.friction >= 0.0 and np.isfinite(self.friction)):
            raise InputError(f"the contact point of {self.body!r} has friction {self.friction}; give a number ≥ 0")
        if not np.linalg.norm(self.normal) > 0.0:
            raise InputError(f"the contact point of {self.body!r} has the normal {tuple(self.normal)}; give a direction")

    @property
    def offset(self) -> Vector3:
        """The point, in the frame of its body."""
        return Vector3.of([float(x) for x in self.point])

    def cone(self) -> np.ndarray:
        """Rows C (5, 3) of C f ≥ 0: forces within a pyramid inside the friction cone, and pressing."""
        n = np.asarray(self.normal, dtype=float) / np.linalg.norm(self.normal)
        first = np.cross(n, np.eye(3)[int(np.argmin(np.abs(n)))])
        first /= np.linalg.norm(first)
        across = [first, np.cross(n, first)]
        slope = self.friction / np.sqrt(2.0)  # the pyramid's edges lie on the cone
        return np.array([n, *(slope * n + sign * t for t in across for sign in (1.0, -1.0))])
