"""Parameters of controllers and of the solver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from ...control.controllers import columns_of
from ...errors import InputError
from ...model.values import POSITIVE, checked_whole
from ...simulate.integrators import INTEGRATORS
from ...simulate.parameters import ParameterKind
from ..mistakes import number_of
from ..setup import Described


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
