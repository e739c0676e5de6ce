"""What parameters of a scenario are, in addition to those of a simulation: the start, constant efforts, gains, the solver."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ...errors import KumitateError
from ...simulate.interactions import interaction_of
from ...simulate.parameters import MODEL_KINDS, ModelKind, Parameter, ParameterKind, Variation, resolved
from ..mistakes import number_of
from ..setup import Described

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
