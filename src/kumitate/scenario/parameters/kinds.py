"""Every kind of parameter: a kind is a class under `ParameterKind`, and a line here."""

from typing import Any

from ..case import Case
from .contract import Parameter, ParameterKind, resolved
from .control import Gain, OfSolver
from .friction import Friction, Restitution
from .model import Armature, Damping, Gravity, Inertia, Mass, Stiffness
from .states import Coordinate, Effort, Velocity

__all__ = ["KINDS", "parameter"]

#: Every kind. Those of the class `Rows` vary within a batch; each value of the others is compiled in.
KINDS: tuple[ParameterKind, ...] = (
    Coordinate(), Velocity(), Effort(), Gain(), Mass(), Inertia(), Damping(), Friction(), Armature(), Stiffness(), Gravity(),
    Restitution(), OfSolver(),
)  # fmt: skip


def parameter(case: Case, name: Any) -> Parameter:
    """The parameter of a name such as "mass:link3" or "damping:*"; errors as of `resolved`."""
    return resolved(KINDS, case, name)
