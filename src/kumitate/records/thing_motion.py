"""The motion of one thing of a world: its part of a state, or of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import UnknownNameError
from ..model.mechanism import nearest
from ..model.things import SEPARATOR, Thing


class ThingMotion:
    """A robot or an object at one time, or along a run of n times.

    Attributes:
        name: of it; bodies: the names of its bodies.
        q, v: its own coordinates (..., nq) and velocities (..., nv).
        a, tau: its own accelerations and efforts at joints (..., nv), along runs.

    >>> import kumitate as km
    >>> world = km.World()
    >>> ball = world.add(km.ball(0.1, mass=1.0), at=(0.0, 0.0, 2.0), name="ball")
    >>> world.simulation().start()["ball"].position.tolist()
    [0.0, 0.0, 2.0]
    """

    def __init__(
        self, thing: Thing, q: np.ndarray, v: np.ndarray, pose: Callable[[str], np.ndarray], a: Any = None, tau: Any = None
    ):  # fmt: skip
        """From the arrays of all; `pose`: that of a body by name (..., 4, 4)."""
        self.name, self.bodies, self._pose = thing.name, thing.bodies, pose
        self.q, self.v = q[..., thing.q], v[..., thing.v]
        self.a, self.tau = (None if part is None else part[..., thing.v] for part in (a, tau))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, nq={self.q.shape[-1]}, nv={self.v.shape[-1]})"

    def pose(self, body: str = "") -> np.ndarray:
        """The pose in the world (..., 4, 4) of its first body, or of one by name, with or without that of the thing.

        Raises:
            UnknownNameError: if it has no such body.
        """
        whole = body if body in self.bodies else f"{self.name}{SEPARATOR}{body}" if body else self.bodies[0]
        if whole not in self.bodies:
            raise UnknownNameError(f"{self.name}: there is no body {body!r}; {nearest(body, self.bodies)}")
        return self._pose(whole)

    @property
    def position(self) -> np.ndarray:
        """Of its first body's origin in the world (..., 3) [m]."""
        return np.asarray(self.pose()[..., :3, 3])
