"""The contract that every kind of drive fulfils: an effort at one joint, from its coordinate and what it is commanded.

A drive is part of the model; what it is commanded changes from step to step and is an input of the simulation. Its effort is
linear in the coordinate and the velocity over a step, so that steps can be implicit in it (see `dynamics.settling`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import inf
from typing import ClassVar, NamedTuple

from ...scalar import Scalar, Scalars
from ..values import BOUND, FINITE, MASS, MOST, NOT_NEGATIVE, POSITIVE, Rule, checked_name, checked_number, checked_whole


class Command(NamedTuple):
    """What a drive is commanded: the inputs of a simulation, each with one value for every driven joint.

    Attributes:
        target: a position [rad or m], a velocity [rad/s or m/s] or an effort [N·m or N], by the kind of drive.
        target_velocity: of position drives [rad/s or m/s].
        feed_forward: an effort that is added [N·m or N].
    """

    target: Scalar
    target_velocity: Scalar = 0.0
    feed_forward: Scalar = 0.0


class DriveLaw(NamedTuple):
    """The effort of a drive before it is limited, and how it falls as the joint moves.

    Attributes:
        effort: at the coordinate and velocity given [N·m or N].
        stiffness: −∂effort/∂q [N·m/rad or N/m], zero or more; `damping`: −∂effort/∂v [N·m·s/rad or N·s/m], likewise.
    """

    effort: Scalar
    stiffness: Scalar = 0.0
    damping: Scalar = 0.0


@dataclass(frozen=True)
class Control:
    """How the control of an actuator of the robot's file is the target of a drive: scale · control + offset.

    Attributes:
        actuator: its name; `index`: its number in the file, counted from 0.
        gear: the ratio of the actuator's length and the joint's coordinate [1 or 1/m].
        lower, upper: within which the control is clipped.
    """

    actuator: str
    index: int
    gear: float = 1.0
    lower: float = -inf
    upper: float = inf
    scale: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        owner = f"the control of actuator {checked_name('a control', self.actuator)!r}"
        object.__setattr__(self, "index", checked_whole(owner, "its index", self.index, 0, remedy="Count from 0"))
        for name in ("gear", "lower", "upper", "scale", "offset"):
            rule = BOUND if name in ("lower", "upper") else FINITE
            object.__setattr__(self, name, checked_number(owner, f"its {name}", getattr(self, name), rule))


@dataclass(frozen=True, kw_only=True)
class Drive(ABC):
    """One kind of drive, in a joint of one degree of freedom: frozen, stateless, for floats and symbols alike.

    Attributes:
        kind: its name in files.
        holds: whether its target is a position: it then is the joint's coordinate at the start, unless another is given.
        limit: the largest effort [N·m or N]; None for the joint's own, `Limits.effort`, where it has one.
        armature: inertia of the drive reflected to the joint [kg·m² or kg], in addition to the joint's.
        gear_ratio: the rotor's turns per turn of the joint, or its angle per length [1 or rad/m].
        rotor_inertia: of the rotor and all that turns with it, about its axis [kg·m²].
        control: of the actuator of the robot's file that it is (`Robot.actuators`), if any; drives of other controls are equal.
        rules: of further numbers of a kind that may not be any number of zero or more.
    """

    kind: ClassVar[str]
    holds: ClassVar[bool] = False
    rules: ClassVar[Mapping[str, Rule]] = {}
    limit: float | None = None
    armature: float = 0.0
    gear_ratio: float = 1.0
    rotor_inertia: float = 0.0
    control: Control | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        rules = {"limit": MOST, "armature": MASS, "gear_ratio": POSITIVE, "rotor_inertia": MASS, **self.rules}
        for part in fields(self):
            value = getattr(self, part.name)
            if part.name == "control" and (value is None or isinstance(value, Control)):
                continue
            if value is not None or part.default is not None:
                rule = rules.get(part.name, NOT_NEGATIVE)
                given = checked_number(f"a {self.kind} drive", f"its {part.name}", value, rule)
                object.__setattr__(self, part.name, given)

    @property
    def reflected_inertia(self) -> float:
        """The inertia that the joint feels [kg·m² or kg]: rotors that turn N times as fast have N² times the energy."""
        return self.armature + self.gear_ratio**2 * self.rotor_inertia

    @abstractmethod
    def law(self, q: Scalar, v: Scalar, command: Command) -> DriveLaw:
        """The effort at a coordinate q [rad or m] and velocity v [rad/s or m/s]."""


class StateLaw(NamedTuple):
    """The effort of a drive with a state s of its own, before it is limited, and the rates of s.

    Attributes:
        effort: [N·m or N]; `by_state`: ∂effort/∂s (k).
        rates: ds/dt (k) at the coordinate, velocity and state given.
        rates_by_state: ∂rates/∂s (k, k), for steps that are implicit; `rates_by_velocity`: ∂rates/∂v (k).
    """

    effort: Scalar
    by_state: Scalars
    rates: Scalars
    rates_by_state: Sequence[Scalars]
    rates_by_velocity: Scalars


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
    def state_law(self, q: Scalar, v: Scalar, command: Command, state: Scalars) -> StateLaw:
        """The effort and the rates of the state at a coordinate q [rad or m] and velocity v [rad/s or m/s]."""

    def law(self, q: Scalar, v: Scalar, command: Command) -> DriveLaw:
        """The effort in the state at the start, and how fast it falls at first if the joint moves."""
        found = self.state_law(q, v, command, list(self.start.values()))
        falls = (-a * b for a, b in zip(found.by_state, found.rates_by_velocity, strict=True))
        return DriveLaw(found.effort, sum(falls, 0.0))


def drive_states(drive: Drive | None) -> Mapping[str, float]:
    """The numbers of a drive's own state by name, at the start; empty for drives that have none."""
    return drive.start if isinstance(drive, DriveWithState) else {}
