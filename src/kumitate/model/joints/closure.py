"""What can close a loop: the contract that joints of every kind, and rods of fixed length, fulfil.

A closure holds a frame M on one body to a frame F on another. All that it says is in the axes of M and at M's origin.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from ...scalar import Scalar
from ...spatial import Force, Motion, Transform

__all__ = ["Closing", "Closure"]


@dataclass(frozen=True)
class Closing:
    """A closure at one state.

    Attributes:
        pose: X_FM with the position that the closure allows, nearest to the present one.
        twist: M's velocity in F; `velocity`: the part of it that the closure allows.
        bias: the relative acceleration A that velocities alone make: T·(A − bias) = 0 holds for every T of `constraint`.
        constraint: the unit forces T that the closure exerts on M, and their opposites on F.
        active: the forces on M of unit drives along its freedoms; `coordinates`, `rates`: of these freedoms.
        error: the small motion that leads M from where it may be to where it is [rad, m].
        springs: unit forces on M, and the coordinates along them, that a spring of no free length works along; none where
            these are `active` and `coordinates`. They are smooth where a line has no length, and so no direction.
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


class Closure(ABC):
    """One way to close a loop.

    Attributes:
        name: what files and tables call it.
        rows: how many directions it holds.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def rows(self) -> int:
        """The number of constraint forces."""

    @property
    @abstractmethod
    def nv(self) -> int:
        """The number of freedoms that drives, damping and limits may act along."""

    @property
    @abstractmethod
    def nq(self) -> int:
        """The number of coordinates along these freedoms."""

    @abstractmethod
    def closing(self, X_FM: Transform, V_FM: Motion) -> Closing:
        """What it does at a pose X_FM and a velocity of M in F."""
