"""The contract of everything that can close a loop: joints of every kind, rods of fixed length, lines.

A closure connects a frame M on one body to a frame F on another. Its vectors are in the axes of M, at M's origin.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ...scalar import Scalar
from ...spatial import Force, Motion, Transform


@dataclass(frozen=True)
class Closing:
    """A closure at one state.

    Attributes:
        pose: the nearest X_FM that the closure allows.
        twist: M's velocity in F; `velocity`: the part of it that the closure allows.
        bias: the velocity-dependent part of the relative acceleration A: T·(A − bias) = 0 for every T of `constraint`.
        constraint: the unit forces T that the closure exerts on M, and their opposites on F.
        active: the forces on M of unit drives along its degrees of freedom; `coordinates`, `rates`: of these degrees of
            freedom.
        error: the small motion of M from the nearest allowed pose to the actual one [rad, m].
        springs: unit forces on M, and the coordinates along them, that a spring of no free length works along; none where
            these are `active` and `coordinates`. They are smooth where a line has no length, and so no direction.
        opening: the velocity of M that the constraints do not allow, where it is not Σ T (T·twist); None where it is.
    """

    pose: Transform
    twist: Motion
    velocity: Motion
    bias: Motion
    constraint: tuple[Force, ...]
    active: tuple[Force, ...]
    coordinates: tuple[Scalar, ...]
    rates: tuple[Scalar, ...]
    error: Motion
    springs: tuple[tuple[Force, Scalar], ...] = ()
    opening: Motion | None = None


class Closure(ABC):
    """One way to close a loop.

    Attributes:
        name: what files and tables call it.
        rows: how many directions it constrains.
        velocity_rows: how many of them, the last ones, it constrains in velocity alone, so that they have no error (rolling).
        angles: the indices of coordinates that poses give up to whole turns: angles, but not those of screws.
    """

    name: ClassVar[str]
    velocity_rows: ClassVar[int] = 0
    angles: ClassVar[tuple[int, ...]] = ()

    @property
    @abstractmethod
    def rows(self) -> int:
        """The number of constraint forces."""

    @property
    def holonomic_rows(self) -> int:
        """The number of those that constrain positions; they come first."""
        return self.rows - self.velocity_rows

    @property
    @abstractmethod
    def nv(self) -> int:
        """The number of degrees of freedom along which drives, damping and limits may act."""

    @property
    @abstractmethod
    def nq(self) -> int:
        """The number of coordinates of these degrees of freedom."""

    def facing(self, X_FM: Transform) -> dict[int, tuple[Scalar, Scalar]]:
        """Of coordinates that are angles, by index: sine and cosine at the pose nearest to X_FM, times any positive number.

        They tell quickly whether an angle is near a limit; kinds that do not give them are slower there.
        """
        return {}

    def pull(self, coordinates: Sequence[Scalar], rates: Sequence[Scalar]) -> list[Scalar]:
        """The forces of its own along its degrees of freedom, positive against them, like a spring's k·(q − rest)."""
        return [0.0] * self.nv

    def pull_slopes(self, coordinates: Sequence[Scalar], rates: Sequence[Scalar]) -> list[tuple[Scalar, Scalar]]:
        """The derivatives of each of these forces by its coordinate and by its rate."""
        return [(0.0, 0.0)] * self.nv

    @abstractmethod
    def closing(self, X_FM: Transform, V_FM: Motion) -> Closing:
        """Its constraints and forces at a pose X_FM and a velocity of M in F."""
