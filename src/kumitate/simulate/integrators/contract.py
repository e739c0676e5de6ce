"""What an integrator is: one step of a mechanical system, written once for floats and for symbols."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

__all__ = ["Integrator", "State", "System"]

Scalar = Any


class System(Protocol):
    """The equations of motion, as an integrator sees them."""

    def dynamics(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], Scalar]:
        """v̇ (nv) and the power of all that is applied [W]. `h` > 0 makes the joints' damping implicit over a step h."""

    def rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        """q̇ (nq)."""

    def integrate(self, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        """q (nq) after the motion dv."""

    def normalized(self, q: Sequence[Scalar]) -> list[Scalar]:
        """q (nq) back on its manifold."""


@dataclass(frozen=True)
class State:
    """Coordinates q (nq), velocities v (nv), and the work done on the mechanism since the start [J]."""

    q: Sequence[Scalar]
    v: Sequence[Scalar]
    work: Scalar


class Integrator(ABC):
    """One way to advance a state.

    Attributes:
        name: what users call it.
        order: of its global error in the step.
        implicit_damping: whether it passes a step to `System.dynamics`.
        adaptive: whether `step` estimates its error, so that the step can be chosen.
    """

    name: ClassVar[str]
    order: ClassVar[int]
    implicit_damping: ClassVar[bool] = False
    adaptive: ClassVar[bool] = False

    @abstractmethod
    def step(self, system: System, t: Scalar, h: Scalar, state: State) -> tuple[State, Scalar]:
        """The state after a step h from time t, and the estimated error in units of the tolerance (0 if none is made)."""
