"""Checks of a mechanism's inertias: poses need none, accelerations need inertia at every joint."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import ModelError
from ..scalar import Scalar, Scalars
from ..spatial import Inertia
from .mechanism import Mechanism
from .shapes import Geometry
from .tree.tree import WORLD_LINK, Link

# --- A mechanism some of whose numbers are symbols: what algorithms see of it while a program is traced -------------------
# It has the bodies, joints and places of the mechanism that it stands for. Its trees hold symbols where numbers vary; its
# bodies have no masses but those of `VariedBody.spatial_inertia`, so that nothing can read a number that another row does not
# have.


@dataclass(frozen=True)
class VariedBody:
    """A body whose inertia, in its frame, may hold symbols."""

    name: str
    inertia: Inertia
    visuals: tuple[Geometry, ...] = ()
    collisions: tuple[Geometry, ...] = ()

    def spatial_inertia(self) -> Inertia:
        """The body's inertia in its frame."""
        return self.inertia


class VariedMechanism(Mechanism):
    """A mechanism with symbols among its numbers; made by `of` and changed in place while a program is set up."""

    @classmethod
    def of(cls, mechanism: Mechanism) -> VariedMechanism:
        """A mechanism in which nothing varies yet."""
        made = object.__new__(cls)
        vars(made).update({field.name: getattr(mechanism, field.name) for field in fields(mechanism)})
        vars(made).update(tree=mechanism.tree, base_parameter_tree=mechanism.base_parameter_tree)
        vars(made)["bodies"] = tuple(
            VariedBody(body.name, body.spatial_inertia(), body.visuals, body.collisions) for body in mechanism.bodies
        )
        return made

    def vary_gravity(self, gravity: Scalars) -> None:
        """Another gravitational acceleration [m/s²]."""
        vars(self)["gravity"] = tuple(gravity)

    def vary_inertias(self, bodies: Sequence[Inertia], base: Sequence[Inertia], mass: Scalar) -> None:
        """Other inertias of bodies (in their frames) and of the base-parameter tree's links, and mass of what moves [kg]."""
        vars(self)["bodies"] = tuple(
            VariedBody(body.name, inertia, body.visuals, body.collisions)
            for body, inertia in zip(self.bodies, bodies, strict=True)
        )
        whole: dict[int, Inertia] = {}
        for body, inertia in zip(self.bodies, bodies, strict=True):
            place = self.tree.places[body.name]
            if place.link != WORLD_LINK:
                own = inertia.to_parent(place.pose)
                whole[place.link] = whole[place.link] + own if place.link in whole else own
        self._change("tree", [{"inertia": whole[link.index]} for link in self.tree.links], mass=mass)
        self._change("base_parameter_tree", [{"inertia": inertia} for inertia in base], mass=mass)

    def vary_joints(self, key: str, values: Scalars) -> None:
        """Other values of a property of joints, one for each degree of freedom: those of the tree, then those of loops."""
        for name in ("tree", "base_parameter_tree"):
            tree = getattr(self, name)
            changes = [{key: tuple(values[link.v_start : link.v_start + link.kind.nv])} for link in tree.links]
            at, chords = tree.nv, []
            for chord in tree.chords:
                chords.append(replace(chord, **{key: tuple(values[at : at + chord.closure.nv])}))
                at += chord.closure.nv
            self._change(name, changes, chords=tuple(chords))

    def vary_drives(self, key: str, values: Scalars) -> None:
        """Other values of a number of the drives that have it, in the order of `driven`."""
        given, joints = iter(values), []
        for joint in self.driven:
            drive = copy(joint.drive)
            if hasattr(drive, key):
                object.__setattr__(drive, key, next(given))  # a symbol, which its own checks would refuse
            joints.append(joint._replace(drive=drive))
        vars(self)["driven"] = tuple(joints)

    def _change(self, name: str, changes: Sequence[Mapping[str, Any]], **others: Any) -> None:
        """Changes the fields of the links of a tree, and others of its own."""
        tree = getattr(self, name)
        links = (replace(link, **change) for link, change in zip(tree.links, changes, strict=True))
        vars(self)[name] = replace(tree, links=tuple(links), **others)


# --- inertias of a mechanism ----------------------------------------------------------------------------------------------
#: Inertias [kg·m² or kg] up to this count as zero: their reciprocals are close to the largest numbers.
_LEAST = 1e-200


def check_freedom(mechanism: Mechanism, purpose: str) -> None:
    """Refuses, by a `ModelError`, a mechanism in which nothing can move, for a purpose such as "linearize"."""
    if mechanism.nv == 0:
        raise ModelError(
            f"{mechanism.source or mechanism.name}: all joints are fixed, so that there is nothing to {purpose}; free a joint, "
            "or let the base float (floating_base=True, --floating-base)"
        )


def check_inertias(mechanism: Mechanism) -> None:
    """Refuses a mechanism with inertias that its reader had to replace, by a `ModelError` with the first of its faults."""
    if mechanism.faults:
        more = len(mechanism.faults) - 1
        others = f" (and {more} more; `kumitate check` tells all)" if more else ""
        raise ModelError(f"{mechanism.faults[0]}{others}")


def check_resistance(mechanism: Mechanism, given: Collection[str] = ()) -> None:
    """Refuses, by a `ModelError`, a mechanism whose accelerations are not determined by the forces.

    Every joint must move something with inertia: massless bodies, or a thin rod about its own axis, have no equation of motion.
    Those of which the motion is `given`, by their names, need none. There must be bodies, as of `check_inertias`.
    """
    if isinstance(mechanism, VariedMechanism):
        return  # symbols have no size: what they stand for is checked where it is given
    name = mechanism.source or mechanism.name
    if not mechanism.bodies:
        raise ModelError(f"{name}: the mechanism has no bodies, so that there is nothing to move; add links to it")
    check_inertias(mechanism)
    idle = [name for name in _idle(mechanism) if name not in given]
    if idle:
        more = f"; so do {len(idle) - 1} more ({', '.join(idle[1:4])}{', …' * (len(idle) > 4)})" if idle[1:] else ""
        otherwise = _elsewhere(mechanism) or ";"
        raise ModelError(
            f"{name}: joint {idle[0]!r} moves only bodies without mass, or without inertia about its axis, so that its "
            f"acceleration is not determined{otherwise} give them some, give the joint an armature, or make it fixed (`lock`, "
            f"--lock on the command line){more}"
        )


def _elsewhere(mechanism: Mechanism) -> str:
    """A remedy if a joint has no inertia only because of the choice of the tree: where to cut a loop instead, in words."""
    from .edits import recut, recuts  # imported here, because edits import this module

    for loop, joint in recuts(mechanism):
        try:
            other = recut(mechanism, loop, joint)
        except ModelError:  # it cannot be cut there
            continue
        if not _idle(other):
            heavy = mechanism.joint(joint).child
            return (
                f" by the tree alone. Only loop {loop!r} ties them to mass: carry {heavy!r} by it, and cut the loop at joint "
                f"{joint!r}, as kumitate.model.recut(mechanism, {loop!r}, {joint!r}) does. Or else"
            )
    return ""


@lru_cache(maxsize=64)
def _idle(mechanism: Mechanism) -> list[str]:
    """The joints that move nothing with inertia, in the tree's order; all simulations and compiled functions ask for them."""
    tree = mechanism.tree
    idle: list[str] = []
    heavy: set[int] = set()
    for link in reversed(tree.links):
        own = link.inertia.mass > 0.0 or any(abs(x) > 0.0 for row in link.inertia.rotational for x in row)
        carries = any(child.index in heavy for child in tree.children(link.index))
        if own or carries:
            heavy.add(link.index)
        if not carries and not _resists(link):
            idle.insert(0, link.name)
    return idle


def _resists(link: Link) -> bool:
    """Whether the link's own inertia, or its joint's, resists every motion of the joint, at a random configuration."""
    subspace = link.kind.subspace(link.kind.random(np.random.default_rng(0)))
    alone = (abs(S.dot(link.inertia.times(S))) > _LEAST for S in subspace)
    return all(felt or armature != 0.0 for felt, armature in zip(alone, link.armature, strict=True))
