"""Drives without a state of their own: an effort, a velocity, a position that is held, and motors behind a gear."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from ...scalar import Scalar, maximum, minimum
from ..values import MOST, POSITIVE, Rule
from .contract import Command, Drive, DriveLaw


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
