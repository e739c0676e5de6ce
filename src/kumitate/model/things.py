"""The things of a world: the robots and objects of one mechanism, told apart by the names of their bodies.

A body "arm/hand" is one of the thing "arm". A body at the world whose name has no such beginning is a thing of its own, with
all that it carries.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..errors import UnknownNameError
from .bounds import joint_columns
from .mechanism import WORLD, Mechanism, nearest

#: Stands between the name of a thing and that of a part of it.
SEPARATOR = "/"


class Thing(NamedTuple):
    """A robot or an object.

    Attributes:
        name: of it; bodies: the names of its bodies, the first of which is at the world.
        q, v: where its coordinates and velocities stand in those of the mechanism.
    """

    name: str
    bodies: tuple[str, ...]
    q: slice
    v: slice


def belongs(body: str, name: str) -> bool:
    """Whether a body is the one of this name, or one of the thing of this name."""
    return body == name or body.startswith(f"{name}{SEPARATOR}")


def pushes(body: str, by: str) -> bool:
    """Whether a body is one of what is said to push, "" being anything."""
    return not by or belongs(body, by)


@lru_cache(64)
def things_of(mechanism: Mechanism) -> dict[str, Thing]:
    """The things of a mechanism by name, in the order of its joints."""
    owner: dict[str, str] = {}
    found: dict[str, Thing] = {}
    for joint, _, q, v in joint_columns(mechanism):  # parents before children
        root = joint.child.partition(SEPARATOR)[0] if joint.parent == WORLD else owner[joint.parent]
        owner[joint.child] = root
        known = found.get(root)
        if known is None:
            found[root] = Thing(root, (joint.child,), q, v)
        else:
            bodies = (*known.bodies, joint.child)
            found[root] = Thing(root, bodies, slice(known.q.start, q.stop), slice(known.v.start, v.stop))
    return found


def thing_named(mechanism: Mechanism, name: str) -> Thing:
    """The thing of this name; an `UnknownNameError` with the closest one if there is none."""
    things = things_of(mechanism)
    if name not in things:
        raise UnknownNameError(f"{mechanism.name}: there is no robot or object {name!r}; {nearest(name, things)}")
    return things[name]


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
