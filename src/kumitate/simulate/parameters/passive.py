"""Damping, dry friction, springs and armatures of joints as parameters; the friction of what touches has the same name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ...model.values import MASS, NOT_NEGATIVE, Rule
from ...scalar import Scalar
from .contract import ModelKind, ModelNumbers, Raw, VariedPlant

#: Names of components that are lengths and their rates, and of those without a unit; all others are angles.
_LENGTHS = frozenset({"position", "x", "y", "z", "vx", "vy", "vz", "length"})
_QUATERNION = frozenset({"qx", "qy", "qz", "qw"})


def sort_of(component: str) -> str:
    """What a component of q or v of a joint is, by its name: an "angle", a "length", or "plain".

    >>> sort_of("vx"), sort_of("angle"), sort_of("qw")
    ('length', 'angle', 'plain')
    """
    return "length" if component in _LENGTHS else "plain" if component in _QUATERNION else "angle"


def _moving(plant: Any) -> list[Any]:
    """The joints of the tree, and those that close loops: with their degrees of freedom in the order of the numbers."""
    return [part for part in (*plant.mechanism.joints, *plant.mechanism.loops) if part.kind.nv]


class JointNumbers(ModelNumbers):
    """One property of joints: by its name (N, degrees of freedom of the tree, then of the loops)."""

    def __init__(self, key: str):
        self.key = key

    def raw(self, plant: Any) -> Raw:
        return {self.key: np.array([[x for part in _moving(plant) for x in getattr(part, self.key)]], dtype=float)}

    def numbers(self, plant: Any, raw: Raw) -> np.ndarray:
        return raw[self.key]

    def read(self, plant: Any, changed: Raw) -> np.ndarray:
        return np.asarray(changed[self.key][0])

    def vary(self, plant: Any, varied: VariedPlant, numbers: Sequence[Scalar]) -> None:
        varied.mechanism.vary_joints(self.key, numbers)

    def built(self, plant: Any, raw: Raw) -> Any:
        values = iter(raw[self.key][0].tolist())

        def with_own(part: Any) -> Any:
            return replace(part, **{self.key: tuple(next(values) for _ in range(part.kind.nv))}) if part.kind.nv else part

        m = plant.mechanism
        joints, loops = tuple(with_own(joint) for joint in m.joints), tuple(with_own(loop) for loop in m.loops)
        return replace(plant, mechanism=replace(m, joints=joints, loops=loops))


class JointArmatures(JointNumbers):
    """The armatures of joints; programs read them with those of the joints' drives, which do not vary."""

    def numbers(self, plant: Any, raw: Raw) -> np.ndarray:
        drives = (getattr(part, "drive", None) for part in _moving(plant) for _ in range(part.kind.nv))
        return raw[self.key] + np.array([0.0 if drive is None else drive.reflected_inertia for drive in drives])


class OfJoints(ModelKind):
    """A property of joints, and of the joints that close loops: one value for all degrees of freedom of one.

    Attributes:
        units: of angles and of lengths.
    """

    units: ClassVar[tuple[str, str]]
    rule: ClassVar[Rule] = NOT_NEGATIVE

    def targets(self, plant: Any) -> Sequence[str]:
        return [part.name for part in _moving(plant)]

    def unit(self, plant: Any, target: str) -> str:
        parts = {part.name: part.kind for part in _moving(plant)}
        turning, sliding = self.units
        sorts = {sort_of(name) for name in getattr(parts[target], "velocities", ("position",))}
        return turning if sorts == {"angle"} else sliding if sorts == {"length"} else f"{turning}, {sliding}"

    def columns(self, plant: Any, target: str) -> list[int]:
        """The columns of a joint's degrees of freedom."""
        at = 0
        for part in _moving(plant):
            if part.name == target:
                return list(range(at, at + part.kind.nv))
            at += part.kind.nv
        raise KeyError(target)

    def value(self, plant: Any, target: str) -> float:
        return float(self.part.raw(plant)[self.name][0, self.columns(plant, target)[0]])

    def write(self, plant: Any, raw: Raw, target: str, values: np.ndarray) -> None:
        raw[self.name][:, self.columns(plant, target)] = values[:, None]


class Damping(OfJoints):
    """The viscous friction of a joint."""

    name, meaning, units = "damping", "the viscous friction of a joint", ("N·m·s/rad", "N·s/m")
    part = JointNumbers("damping")


class Armature(OfJoints):
    """The inertia of a drive as felt at its joint, in addition to that of a `Drive` in it."""

    name, meaning, units, rule = "armature", "the inertia of a drive as felt at its joint", ("kg·m²", "kg"), MASS
    part = JointArmatures("armature")


class Stiffness(OfJoints):
    """The stiffness of a spring in a joint."""

    name, meaning, units = "stiffness", "the stiffness of a spring in a joint", ("N·m/rad", "N/m")
    part = JointNumbers("stiffness")

    def targets(self, plant: Any) -> Sequence[str]:
        return [part.name for part in _moving(plant) if part.kind.nq == part.kind.nv]
