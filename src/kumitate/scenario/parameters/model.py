"""Parameters of the mechanism: masses and inertias of bodies, passive forces of joints, gravity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ...model import Mechanism
from ...model.values import MASS, NOT_NEGATIVE, Rule
from ..setup import Setup
from .contract import ParameterKind
from .states import sort_of

__all__ = ["Armature", "Damping", "Gravity", "InertiaFactor", "Mass", "OfJoints", "Stiffness"]


class Mass(ParameterKind):
    """The mass of a body; its rotational inertia stays as it is."""

    name, meaning, rule = "mass", "the mass of a body; its rotational inertia stays", MASS

    def targets(self, setup: Setup) -> Sequence[str]:
        return [body.name for body in setup.mechanism.bodies]

    def unit(self, setup: Setup, target: str) -> str:
        return "kg"

    def put(self, setup: Setup, targets: Sequence[str], value: Any) -> Setup:
        bodies = (replace(b, mass=value) if b.name in targets else b for b in setup.mechanism.bodies)
        return replace(setup, mechanism=replace(setup.mechanism, bodies=tuple(bodies)))


class InertiaFactor(ParameterKind):
    """A factor on the rotational inertia of a body about its center of mass."""

    name, meaning, rule = "inertia", "a factor on the rotational inertia of a body about its center of mass", NOT_NEGATIVE

    def targets(self, setup: Setup) -> Sequence[str]:
        return [body.name for body in setup.mechanism.bodies]

    def unit(self, setup: Setup, target: str) -> str:
        return "1"

    def put(self, setup: Setup, targets: Sequence[str], value: Any) -> Setup:
        bodies = (
            replace(b, inertia=(value * np.asarray(b.inertia)).tolist()) if b.name in targets else b
            for b in setup.mechanism.bodies
        )
        return replace(setup, mechanism=replace(setup.mechanism, bodies=tuple(bodies)))


def _moving(mechanism: Mechanism) -> list[Any]:
    """The joints of the tree, and those that close loops."""
    return [*mechanism.joints, *mechanism.loops]


class OfJoints(ParameterKind):
    """A property of joints, and of the joints that close loops: one value for all degrees of freedom of one.

    Attributes:
        units: of angles and of lengths.
    """

    units: ClassVar[tuple[str, str]]
    rule: ClassVar[Rule] = NOT_NEGATIVE

    def targets(self, setup: Setup) -> Sequence[str]:
        return [part.name for part in _moving(setup.mechanism) if part.kind.nv]

    def unit(self, setup: Setup, target: str) -> str:
        parts = {part.name: part.kind for part in _moving(setup.mechanism)}
        turning, sliding = self.units
        sorts = {sort_of(name) for name in getattr(parts[target], "velocities", ("position",))}
        return turning if sorts == {"angle"} else sliding if sorts == {"length"} else f"{turning}, {sliding}"

    def put(self, setup: Setup, targets: Sequence[str], value: Any) -> Setup:
        m = setup.mechanism
        joints = tuple(replace(part, **{self.name: value}) if part.name in targets else part for part in m.joints)
        loops = tuple(replace(part, **{self.name: value}) if part.name in targets else part for part in m.loops)
        return replace(setup, mechanism=replace(m, joints=joints, loops=loops))


class Damping(OfJoints):
    """The viscous friction of a joint."""

    name, meaning, units = "damping", "the viscous friction of a joint", ("N·m·s/rad", "N·s/m")


class Armature(OfJoints):
    """The inertia of a drive as felt at its joint."""

    name, meaning, units, rule = "armature", "the inertia of a drive as felt at its joint", ("kg·m²", "kg"), MASS


class Stiffness(OfJoints):
    """The stiffness of a spring in a joint."""

    name, meaning, units = "stiffness", "the stiffness of a spring in a joint", ("N·m/rad", "N/m")


class Gravity(ParameterKind):
    """The acceleration of free fall, in the direction that it has; downward if it was zero."""

    name, meaning, rule = "gravity", "the acceleration of free fall", NOT_NEGATIVE

    def targets(self, setup: Setup) -> Sequence[str]:
        return ("",)

    def unit(self, setup: Setup, target: str) -> str:
        return "m/s²"

    def put(self, setup: Setup, targets: Sequence[str], value: Any) -> Setup:
        g = np.asarray(setup.mechanism.gravity)
        size = float(np.linalg.norm(g))
        direction = g / size if size else np.array([0.0, 0.0, -1.0])
        return replace(setup, mechanism=replace(setup.mechanism, gravity=tuple((value * direction).tolist())))
