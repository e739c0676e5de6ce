"""Parameters of scenarios: numbers with names such as "mass:link3", which scenarios set and sweeps vary.

In addition to those of a simulation they are the start, constant efforts, gains, and numbers of the solver.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..control.controllers import columns_of
from ..errors import InputError, KumitateError
from ..model.joints.contract import sort_of
from ..model.values import POSITIVE, checked_whole
from ..simulate.integrators import INTEGRATORS
from ..simulate.interactions import interaction_of
from ..simulate.parameters import MODEL_KINDS, ModelKind, Parameter, ParameterKind, Variation, resolved
from .setup import Described
from .written import number_of

__all__ = ["KINDS", "BatchInput", "ScenarioParameter", "parameter"]

#: What laws do not know of the robot: they are the same whatever touches.
_UNKNOWN_TO_LAWS = ("restitution",)
#: Laws that know the joints of the robot only, not what they move.
_BLIND_LAWS = ("pd",)


class BatchInput(ParameterKind):
    """A kind whose numbers stand in an array of a batch.

    Attributes:
        array: of a `Described` that its numbers stand in: "q", "v" or "tau".
    """

    array: ClassVar[str]

    @abstractmethod
    def columns(self, setup: Described, targets: Sequence[str]) -> list[int]:
        """Where the targets stand in the array."""

    def checked(self, name: str, value: Any) -> Any:
        return number_of(name, value, self.rule)


@dataclass(frozen=True)
class ScenarioParameter(Parameter):
    """A parameter of one setup.

    Attributes:
        shared: whether runs that differ in nothing else share a compiled step, and so a batch.
    """

    shared: bool = False

    def checked(self, value: Any) -> Any:
        if isinstance(self.kind, ModelKind):
            return number_of(self.name, value, self.kind.rule)
        return super().checked(value)

    @property
    def of_model(self) -> bool:
        """Whether its values are parameters of the simulation."""
        return self.shared and not isinstance(self.kind, BatchInput)


def of_setup(kinds: Sequence[ParameterKind], setup: Described, name: Any) -> ScenarioParameter:
    """The parameter of a name such as "mass:link3"; errors as of `resolved`."""
    found = resolved(kinds, setup, name)
    shared = isinstance(found.kind, BatchInput) or _shared(setup, found)
    return ScenarioParameter(found.name, found.kind, found.targets, found.unit, shared)


def _shared(setup: Described, one: Parameter) -> bool:
    """Whether a parameter of the model or of a law can be an input of the step.

    Controllers that know the robot's masses are made for the values of each run. Where contact follows from them by default,
    it is too. Functions of files are made again for each of their gains.
    """
    if one.kind.name not in {kind.name for kind in MODEL_KINDS} or (one.kind.name == "gain" and _of_files(setup)):
        return False
    touching = one.kind.name in _UNKNOWN_TO_LAWS or (one.kind.name == "friction" and set(one.targets) <= set(_surfaces(setup)))
    if not touching and one.kind.name != "gain" and any(law.name not in _BLIND_LAWS for law in setup.laws):
        return False
    try:
        variation = Variation.of(setup.plant, [one.name])
        if setup.contact is not None and setup.contact.model == "penalty":
            interaction_of(setup.mechanism, setup.contact, parameters=variation)
    except KumitateError:
        return False
    return True


def _of_files(setup: Described) -> bool:
    return any(law.file is not None for law in setup.laws)


def _surfaces(setup: Described) -> list[str]:
    return [] if setup.contact is None else ["floor", *setup.contact.surfaces]


# --- parameters that are inputs of the compiled step: the start, and constant efforts -------------------------------------
class _State(BatchInput):
    """Components of one array of the start."""

    names: ClassVar[str]
    key: ClassVar[str]
    units: ClassVar[dict[str, str]]

    def targets(self, setup: Described) -> Sequence[str]:
        return getattr(setup.mechanism, self.names)  # type: ignore[no-any-return]

    def unit(self, setup: Described, target: str) -> str:
        components = [name for joint in setup.mechanism.joints for name in getattr(joint.kind, self.key)]
        return self.units[sort_of(components[self.columns(setup, [target])[0]])]

    def columns(self, setup: Described, targets: Sequence[str]) -> list[int]:
        names = list(getattr(setup.mechanism, self.names))
        return [names.index(target) for target in targets]

    def put(self, setup: Described, targets: Sequence[str], value: Any) -> Described:
        array = np.array(getattr(setup, self.array))
        array[self.columns(setup, targets)] = value
        changed: dict[str, Any] = {self.array: array}
        return replace(setup, **changed)


class Coordinate(_State):
    """A coordinate of the start."""

    name, array, names, key = "q", "q", "q_names", "coordinates"
    meaning = "a coordinate of the start"
    units: ClassVar = {"angle": "rad", "length": "m", "plain": "1"}


class Velocity(_State):
    """A velocity of the start."""

    name, array, names, key = "v", "v", "v_names", "velocities"
    meaning = "a velocity of the start"
    units: ClassVar = {"angle": "rad/s", "length": "m/s", "plain": "1"}


class ConstantEffort(_State):
    """A constant effort at a joint."""

    name, array, names, key = "tau", "tau", "v_names", "velocities"
    meaning = "a constant effort at a joint, without a controller"
    units: ClassVar = {"angle": "N·m", "length": "N", "plain": "1"}

    def put(self, setup: Described, targets: Sequence[str], value: Any) -> Described:
        if setup.laws:
            raise InputError("tau is a constant effort, and there is a controller; write one of them")
        return super().put(setup, targets, value)


# --- parameters of controllers and of the solver --------------------------------------------------------------------------
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

    def checked(self, name: str, value: Any) -> Any:
        return number_of(name, value, self.rule)

    def put(self, setup: Described, targets: Sequence[str], value: Any) -> Described:
        laws = setup.laws
        for target in targets:
            gain, colon, joint = target.partition(":")
            columns = list(columns_of(setup.mechanism, [joint])[joint]) if colon else None
            laws = tuple(law.with_gain(gain, value, columns, setup.mechanism.nv) if gain in law.gains else law for law in laws)
        return replace(setup, laws=laws)


class OfSolver(ParameterKind):
    """A setting of the solver."""

    name, meaning = "solver", "a setting of the solver: solver:step, solver:integrator"
    units: ClassVar = {"step": "s", "duration": "s", "integrator": "", "every": "1"}

    def targets(self, setup: Described) -> Sequence[str]:
        return list(self.units)

    def unit(self, setup: Described, target: str) -> str:
        return self.units[target]

    def checked(self, name: str, value: Any) -> Any:
        target = name.partition(":")[2]
        if target == "integrator":
            if value not in ("auto", *INTEGRATORS):
                raise InputError(f"there is no integrator {value!r}; there are auto, {', '.join(INTEGRATORS)}")
            return value
        if target == "every":
            return checked_whole("scenario", name, value, 1, remedy="Give a number of steps", error=InputError)
        return number_of(name, value, POSITIVE)

    def put(self, setup: Described, targets: Sequence[str], value: Any) -> Described:
        return replace(setup, **dict.fromkeys(targets, value))


# --- every kind of parameter of a scenario: those of the model, and a line here for each other one ------------------------
#: Every kind. Gains are those of the scenario's laws, which are made again for each value.
KINDS: tuple[ParameterKind, ...] = (
    Coordinate(), Velocity(), ConstantEffort(), Gain(), *(kind for kind in MODEL_KINDS if kind.name != Gain.name), OfSolver(),
)  # fmt: skip


def parameter(setup: Described, name: Any) -> ScenarioParameter:
    """The parameter of a name such as "mass:link3" or "damping:*"; errors as of `resolved`."""
    return of_setup(KINDS, setup, name)
