"""The parts of a mechanism that only the world connects: free bodies, and robots with their loops and couplings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from ...model import Link, Mechanism, Tree


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
    """The numbers of the links that are free bodies: nothing resists their joints to the world, nor joins them to others."""
    tree = mechanism.tree
    joined = {link.parent for link in tree.links}
    joined |= {place.link for chord in tree.chords for place in (chord.base, chord.follower)}
    loose = [link for link in tree.links if _is_loose(link) and link.index not in joined]
    least = np.linalg.eigvalsh(central_inertias([link.inertia for link in loose])[1]).min(axis=1)
    return [link.index for link, moment in zip(loose, least.tolist(), strict=True) if moment > 0.0]


def robot_parts(mechanism: Mechanism) -> list[RobotPart]:
    """Everything else that moves: one robot for all links that joints, loops and couplings connect without the world."""
    free, found = set(free_links(mechanism)), dict[int, list[int]]()
    if len(free) == len(mechanism.tree.links):
        return []
    for link, root in enumerate(_connected(mechanism.tree)):
        if link not in free:
            found.setdefault(root, []).append(link)
    return [_part(mechanism, numbers) for numbers in found.values()]


def _connected(tree: Tree) -> list[int]:
    """For each link the first of all that joints, loops and couplings connect with it."""
    parent = list(range(len(tree.links)))

    def root(link: int) -> int:
        return link if parent[link] == link else root(parent[link])

    owner = {k: link.index for link in tree.links for k in link.velocities(range(tree.nv))}
    pairs = [(link.index, link.parent) for link in tree.links]
    pairs += [(chord.base.link, chord.follower.link) for chord in tree.chords]
    pairs += [(owner[k], owner[gear.v_ratios[0][0]]) for gear in tree.gears for k, _ in gear.v_ratios]
    for one, other in pairs:
        if one >= 0 and other >= 0:
            one, other = root(one), root(other)
            parent[max(one, other)] = min(one, other)
    return [root(link.index) for link in tree.links]


def _part(mechanism: Mechanism, numbers: list[int]) -> RobotPart:
    """The robot with these links; bodies that are fixed to the world come along if they carry it, or loops end on them."""
    tree, above = mechanism.tree, {joint.child: joint for joint in mechanism.joints}
    moved = {body.name for body in mechanism.bodies if tree.places[body.name].link in numbers}
    loops = tuple(loop for loop in mechanism.loops if not moved.isdisjoint((loop.body_a, loop.body_b)))
    names: set[str] = set()
    for name in moved.union(*((loop.body_a, loop.body_b) for loop in loops)):
        while name in above and name not in names:
            names.add(name)
            name = above[name].parent
    joints = tuple(joint for joint in mechanism.joints if joint.child in names)
    part = replace(
        mechanism,
        name=f"{mechanism.name}.{tree.links[numbers[0]].name}",
        bodies=tuple(body for body in mechanism.bodies if body.name in names),
        joints=joints,
        loops=loops,
        couplings=tuple(item for item in mechanism.couplings if item.joint in {joint.name for joint in joints}),
        starts=(),
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


def _is_loose(link: Link) -> bool:
    """Whether a link has mass, and nothing resists its joint to the world."""
    if link.kind.name != "floating" or link.parent >= 0 or not float(link.inertia.mass) > 0.0:
        return False
    return not any(map(float, chain(link.armature, link.damping, link.friction, link.stiffness)))


def central_inertias(inertias: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    """The centers of mass (n, 3) [m] and the inertias about them (n, 3, 3) [kg·m²]."""
    numbers = []
    for inertia in inertias:
        I = inertia.rotational
        numbers.append([inertia.mass, *inertia.first_moment, I.xx, I.xy, I.xz, I.xy, I.yy, I.yz, I.xz, I.yz, I.zz])
    rows = np.array(numbers, dtype=float).reshape(len(numbers), 13)
    mass, center = rows[:, :1, None], rows[:, 1:4] / rows[:, :1]
    across = center[:, :, None] * center[:, None, :]
    square = np.trace(across, axis1=1, axis2=2)[:, None, None]
    return center, rows[:, 4:].reshape(-1, 3, 3) - mass * (square * np.eye(3) - across)
