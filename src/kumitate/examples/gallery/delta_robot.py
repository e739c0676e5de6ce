"""A delta robot that goes there and back between two places, a way in a quarter of a second.

After R. Clavel, Delta, a fast robot with parallel geometry, 18th International Symposium on Industrial Robots, 1988.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...control.paths import blend
from ...model import KINDS, WORLD, Body, Capsule, Cylinder, Geometry, Joint, Loop, Mechanism, PositionDrive
from ...model.samples import COLORS, DARK
from ...records.record import Record
from ...simulate.run import simulate
from ...spatial import pose
from ..catalogue import Example, texts

#: Radii of the motors' circle and of the platform's, lengths of arms and rods, distance of the two rods of a pair [m].
BASE, PLATFORM, ARM, ROD, GAP = 0.20, 0.05, 0.235, 0.80, 0.08
#: Masses of an arm, a rod and the platform with its gripper [kg].
ARM_MASS, ROD_MASS, PLATFORM_MASS = 0.7, 0.08, 0.6
#: Directions of the three arms [rad].
TURNS = (0.0, 2.0 * math.pi / 3.0, 4.0 * math.pi / 3.0)


def delta_robot() -> Mechanism:
    """Arms on motors, rods that hang from them on universal joints, and the platform, which ball joints hold to the rods."""
    down, motor = (0.0, math.pi / 2, 0.0), (0.0, 1.0, 0.0)
    drive = PositionDrive(kp=4e3, kd=60.0, limit=120.0, gear_ratio=20.0, rotor_inertia=3e-5)
    platform = (
        Geometry(Cylinder(PLATFORM + 0.03, 0.02), color=COLORS[1]),
        Geometry(Cylinder(0.012, 0.08), pose((0.0, 0.0, -0.04)), DARK),
    )
    bodies = [Body("platform", PLATFORM_MASS, (0.0, 0.0, -0.02), (4e-4, 4e-4, 7e-4), platform)]
    bodies.append(Body("base", visuals=(Geometry(Cylinder(BASE + 0.03, 0.02), pose((0.0, 0.0, 0.03)), DARK),)))
    joints = [Joint("platform", KINDS["floating"], WORLD, "platform"), Joint("ceiling", KINDS["fixed"], WORLD, "base")]
    loops = []
    for k, turn in enumerate(TURNS, 1):
        beam = Geometry(Capsule(0.02, ARM), pose((0.5 * ARM, 0.0, 0.0), down), COLORS[0])
        axle = Geometry(Capsule(0.008, GAP), pose((ARM, 0.0, 0.0), (math.pi / 2, 0.0, 0.0)), DARK)
        slender = ARM_MASS * ARM**2 / 12.0
        bodies.append(Body(f"arm{k}", ARM_MASS, (0.4 * ARM, 0.0, 0.0), (2e-4, slender, slender), (beam, axle)))
        around = pose((BASE * math.cos(turn), BASE * math.sin(turn), 0.0), (0.0, 0.0, turn))
        joints.append(Joint(f"motor{k}", KINDS["revolute"], WORLD, f"arm{k}", around, motor, drive=drive))
        for side, y in (("left", 0.5 * GAP), ("right", -0.5 * GAP)):
            name, long = f"rod{k}_{side}", ROD_MASS * ROD**2 / 12.0
            bar = Geometry(Capsule(0.006, ROD), pose((0.0, 0.0, -0.5 * ROD)), COLORS[2])
            bodies.append(Body(name, ROD_MASS, (0.0, 0.0, -0.5 * ROD), (long, long, 2e-6), (bar,)))
            elbow = pose((ARM, y, 0.0))
            joints.append(Joint(f"elbow{k}_{side}", KINDS["universal"], f"arm{k}", name, elbow, motor, (1.0, 0.0, 0.0)))
            there = pose(_turned((PLATFORM, y, 0.0), turn))
            loops.append(Loop(f"wrist{k}_{side}", KINDS["spherical"], name, "platform", pose((0.0, 0.0, -ROD)), there))
    return Mechanism("delta_robot", tuple(bodies), tuple(joints), tuple(loops))


def angles_of(place: Sequence[Any]) -> list[Any]:
    """The angles (3) of the motors with the platform at a place (3) [m], elbows outside; for numbers and symbols.

    A rod's length gives 2 a L cos θ + 2 z L sin θ = l² − a² − L² − y² − z² with a = R − r − x, in the plane of the arm.
    """
    found = []
    for turn in TURNS:
        x, y, z = _turned(place, -turn)
        a = BASE - PLATFORM - x
        cosine = (ROD**2 - a * a - ARM**2 - y * y - z * z) / (2.0 * ARM * np.sqrt(a * a + z * z))
        found.append(np.arctan2(z, a) + np.arctan2(np.sqrt(1.0 - cosine * cosine), cosine))
    return found


def rates_of(place: Sequence[Any], speed: Sequence[Any]) -> list[Any]:
    """The rates (3) of the motors while the platform moves [rad/s]: both ends of a rod are equally fast along it."""
    found = []
    for turn, angle in zip(TURNS, angles_of(place), strict=True):
        (x, y, z), (u, v, w) = _turned(place, -turn), _turned(speed, -turn)
        e = (x - (BASE - PLATFORM) - ARM * np.cos(angle), y, z + ARM * np.sin(angle))
        lever = -ARM * (e[0] * np.sin(angle) + e[2] * np.cos(angle))
        found.append((e[0] * u + e[1] * v + e[2] * w) / lever)
    return found


def posture(mechanism: Mechanism, place: Sequence[float]) -> np.ndarray:
    """The coordinates (nq) with the platform at a place [m]: the motors' angles, and the rods' directions from their arms."""
    angles = angles_of(place)
    parts: dict[str, list[float]] = {"platform": [0.0, 0.0, 0.0, 1.0, *place]}
    for k, (turn, angle) in enumerate(zip(TURNS, angles, strict=True), 1):
        parts[f"motor{k}"] = [float(angle)]
        x, y, z = np.array(_turned(place, -turn)) - (BASE - PLATFORM, 0.0, 0.0)
        c, s = math.cos(angle), math.sin(angle)
        along, up = (c * x - s * z - ARM) / ROD, (s * x + c * z) / ROD  # in the axes of the arm
        for side in ("left", "right"):
            parts[f"elbow{k}_{side}"] = [math.atan2(-along, -up), math.asin(y / ROD)]
    return np.array([value for joint in mechanism.joints for value in parts.get(joint.name, ())])


def _turned(vector: Sequence[Any], turn: float) -> tuple[Any, Any, Any]:
    """A vector (3), turned about z."""
    (x, y, z), c, s = vector, math.cos(turn), math.sin(turn)
    return c * x - s * y, s * x + c * y, z


# --- the motion -----------------------------------------------------------------------------------------------------------
#: Where parts are taken and put [m], the height that they are lifted, and the time of one way [s].
PICK, PUT, LIFT, TIME = np.array([-0.15, 0.05, -0.72]), np.array([0.15, -0.05, -0.72]), 0.06, 0.25


def place(t: Any) -> list[Any]:
    """Where the gripper should be (3) [m]: two ways there and back, each from rest to rest along an arch."""
    done = sum((-1) ** k * blend(t, k * TIME, (k + 1) * TIME) for k in range(4))
    arch = LIFT * 16.0 * (done * (1.0 - done)) ** 2
    start = [a + (b - a) * done for a, b in zip(PICK, PUT, strict=True)]
    return [start[0], start[1], start[2] + arch]


def speed(t: Any) -> list[Any]:
    """Its velocity (3) [m/s], by differences: an error of 1e-7 m/s."""
    step = 1e-5
    return [(b - a) / (2.0 * step) for a, b in zip(place(t - step), place(t + step), strict=True)]


def run() -> Record:
    """One second: there and back twice; the drives of the motors follow the angles of the path in closed form."""
    machine = delta_robot()
    inputs = {
        "target": lambda t, q, v: np.array(angles_of(place(t))),
        "target_velocity": lambda t, q, v: np.array(rates_of(place(t), speed(t))),
    }
    return simulate(machine, posture(machine, PICK.tolist()), duration=1.0, step=1e-3, integrator="rk4", inputs=inputs)


EXAMPLE = Example(**texts("delta_robot"), run=run)
