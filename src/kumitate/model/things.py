"""The things of a world: the robots and objects of one mechanism, told apart by the names of their bodies.

A body "arm/hand" is one of the thing "arm". A body at the world whose name has no such beginning is a thing of its own, with
all that it carries.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

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
    """The thing of this name.

    Raises:
        UnknownNameError: if there is none, with the closest one.
    """
    things = things_of(mechanism)
    if name not in things:
        raise UnknownNameError(f"{mechanism.name}: there is no robot or object {name!r}; {nearest(name, things)}")
    return things[name]
