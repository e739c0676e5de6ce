"""The unknown parameters of an identification: which they are, their values in the model, and the model with others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InputError, did_you_mean
from ..model import Body, Joint, Mechanism
from ..model.tree.base_parameters import SIZE, inertia_shift, numbers_of

#: The ten numbers of a body, in its frame and about its origin.
NUMBERS = ("mass", "hx", "hy", "hz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
#: The properties of joints, in the order of the regressor's columns.
OF_JOINTS = ("armature", "damping", "friction")


@dataclass(frozen=True)
class Unknowns:
    """The unknown parameters, in this order: ten numbers for each body, then armatures, dampings, dry frictions.

    Attributes:
        mechanism: of the model.
        bodies: the indices of bodies of unknown inertia.
        dofs: for each of `OF_JOINTS`, the degrees of freedom where it is unknown.
        drives: the degrees of freedom of unknown drive constants.
    """

    mechanism: Mechanism
    bodies: tuple[int, ...]
    dofs: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
    drives: tuple[int, ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A name per parameter, such as "hand.mass" or "damping:elbow"."""
        m = self.mechanism
        of_bodies = [f"{m.bodies[k].name}.{number}" for k in self.bodies for number in NUMBERS]
        return (*of_bodies, *(f"{key}:{m.v_names[i]}" for key, own in zip(OF_JOINTS, self.dofs, strict=True) for i in own))

    @property
    def inertial(self) -> int:
        """The number of those that belong to bodies."""
        return SIZE * len(self.bodies)

    @cached_property
    def values(self) -> np.ndarray:
        """The values in the model."""
        m = self.mechanism
        of_bodies = [float(x) for k in self.bodies for x in numbers_of(m.bodies[k].spatial_inertia())]
        given = [[x for joint in m.joints for x in getattr(joint, key)] for key in OF_JOINTS]
        return np.array(of_bodies + [values[i] for values, own in zip(given, self.dofs, strict=True) for i in own])

    @cached_property
    def columns(self) -> np.ndarray:
        """T (columns of the regressor, parameters): Y T is the regressor of the unknown parameters."""
        tree = self.mechanism.tree
        links = SIZE * len(tree.links)
        T = np.zeros((links + 3 * tree.nv, len(self.names)))
        for at, k in enumerate(self.bodies):
            place = tree.places[self.mechanism.bodies[k].name]
            T[SIZE * place.link : SIZE * (place.link + 1), SIZE * at : SIZE * (at + 1)] = inertia_shift(place.pose)
        rows = [links + part * tree.nv + i for part, own in enumerate(self.dofs) for i in own]
        T[rows, np.arange(self.inertial, len(self.names))] = 1.0
        return T

    def mechanism_with(self, values: np.ndarray) -> Mechanism:
        """The mechanism with these values of the unknown parameters."""
        m, bodies = self.mechanism, list(self.mechanism.bodies)
        for at, k in enumerate(self.bodies):
            bodies[k] = _body_with(bodies[k], values[SIZE * at : SIZE * (at + 1)])
        at, joints = self.inertial, list(m.joints)
        for key, own in zip(OF_JOINTS, self.dofs, strict=True):
            found = dict(zip(own, values[at : at + len(own)].tolist(), strict=True))
            joints = _with_property(joints, key, found)
            at += len(own)
        return replace(m, bodies=tuple(bodies), joints=tuple(joints), faults=())


def unknowns_of(mechanism: Mechanism, find: Sequence[str]) -> Unknowns:
    """The parameters of names "inertia:BODY", "armature:JOINT", "damping:…", "friction:…", "drive:…"; * stands for any part.

    With *, bodies without mass and joints of six degrees of freedom are left out: they are frames and free bases.

    Raises:
        InputError: for a name that nothing has.
    """
    tree, dofs = mechanism.tree, [joint for joint in mechanism.joints for _ in range(joint.kind.nv)]
    moving = [body for body in mechanism.bodies if tree.places[body.name].link >= 0]
    massive = [body.name for body in moving if body.mass > 0.0]
    driven = [joint.name for joint in dofs if joint.kind.nv < 6]
    bodies: set[str] = set()
    joints: dict[str, set[str]] = {key: set() for key in (*OF_JOINTS, "drive")}
    for name in [find] if isinstance(find, str) else find:
        key, _, pattern = name.partition(":")
        if key == "inertia":
            bodies |= _matching(name, pattern, massive, [body.name for body in moving])
        elif key in joints:
            joints[key] |= _matching(name, pattern, driven, [joint.name for joint in dofs])
        else:
            raise InputError(
                f"identify: there is no parameter {name!r}; there are inertia:BODY, {', '.join(f'{k}:JOINT' for k in joints)}. "
                "* stands for any part of a name"
            )
    own = [tuple(i for i, joint in enumerate(dofs) if joint.name in joints[key]) for key in joints]
    chosen = tuple(k for k, body in enumerate(mechanism.bodies) if body.name in bodies)
    return Unknowns(mechanism, chosen, (own[0], own[1], own[2]), own[3])


def _matching(name: str, pattern: str, usual: Sequence[str], known: Sequence[str]) -> set[str]:
    if pattern in known:
        return {pattern}
    found = {one for one in usual if fnmatchcase(one, pattern)}
    if not found and not ("*" in pattern and not usual):
        hint = did_you_mean(pattern, known, f"there are {', '.join(dict.fromkeys(known))}")
        raise InputError(f"identify: {name!r} names nothing that moves; {hint}")
    return found


def _body_with(body: Body, numbers: np.ndarray) -> Body:
    """The body with these ten numbers."""
    mass, h = float(numbers[0]), numbers[1:4]
    c = h / mass if mass > 0.0 else np.zeros(3)
    xx, yy, zz, xy, xz, yz = numbers[4:]
    about_origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    central = about_origin - mass * (c @ c * np.eye(3) - np.outer(c, c))
    return replace(body, mass=mass, center_of_mass=tuple(c.tolist()), inertia=tuple(map(tuple, central.tolist())))


def _with_property(joints: Sequence[Joint], key: str, found: dict[int, float]) -> list[Joint]:
    """The joints with these values of a property, by degree of freedom."""
    at, changed = 0, []
    for joint in joints:
        own = tuple(found.get(at + k, x) for k, x in enumerate(getattr(joint, key)))
        change: dict[str, Any] = {key: own}
        changed.append(replace(joint, **change) if own != getattr(joint, key) else joint)
        at += joint.kind.nv
    return changed
