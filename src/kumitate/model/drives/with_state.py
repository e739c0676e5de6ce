"""The contract of drives that have a state of their own, such as pressures or a current, which steps carry along."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...scalar import Scalar
from .contract import Command, Drive, DriveLaw


class StateLaw(NamedTuple):
    """The effort of a drive with a state s of its own, before it is limited, and the rates of s.

    Attributes:
        effort: [N·m or N]; `by_state`: ∂effort/∂s (k).
        rates: ds/dt (k) at the coordinate, velocity and state given.
        rates_by_state: ∂rates/∂s (k, k), for steps that are implicit; `rates_by_velocity`: ∂rates/∂v (k).
    """

    effort: Scalar
    by_state: Sequence[Scalar]
    rates: Sequence[Scalar]
    rates_by_state: Sequence[Sequence[Scalar]]
    rates_by_velocity: Sequence[Scalar]


@dataclass(frozen=True, kw_only=True)
class DriveWithState(Drive):
    """A drive whose effort depends on numbers that change with their own rates: pressures, currents, and the like.

    The numbers themselves are part of the simulation's state, so that a drive stays frozen data.
    """

    @property
    @abstractmethod
    def start(self) -> Mapping[str, float]:
        """The numbers of its state by name, with their values at the start, in SI units."""

    @abstractmethod
    def state_law(self, q: Scalar, v: Scalar, command: Command, state: Sequence[Scalar]) -> StateLaw:
        """The effort and the rates of the state at a coordinate q [rad or m] and velocity v [rad/s or m/s]."""

    def law(self, q: Scalar, v: Scalar, command: Command) -> DriveLaw:
        """The effort in the state at the start, and how fast it falls at first if the joint moves."""
        found = self.state_law(q, v, command, list(self.start.values()))
        falls = (-a * b for a, b in zip(found.by_state, found.rates_by_velocity, strict=True))
        return DriveLaw(found.effort, sum(falls, 0.0))
