"""The car axis of the Test Set for IVP Solvers: an axle that follows the road, and a chassis on two springs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...model import KINDS, WORLD, Body, Box, Capsule, Geometry, Joint, Line, Loop, Mechanism, Sphere
from ...model.samples import COLORS, DARK
from ...records.record import Record
from ...simulate.run import simulate
from ...spatial import pose
from ..catalogue import Example, texts

#: Of chassis and axle: length L [m], mass M [kg], half of it at either end; rest length of the springs L₀ [m].
LENGTH, MASS, REST = 1.0, 10.0, 0.5
#: The springs have the stiffness 1/ε² [N/m]; the road has the height r [m] and the frequency ω [rad/s]. Free fall: 1 m/s².
EPSILON, HEIGHT, FREQUENCY = 1e-2, 0.1, 10.0
_BACK = (0.0, -1.0, 0.0)  # turns about it lift the right end


def axle_angle(t: Any) -> Any:
    """Of the axle, whose right end is at (√(L² − y²), y) with y = r sin(ωt) [rad]."""
    height = HEIGHT * np.sin(FREQUENCY * t)
    return np.arctan2(height, (LENGTH**2 - height * height) ** 0.5)


def car_axis() -> Mechanism:
    """Axle, the chassis' left end, which slides on the normal of the axle, and the chassis; x to the right, z up."""
    middle = pose((0.5 * LENGTH, 0.0, 0.0))
    along = pose((0.5 * LENGTH, 0.0, 0.0), (0.0, 0.5 * math.pi, 0.0))
    wheels = (Geometry(Sphere(0.03), pose((x, 0.0, 0.0)), DARK) for x in (0.0, LENGTH))
    bodies = (
        Body("axle", visuals=(Geometry(Capsule(0.008, LENGTH), along, COLORS[0]), *wheels)),
        Body("left_end"),
        # masses at both ends of a rod
        Body("chassis", MASS, (0.5 * LENGTH, 0.0, 0.0), (0.0, 0.25 * MASS * LENGTH**2, 0.25 * MASS * LENGTH**2),
             (Geometry(Box((LENGTH, 0.1, 0.04)), middle, COLORS[2]),)),
    )  # fmt: skip
    joints = (
        Joint("road", KINDS["revolute"], WORLD, "axle", axis=_BACK),
        Joint("left", KINDS["prismatic"], "axle", "left_end"),
        Joint("tilt", KINDS["revolute"], "left_end", "chassis", axis=_BACK),
    )
    end, stiffness = pose((LENGTH, 0.0, 0.0)), EPSILON**-2
    springs = (
        Loop("left_spring", Line(), "axle", "left_end", stiffness=stiffness, rest=REST),
        Loop("right_spring", Line(), "axle", "chassis", end, end, stiffness=stiffness, rest=REST),
    )
    return Mechanism("car_axis", bodies, joints, springs, gravity=(0.0, 0.0, -1.0))


def run() -> Record:
    """Three seconds; at first the chassis is level and moves to the left without turning."""
    start, still = [0.0, REST, 0.0], [0.0, 0.0, -FREQUENCY * HEIGHT / LENGTH]
    return simulate(
        car_axis(), start, still, duration=3.0, step=1e-3, integrator="rkf45", motions={"road": axle_angle}
    )  # fmt: skip


EXAMPLE = Example(**texts("car_axis"), run=run)
