"""The parts of a mechanism that only the world connects: free bodies, and robots."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from ...model import Link, Mechanism

__all__ = ["RobotPart", "central_inertia", "free_links", "robot_parts"]


@dataclass(frozen=True)
class RobotPart:
    """A robot of a scene, as a mechanism of its own.

    Attributes:
        links: the numbers of its links among those of the scene, in its own order.
        q, v: where its coordinates and velocities stand in those of the scene.
    """

    mechanism: Mechanism
    links: tuple[int, ...]
    q: np.ndarray
    v: np.ndarray


def free_links(mechanism: Mechanism) -> list[int]:
    """The numbers of the links that are free bodies: nothing resists their joints to the world, and they carry no others."""
    links = mechanism.tree.links
    parents = {link.parent for link in links}
    return [link.index for link in links if link.index not in parents and _is_free(link)]


def robot_parts(mechanism: Mechanism) -> list[RobotPart]:
    """Everything else that moves: one robot for all links that joints connect to the same link at the world."""
    tree, free = mechanism.tree, set(free_links(mechanism))
    found: dict[int, list[int]] = {}
    for link in tree.links:
        if link.index not in free:
            found.setdefault(tree.ancestors(link.index)[-1].index, []).append(link.index)
    return [_part(mechanism, numbers) for numbers in found.values()]


def _part(mechanism: Mechanism, numbers: list[int]) -> RobotPart:
    """The robot with these links; bodies that are fixed to the world come along if they carry it."""
    tree, above = mechanism.tree, {joint.child: joint for joint in mechanism.joints}
    names = set()
    for body in mechanism.bodies:
        name = body.name
        if tree.places[name].link in numbers:
            while name in above and name not in names:
                names.add(name)
                name = above[name].parent
    part = replace(
        mechanism,
        name=f"{mechanism.name}.{tree.links[numbers[0]].name}",
        bodies=tuple(body for body in mechanism.bodies if body.name in names),
        joints=tuple(joint for joint in mechanism.joints if joint.child in names),
        frames=tuple(frame for frame in mechanism.frames if frame.body in names),
        no_contact=type(mechanism.no_contact)(pair for pair in mechanism.no_contact if names.issuperset(pair)),
    )
    ours = {link.name: link for link in tree.links}
    links = [ours[link.name] for link in part.tree.links]
    q, v = range(mechanism.nq), range(mechanism.nv)
    return RobotPart(
        part,
        tuple(link.index for link in links),
        np.array([k for link in links for k in link.coordinates(q)], dtype=np.int64),
        np.array([k for link in links for k in link.velocities(v)], dtype=np.int64),
    )


def _is_free(link: Link) -> bool:
    if link.kind.name != "floating" or link.parent >= 0:
        return False
    if any(float(part) != 0.0 for part in chain(link.armature, link.damping, link.friction, link.stiffness)):
        return False
    return bool(float(link.inertia.mass) > 0.0 and np.linalg.eigvalsh(central_inertia(link.inertia)[1]).min() > 0.0)


def central_inertia(inertia: Any) -> tuple[np.ndarray, np.ndarray]:
    """The center of mass [m] and the inertia about it [kg·m²]."""
    mass = float(inertia.mass)
    center = np.array([float(part) for part in inertia.first_moment]) / mass
    I = inertia.rotational
    about = np.array([[I.xx, I.xy, I.xz], [I.xy, I.yy, I.yz], [I.xz, I.yz, I.zz]], dtype=float)
    return center, about - mass * (center @ center * np.eye(3) - np.outer(center, center))
