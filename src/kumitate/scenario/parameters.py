"""Parameters of scenarios: numbers with names such as "mass:link3", which scenarios set and sweeps vary.

In addition to those of a simulation: the start, constant efforts, gains of controllers, settings of the solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..control.controllers import columns_of
from ..errors import InputError, KumitateError
from ..model.joints.contract import sort_of
from ..simulate.interactions import interaction_of
from ..simulate.parameters import MODEL_KINDS, Parameter, ParameterKind, Variation, resolved
from .setup import Described, setting
from .written import number_of

#: What laws do not know of the robot: they are the same whatever touches.
_UNKNOWN_TO_LAWS = ("restitution",)
#: Laws that know the joints of the robot only, not what they move.
_BLIND_LAWS = ("pd",)


@dataclass(frozen=True)
class ScenarioParameter(Parameter):
    """A parameter of one setup.

    Attributes:
        shared: whether runs that differ in nothing else share a compiled step, and so a batch.
    """

    shared: bool = False

    def checked(self, value: Any) -> Any:
        kind = self.kind
        return kind.checked(self.name, value) if isinstance(kind, OfSolver) else number_of(self.name, value, kind.rule)

    @property
    def of_model(self) -> bool:
        """Whether its values are parameters of the simulation."""
        return self.shared and not isinstance(self.kind, BatchInput)


def parameter(setup: Described, name: Any) -> ScenarioParameter:
    """The parameter of a name such as "mass:link3" or "damping:*"; errors as of `resolved`."""
    found = resolved(KINDS, setup, name)
    shared = isinstance(found.kind, BatchInput) or _shared(setup, found)
    return ScenarioParameter(found.name, found.kind, found.targets, found.unit, shared)


def _shared(setup: Described, one: Parameter) -> bool:
    """Whether a parameter of the model or of a law can be an input of the step.

    Controllers that know the robot's masses are made for the values of each run, as functions of files are. Where contact
    follows from them by default, it is too. Functions of files are made again for each of their gains. Where points are held,
    simulations have no parameters.
    """
    of_files = any(law.file is not None for law in setup.laws)
    if setup.held or one.kind.name not in {kind.name for kind in MODEL_KINDS} or (one.kind.name == "gain" and of_files):
        return False
    surfaces = set() if setup.contact is None else {"floor", *setup.contact.surfaces}
    touching = one.kind.name in _UNKNOWN_TO_LAWS or (one.kind.name == "friction" and set(one.targets) <= surfaces)
    if not touching and one.kind.name != "gain" and any(law.name not in _BLIND_LAWS for law in setup.functions):
        return False
    try:
        variation = Variation.of(setup.plant, [one.name])
        if setup.contact is not None and setup.contact.model == "penalty":
            interaction_of(setup.mechanism, setup.contact, parameters=variation)
    except KumitateError:
        return False
    return True


# --- inputs of the compiled step: the start, and constant efforts ---------------------------------------------------------
class BatchInput(ParameterKind):
    """A kind whose numbers stand in an array of a batch, a component each.

    Attributes:
        array: of a `Described` that its numbers stand in: "q", "v" or "tau".
        names: the property of a mechanism that names the components; key: the attribute of a joint's kind that does.
        units: by the sort of component.
    """

    array: ClassVar[str]
    names: ClassVar[str]
    key: ClassVar[str]
    units: ClassVar[dict[str, str]]

    def targets(self, setup: Described) -> Sequence[str]:
        return getattr(setup.mechanism, self.names)  # type: ignore[no-any-return]

    def unit(self, setup: Described, target: str) -> str:
        components = [name for joint in setup.mechanism.joints for name in getattr(joint.kind, self.key)]
        return self.units[sort_of(components[self.columns(setup, [target])[0]])]

    def columns(self, setup: Described, targets: Sequence[str]) -> list[int]:
        """Where the targets stand in the array."""
        names = list(getattr(setup.mechanism, self.names))
        return [names.index(target) for target in targets]

    def put(self, setup: Described, targets: Sequence[str], value: Any) -> Described:
        array = np.array(getattr(setup, self.array))
        array[self.columns(setup, targets)] = value
        changed: dict[str, Any] = {self.array: array}
        return replace(setup, **changed)


class Coordinate(BatchInput):
    """A coordinate of the start."""

    name, array, names, key = "q", "q", "q_names", "coordinates"
    meaning = "a coordinate of the start"
    units: ClassVar = {"angle": "rad", "length": "m", "plain": "1"}


class Velocity(BatchInput):
    """A velocity of the start."""

    name, array, names, key = "v", "v", "v_names", "velocities"
    meaning = "a velocity of the start"
    units: ClassVar = {"angle": "rad/s", "length": "m/s", "plain": "1"}


class ConstantEffort(BatchInput):
    """A constant effort at a joint."""

    name, array, names, key = "tau", "tau", "v_names", "velocities"
    meaning = "a constant effort at a joint, without a controller"
    units: ClassVar = {"angle": "N·m", "length": "N", "plain": "1"}

    def put(self, setup: Described, targets: Sequence[str], value: Any) -> Described:
        if setup.laws:
            raise InputError("tau is a constant effort, and there is a controller; write one of them")
        return super().put(setup, targets, value)


# --- controllers and the solver -------------------------------------------------------------------------------------------
class Gain(ParameterKind):
    """A gain of a controller: "gain:kp" for all degrees of freedom, "gain:kp:JOINT" for a joint's."""

    name = "gain"
    meaning = "a gain of a controller; as gain:kp:JOINT, that of one joint"

    def targets(self, setup: Described) -> Sequence[str]:
        gains = list(dict.fromkeys(name for law in setup.laws for name in law.gains))
        of_joints = list(dict.fromkeys(name for law in setup.laws if law.file is None for name in law.gains))
        return [*gains, *(f"{gain}:{joint.name}" for gain in of_joints for joint in setup.mechanism.joints if joint.kind.nv)]

    def unit(self, setup: Described, target: str) -> str:
        return ""

    def put(self, setup: Described, targets: Sequence[str], value: Any) -> Described:
        laws = list(setup.laws)
        for target in targets:
            gain, colon, joint = target.partition(":")
            for k, law in enumerate(laws):
                if gain in law.gains:
                    given = value
                    if colon:
                        given = np.array(np.broadcast_to(np.asarray(law.gains[gain], dtype=float), setup.mechanism.nv))
                        given[list(columns_of(setup.mechanism, [joint])[joint])] = value
                    laws[k] = replace(law, gains={**law.gains, gain: given})
        return replace(setup, laws=tuple(laws))


class OfSolver(ParameterKind):
    """A setting of the solver."""

    name, meaning = "solver", "a setting of the solver: solver:step, solver:integrator"
    units: ClassVar = {"step": "s", "duration": "s", "integrator": "", "every": "1"}

    def targets(self, setup: Described) -> Sequence[str]:
        return list(self.units)

    def unit(self, setup: Described, target: str) -> str:
        return self.units[target]

    def checked(self, name: str, value: Any) -> Any:
        return setting(name.partition(":")[2], value)

    def put(self, setup: Described, targets: Sequence[str], value: Any) -> Described:
        return replace(setup, **dict.fromkeys(targets, value))


#: Every kind. Gains are those of the scenario's laws, which are made again for each value.
KINDS: tuple[ParameterKind, ...] = (
    Coordinate(), Velocity(), ConstantEffort(), Gain(), *(kind for kind in MODEL_KINDS if kind.name != Gain.name), OfSolver(),
)  # fmt: skip
