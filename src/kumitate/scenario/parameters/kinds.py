"""Every kind of parameter of a scenario: those of the model, and a line here for each other one."""

from typing import Any

from ...simulate.parameters import MODEL_KINDS, ParameterKind
from ..setup import Described
from .contract import ScenarioParameter, of_setup
from .control import Gain, OfSolver
from .states import ConstantEffort, Coordinate, Velocity

#: Every kind. Gains are those of the scenario's laws, which are made again for each value.
KINDS: tuple[ParameterKind, ...] = (
    Coordinate(), Velocity(), ConstantEffort(), Gain(), *(kind for kind in MODEL_KINDS if kind.name != Gain.name), OfSolver(),
)  # fmt: skip


def parameter(setup: Described, name: Any) -> ScenarioParameter:
    """The parameter of a name such as "mass:link3" or "damping:*"; errors as of `resolved`."""
    return of_setup(KINDS, setup, name)
