"""Every kind of parameter: a kind is a class under `ParameterKind`, and a line here."""

from typing import Any

from ..setup import Setup
from .contract import Parameter, ParameterKind, resolved
from .control import Gain, OfSolver
from .friction import Friction, Restitution
from .model import Armature, Damping, Gravity, InertiaFactor, Mass, Stiffness
from .states import ConstantEffort, Coordinate, Velocity

__all__ = ["KINDS", "parameter"]

#: Every kind. Those of the class `BatchInput` vary within a batch; each value of the others is compiled in.
KINDS: tuple[ParameterKind, ...] = (
    Coordinate(), Velocity(), ConstantEffort(), Gain(), Mass(), InertiaFactor(), Damping(), Friction(), Armature(), Stiffness(),
    Gravity(), Restitution(), OfSolver(),
)  # fmt: skip


def parameter(setup: Setup, name: Any) -> Parameter:
    """The parameter of a name such as "mass:link3" or "damping:*"; errors as of `resolved`."""
    return resolved(KINDS, setup, name)
