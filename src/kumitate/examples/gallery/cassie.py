"""Cassie, the two-legged robot, hanging by its pelvis: a machine whose file closes loops."""

import warnings
from dataclasses import replace

import numpy as np

from ...analysis import LoopEquations, assemble
from ...errors import KumitateWarning
from ...kinematics import integrate
from ...model import KINDS, Loop, Mechanism, lock
from ...model.read import read_file
from ...simulate.results.result import Result
from ...simulate.run import simulate
from ..catalogue import Example
from ..robot_data import robot_file

#: Where example-robot-data keeps it: of its five files the one without gearboxes, with all loops and springs.
FILE = "cassie_description/robots/cassie_wo_gearbox_spring.sdf"
#: Both legs stand so at first [rad], but for what closing the loops changes.
POSTURE = {"knee-op": -0.15, "shin-tarsus-joint": 0.3, "tarsus-crank-joint": -1.6, "crank-rod-joint": 1.6, "foot-op": -1.6}
#: And each by itself [rad].
LEFT = {"roll-op": 0.15, "yaw-op": 0.1, "pitch-op": 0.5}
RIGHT = {"roll-op": 0.05, "yaw-op": -0.1, "pitch-op": -0.2}


def cassie() -> Mechanism:
    """The robot as example-robot-data has it, its pelvis held where the file allows it to slide.

    Raises:
        InputError: if the files are not there.
    """
    path = robot_file(FILE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KumitateWarning)  # `kumitate check` reports them
        return lock(read_file(path), {"static": [0.0]})


def start(mechanism: Mechanism) -> np.ndarray:
    """The assembled coordinates (nq) nearest to the posture above with all springs at ease."""
    stiff = tuple(
        Loop(loop.name, KINDS["fixed"], loop.body_a, loop.body_b, loop.pose_a, loop.pose_b) if np.any(loop.stiffness) else loop
        for loop in mechanism.loops
    )
    springs = {joint.name: joint.rest for joint in mechanism.joints if np.any(joint.stiffness)}
    rigid = lock(replace(mechanism, loops=stiff), springs)
    turned = {f"left-{name}": angle for name, angle in {**POSTURE, **LEFT}.items()}
    turned |= {f"right-{name}": angle for name, angle in {**POSTURE, **RIGHT}.items()}
    neutral = [x for joint in rigid.joints for x in joint.kind.neutral()]
    moved = integrate(rigid.tree, neutral, [turned.get(name, 0.0) for name in rigid.v_names])
    found = dict(zip(rigid.q_names, assemble(LoopEquations(rigid), np.array(moved))[0], strict=True))
    return np.array([found.get(name, 0.0) for name in mechanism.q_names])


def run() -> Result:
    """Three seconds from rest."""
    robot = cassie()
    return simulate(robot, start(robot), duration=3.0, step=2e-4, integrator="rkf45", limits=False)


EXAMPLE = Example(
    name="cassie",
    title="Cassie, hanging by its pelvis",
    rows=(),
    summary=(
        "The two-legged robot swings freely for 3 s, its motors off, with the damping and springs of its file. Each leg has "
        "two loops: a rod from the hip holds the heel spring to the tarsus, and a rod from a crank turns the foot. The loops "
        "stay closed to rounding. Needs the robot's files and meshes: pip install 'kumitate[robots,mesh]'."
    ),
    run=run,
)
