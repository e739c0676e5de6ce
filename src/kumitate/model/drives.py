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

from ..scalar import Scalar, Scalars, maximum, minimum, select, sqrt
from .values import BOUND, FINITE, MASS, MOST, NOT_NEGATIVE, POSITIVE, Rule, checked_name, checked_number, checked_whole


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


# --- the kinds ------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class EffortDrive(Drive):
    """τ = target + feed_forward, within ±limit.

    >>> EffortDrive(limit=20.0).law(0.3, 0.0, Command(target=5.0)).effort
    5.0
    """

    kind = "effort"

    def law(self, q: Scalar, v: Scalar, command: Command) -> DriveLaw:
        return DriveLaw(command.target + command.feed_forward)


@dataclass(frozen=True, kw_only=True)
class VelocityDrive(Drive):
    """τ = kd (target − v) + feed_forward, within ±limit.

    Attributes:
        kd: [N·m·s/rad or N·s/m].

    >>> VelocityDrive(kd=2.0).law(0.0, 0.5, Command(target=1.5)).effort
    2.0
    """

    kind = "velocity"
    kd: float

    def law(self, q: Scalar, v: Scalar, command: Command) -> DriveLaw:
        return DriveLaw(self.kd * (command.target - v) + command.feed_forward, damping=self.kd)


@dataclass(frozen=True, kw_only=True)
class PositionDrive(Drive):
    """τ = kp (target − q) + kd (target_velocity − v) + feed_forward, within ±limit.

    Attributes:
        kp: [N·m/rad or N/m]; `kd`: [N·m·s/rad or N·s/m], zero by default.

    >>> PositionDrive(kp=100.0, kd=4.0).law(0.1, 0.5, Command(target=0.2)).effort
    8.0
    """

    kind = "position"
    holds = True
    kp: float
    kd: float = 0.0

    def law(self, q: Scalar, v: Scalar, command: Command) -> DriveLaw:
        effort = self.kp * (command.target - q) + self.kd * (command.target_velocity - v) + command.feed_forward
        return DriveLaw(effort, self.kp, self.kd)


@dataclass(frozen=True, kw_only=True)
class DCMotor(Drive):
    """τ = N k i + feed_forward with the current i = (u − N k q̇) / R of a voltage u, the target, and N the `gear_ratio`.

    The inductance, which lets the current lag by a millisecond or less, is neglected; gears lose nothing.

    Attributes:
        torque_constant: k [N·m/A], which is also the voltage per velocity of the rotor [V·s/rad].
        resistance: R [Ω].
        voltage: the largest u [V] in both directions, infinite by default.

    >>> motor = DCMotor(torque_constant=0.02, resistance=0.5, gear_ratio=100.0, voltage=12.0)
    >>> motor.law(0.0, 0.0, Command(target=20.0)).effort, motor.law(0.0, 6.0, Command(target=20.0)).effort
    (48.0, 0.0)
    """

    kind = "dc_motor"
    rules: ClassVar[dict[str, Rule]] = {"torque_constant": POSITIVE, "resistance": POSITIVE, "voltage": MOST}
    torque_constant: float
    resistance: float
    voltage: float = inf

    def law(self, q: Scalar, v: Scalar, command: Command) -> DriveLaw:
        u = command.target if self.voltage == inf else maximum(minimum(command.target, self.voltage), -self.voltage)
        at_joint = self.gear_ratio * self.torque_constant
        current = (u - at_joint * v) / self.resistance
        return DriveLaw(at_joint * current + command.feed_forward, damping=at_joint**2 / self.resistance)


# --- hydraulic cylinders --------------------------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class HydraulicCylinder(DriveWithState):
    """f = A p_A − B p_B + feed_forward; the pressures of the two chambers are the drive's own state.

    The oil of a chamber of volume V resists compression: ṗ = β (Q − V̇ − leak)/V, with V = D + A (q − retracted) on the piston's
    side and D + B (retracted + stroke − q) on the rod's. A valve lets K u √Δp through at an opening u, the target, between
    −1 and 1: where u > 0 from the supply into the piston's side and from the rod's side to the tank, and the other way round
    else. Without a valve the target is the flow [m³/s] of a pump into the piston's side, with B/A of it out of the rod's.
    Oil that tears at pressures below zero, and hits at the ends of the stroke, are not simulated.

    Source: H. E. Merritt, Hydraulic Control Systems, Wiley 1967, sections 3.2 and 6.2.

    Attributes:
        piston_area: A [m²]; `rod_side_area`: B, of the ring around the rod.
        stroke: [m]; `retracted`: the joint's coordinate with the piston all the way in [m].
        dead_volume: D, of each side where the piston is at its end, with its hose [m³].
        bulk_modulus: β [Pa]; `leak`: past the piston [m³/(s·Pa)].
        valve: K [m³/(s·√Pa)]; None for a pump. `supply`, `tank`: pressures at the valve [Pa].
        laminar: pressure differences well below this pass the valve as a laminar flow, in proportion [Pa].
        piston_pressure, rod_pressure: at the start [Pa].

    >>> cylinder = HydraulicCylinder(piston_area=4e-3, rod_side_area=3e-3, stroke=1.0, dead_volume=1e-3, piston_pressure=2e6)
    >>> cylinder.law(0.5, 0.0, Command(target=0.0)).effort
    8000.0
    """

    kind = "hydraulic_cylinder"
    rules: ClassVar[dict[str, Rule]] = {
        **dict.fromkeys(("piston_area", "rod_side_area", "stroke", "dead_volume", "bulk_modulus", "laminar"), POSITIVE),
        "retracted": FINITE,
    }
    piston_area: float
    rod_side_area: float
    stroke: float
    dead_volume: float
    retracted: float = 0.0
    bulk_modulus: float = 1.4e9
    leak: float = 0.0
    valve: float | None = None
    supply: float = 0.0
    tank: float = 0.0
    laminar: float = 1e4
    piston_pressure: float = 0.0
    rod_pressure: float = 0.0

    @property
    def start(self) -> Mapping[str, float]:
        return {"piston_pressure": self.piston_pressure, "rod_pressure": self.rod_pressure}

    def state_law(self, q: Scalar, v: Scalar, command: Command, state: Scalars) -> StateLaw:
        (a, b), A, B = state, self.piston_area, self.rod_side_area
        out = maximum(minimum(q - self.retracted, self.stroke), 0.0)
        stiff_a = self.bulk_modulus / (self.dead_volume + A * out)
        stiff_b = self.bulk_modulus / (self.dead_volume + B * (self.stroke - out))
        (into_a, a_by_a), (into_b, b_by_b) = self._flows(command.target, a, b)
        leak, lost = self.leak, self.leak * (a - b)
        return StateLaw(
            A * a - B * b + command.feed_forward,
            (A, -B),
            (stiff_a * (into_a - lost - A * v), stiff_b * (into_b + lost + B * v)),
            ((stiff_a * (a_by_a - leak), stiff_a * leak), (stiff_b * leak, stiff_b * (b_by_b - leak))),
            (-A * stiff_a, B * stiff_b),
        )

    def _flows(self, target: Scalar, a: Scalar, b: Scalar) -> tuple[Scalars, Scalars]:
        """Of the two chambers at their pressures: the flow into it [m³/s], and how it changes with the pressure there."""
        if self.valve is None:
            return (target, 0.0), (-target * (self.rod_side_area / self.piston_area), 0.0)
        opening = maximum(minimum(target, 1.0), -1.0)
        width = self.valve * maximum(opening, -opening)
        extends = opening > 0.0
        return (
            self._through(width, select(extends, self.supply, self.tank), a),
            self._through(width, select(extends, self.tank, self.supply), b),
        )

    def _through(self, width: Scalar, source: Scalar, pressure: Scalar) -> Scalars:
        """Through an edge of the valve, from a pressure into a chamber: width·Δ/(Δ² + laminar²)^¼, which is width·√Δ above."""
        away = source - pressure
        square = away * away + self.laminar**2
        root = sqrt(square)
        flow = away / sqrt(root)
        return width * flow, -width * (0.5 * away * away + self.laminar**2) / (square * sqrt(root))


#: The kinds of drives by their names in files.
DRIVES: dict[str, type[Drive]] = {
    kind.kind: kind for kind in (EffortDrive, VelocityDrive, PositionDrive, DCMotor, HydraulicCylinder)
}
