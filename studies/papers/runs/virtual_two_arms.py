"""A free-floating robot whose two arms move as if both held one bar (T-f5): a virtual loop on a floating base."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from kumitate.control import blend, closed_by, virtual_loop
from kumitate.examples.catalogue import Curves, Example, Plate
from kumitate.kinematics import link_poses, place_pose
from kumitate.model import KINDS, Body, Box, Capsule, Cylinder, Geometry, Joint, Loop, Mechanism, Sphere
from kumitate.records.record import Record
from kumitate.simulate.run import simulate
from kumitate.spatial import Transform, pose

from ..virtual_loops import loop_distance, with_sampled

#: The joints of an arm: name, axis, and the length of the link that it turns [m] and that link's mass [kg].
ARM = (
    ("shoulder_yaw", (0.0, 0.0, 1.0), 0.0, 1.0), ("shoulder_pitch", (0.0, 1.0, 0.0), 0.5, 3.0),
    ("elbow", (0.0, 1.0, 0.0), 0.5, 2.0), ("wrist_roll", (1.0, 0.0, 0.0), 0.0, 0.5),
    ("wrist_pitch", (0.0, 1.0, 0.0), 0.0, 0.5), ("wrist_yaw", (0.0, 0.0, 1.0), 0.15, 0.5),
)  # fmt: skip
#: The angles of either arm at the start, and of the right arm at its goal [rad].
START = np.radians([0.0, 50.0, -100.0, 0.0, 50.0, 0.0])
GOAL = np.radians([35.0, 20.0, -75.0, 25.0, 45.0, -20.0])
#: Half the distance between both shoulders, and of both hands [m].
HALF = 0.3
#: Of virtual springs and dampers at the right arm's joints [N·m, N·m·s], of dampers at the left arm's [N·m·s], and when the
#: goal is reached [s].
STIFFNESS, DAMPING, LED, ARRIVAL = 40.0, 10.0, 0.5, 3.0
_GREY, _DARK, _BLUE, _ORANGE = (
    (0.80, 0.82, 0.85, 1.0),
    (0.20, 0.22, 0.26, 1.0),
    (0.16, 0.42, 0.70, 1.0),
    (0.90, 0.49, 0.13, 1.0),
)


def mechanism(gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Mechanism:
    """A trunk that floats and has no drive, and two arms of six joints; the right hand carries the bar."""
    box = Geometry(Box((0.35, 0.5, 0.6)), pose((-0.05, 0.0, -0.2)), _GREY)
    head = Geometry(Sphere(0.11), pose((0.0, 0.0, 0.25)), _DARK)
    trunk = Body("trunk", 30.0, inertia=(2.0, 1.2, 1.6), visuals=(box, head))
    bodies, joints = [trunk], [Joint("base", KINDS["floating"], "world", "trunk")]
    for side, y, color in (("right", -HALF, _BLUE), ("left", HALF, _ORANGE)):
        parent, where = "trunk", pose((0.0, y, 0.0))
        for name, axis, length, mass in ARM:
            body = _link(f"{side}_{name}", mass, length, color)
            joints.append(Joint(f"{side}_{name}", KINDS["revolute"], parent, body.name, where, axis))
            bodies.append(body)
            parent, where = body.name, pose((length, 0.0, 0.0))
        if side == "right":
            bar = Geometry(
                Capsule(0.025, 2.0 * HALF), pose((0.0, HALF, 0.0), (1.5707963267948966, 0.0, 0.0)), (0.20, 0.60, 0.40, 1.0)
            )
            bodies.append(Body("bar", 4.0, (0.0, HALF, 0.0), (0.12, 2e-3, 0.12), visuals=(bar,)))
            joints.append(Joint("grip", KINDS["fixed"], parent, "bar", where))
    return Mechanism("virtual_two_arms", tuple(bodies), tuple(joints), gravity=gravity)


def start() -> tuple[np.ndarray, Loop]:
    """q (19) with the bar level before the trunk, and the weld that would hold the left hand to the bar's other end."""
    q = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, *START, *START])
    robot = mechanism()
    poses = link_poses(robot.tree, q.tolist())
    X_WB, X_WH = (place_pose(robot.tree, poses, robot.tree.places[name]) for name in ("bar", "left_wrist_yaw"))
    return q, Loop("left_grip", KINDS["fixed"], "bar", "left_wrist_yaw", X_WB.inverse() @ X_WH, Transform())


def efforts(t: Any, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Virtual: the right arm is pulled to its goal, the left one is guided by the bar alone; the base has no drive."""
    aim = START + blend(t, 0.0, ARRIVAL) * (GOAL - START)
    return np.concatenate([np.zeros(6), STIFFNESS * (aim - q[7:13]) - DAMPING * v[6:12], -LED * v[12:]])


def run(gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Record:
    """Five seconds from rest.

    Args:
        gravity: by which the robot falls freely [m/s²]; nothing but its base sees any of it.
    """
    q0, grip = start()
    robot = mechanism(gravity)
    law = partial(virtual_loop, robot, [grip], efforts=efforts, undriven=("base",))
    result = simulate(robot, q0, np.zeros(18), duration=5.0, step=1e-3, integrator="rk4", controller=law())
    return with_sampled(result, law, gap, "the left hand is off the bar by")


def gap(result: Record) -> np.ndarray:
    """How far (n) [m] the left hand is from its place on the bar."""
    return loop_distance(closed_by(result.mechanism, [start()[1]]), result.q, result.v)


def plates(result: Record) -> Mapping[str, Plate]:
    """How the hands keep together, and what the base does about it."""
    turn = np.degrees(2.0 * np.arcsin(np.clip(result.q[:, :3], -1.0, 1.0)))
    panels = (
        Curves("Left hand off the bar", "m", ("distance",), gap(result)[:, None], log=True),
        Curves("Turn of the trunk", "deg", ("x", "y", "z"), turn),
        Curves("Effort at the base", "N·m, N", ("greatest of six",), np.abs(result.tau[:, :6]).max(axis=1)[:, None]),
        Curves("Momentum", "kg·m²/s, kg·m/s", ("angular", "linear"), _sizes(result.momentum), log=True),
    )
    caption = (
        "Nothing holds the left hand to the bar but its arm's torques, and nothing drives the trunk, which turns and shifts "
        "as the arms make it: the momentum of the whole stays zero."
    )
    return {"virtual": Plate(panels, caption)}


def _sizes(momentum: np.ndarray) -> np.ndarray:
    return np.column_stack([np.linalg.norm(momentum[:, :3], axis=1), np.linalg.norm(momentum[:, 3:], axis=1)])


def _link(name: str, mass: float, length: float, color: tuple[float, float, float, float]) -> Body:
    """A round bar along x, or a drive where links meet."""
    if not length:
        return Body(name, mass, inertia=(mass * 2e-3,) * 3, visuals=(Geometry(Sphere(0.055), color=_DARK),))
    rod = Geometry(Capsule(0.04, length), pose((0.5 * length, 0.0, 0.0), (0.0, 1.5707963267948966, 0.0)), color)
    pin = Geometry(Cylinder(0.055, 0.1), pose(rpy=(1.5707963267948966, 0.0, 0.0)), _DARK)
    across = mass * length**2 / 12.0 + 1e-3 * mass
    return Body(name, mass, (0.5 * length, 0.0, 0.0), (1e-3 * mass, across, across), visuals=(rod, pin))


EXAMPLE = Example(
    name="virtual_two_arms",
    title="Free-floating robot with two arms that move as if they held one bar",
    rows=("T-f5",),
    summary=(
        "A trunk of 30 kg floats without gravity; the right hand carries a bar, and the left arm moves as if its hand were "
        "welded to the bar's other end, by its torques alone. The right arm is drawn to another posture; the trunk, which "
        "nothing drives, turns in reaction. The hand stays on the bar to 1e-6 m over 5 s, and the momentum stays zero."
    ),
    run=run,
    panels=("q", "v", "a", "tau", "momentum", "energy"),
    plates=plates,
)
