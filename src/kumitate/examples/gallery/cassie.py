"""Cassie, the two-legged robot, hanging by its pelvis: a machine whose file closes loops."""

import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...analysis import LoopEquations, assemble
from ...contact import on_ground
from ...errors import KumitateWarning
from ...kinematics import integrate
from ...model import KINDS, Body, Geometry, Joint, Loop, Mechanism, PositionDrive, Sphere, lock
from ...model.read import read_file
from ...records.record import Record
from ...simulate.run import simulate
from ...spatial import pose
from ..catalogue import Example, texts
from ..legged import robot_file

#: Where example-robot-data keeps it: of its five files the one without gearboxes, with all loops and springs.
FILE = "cassie_description/robots/cassie_wo_gearbox_spring.sdf"
#: Both legs stand so at first [rad], but for what closing the loops changes.
POSTURE = {"knee-op": -0.15, "shin-tarsus-joint": 0.3, "tarsus-crank-joint": -1.6, "crank-rod-joint": 1.6, "foot-op": -1.6}
#: And each by itself [rad].
LEFT = {"roll-op": 0.15, "yaw-op": 0.1, "pitch-op": 0.5}
RIGHT = {"roll-op": 0.05, "yaw-op": -0.1, "pitch-op": -0.2}
SIDES = ("left", "right")
#: Both legs stand so on a floor [rad]: the soles are level, and the center of mass is 2 cm behind their middles, towards which
#: the springs of the legs give way.
STANDING = {"pitch-op": 0.2588, "tarsus-crank-joint": -1.3615, "crank-rod-joint": 1.3615, "foot-op": -1.3615}
#: The motors of a leg and gains that hold it standing [N·m/rad, N·m·s/rad]; cranks turn feet, whose stiffness carries the body,
#: an inverted pendulum of m g h = 190 N·m/rad.
STIFF = {
    "roll-op": (500.0, 50.0), "yaw-op": (500.0, 50.0), "pitch-op": (500.0, 50.0), "knee-op": (500.0, 50.0),
    "tarsus-crank-joint": (1000.0, 100.0),
}  # fmt: skip


def cassie() -> Mechanism:
    """The robot as example-robot-data has it, its pelvis held where the file allows it to slide."""
    path = robot_file(FILE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KumitateWarning)  # `kumitate check` reports them
        return lock(read_file(path), {"static": [0.0]})


def start(mechanism: Mechanism) -> np.ndarray:
    """The assembled coordinates (nq) nearest to the posture above with all springs at ease."""
    turned = {f"left-{name}": angle for name, angle in {**POSTURE, **LEFT}.items()}
    return _assembled(mechanism, turned | {f"right-{name}": angle for name, angle in {**POSTURE, **RIGHT}.items()})


def freed(mechanism: Mechanism) -> Mechanism:
    """The robot with rods behind the knees that turn about two axes where they push the springs at the heels.

    The file has one axis there, 4.5° from those of the leg, where the robot has a ball: this all but locks the knees.
    """

    def universal(joint: Joint) -> Joint:
        rod = joint.pose.rotation.unrotate(joint.pose.translation)  # about which it need not turn
        second = np.cross(joint.axis, [*rod])
        axes = joint.axis, second / np.linalg.norm(second)
        return Joint(joint.name, KINDS["universal"], joint.parent, joint.child, joint.pose, *axes)

    joints = (universal(joint) if joint.name.endswith("achilles-spring-joint") else joint for joint in mechanism.joints)
    return replace(mechanism, joints=tuple(joints))


def standing(mechanism: Mechanism | None = None, angles: Mapping[str, float] = STANDING) -> tuple[Mechanism, np.ndarray]:
    """The robot free on the floor z = 0, with drives that hold it upright, and the coordinates (nq) that they hold.

    Only its feet touch: by spheres at the ends of the file's cylinders, which touch a level floor where these do.
    """
    held = mechanism or cassie()
    posture = _assembled(held, {f"{side}-{name}": angle for side in SIDES for name, angle in angles.items()})
    bodies = (replace(body, collisions=_ends(body) if body.name.endswith("-foot") else ()) for body in held.bodies)
    base = Joint("base", KINDS["floating"], "world", "pelvis")
    joints = (base if joint.child == "pelvis" else joint for joint in held.joints)
    robot = replace(held, name="cassie_standing", bodies=tuple(bodies), joints=tuple(joints)).with_drives(
        {f"{side}-{name}": PositionDrive(kp=kp, kd=kd) for side in SIDES for name, (kp, kd) in STIFF.items()}
    )
    return robot, on_ground(robot, [*base.kind.neutral(), *posture.tolist()])


def _ends(foot: Body) -> tuple[Geometry, ...]:
    """Spheres at both ends of a foot's cylinder."""
    (cylinder,) = foot.collisions
    radius, half = cylinder.shape.radius, 0.5 * cylinder.shape.length  # type: ignore[attr-defined]
    return tuple(Geometry(Sphere(radius), cylinder.pose @ pose((0.0, 0.0, z))) for z in (-half, half))


def _assembled(mechanism: Mechanism, turned: Mapping[str, float]) -> np.ndarray:
    """The assembled coordinates (nq) nearest to these angles of joints [rad] with all springs at ease."""
    stiff = tuple(
        Loop(loop.name, KINDS["fixed"], loop.body_a, loop.body_b, loop.pose_a, loop.pose_b) if np.any(loop.stiffness) else loop
        for loop in mechanism.loops
    )
    springs = {joint.name: joint.rest for joint in mechanism.joints if np.any(joint.stiffness)}
    rigid = lock(replace(mechanism, loops=stiff), springs)
    neutral = [x for joint in rigid.joints for x in joint.kind.neutral()]
    moved = integrate(rigid.tree, neutral, [turned.get(name, 0.0) for name in rigid.v_names])
    found = dict(zip(rigid.q_names, assemble(LoopEquations(rigid), np.array(moved))[0], strict=True))
    return np.array([found.get(name, 0.0) for name in mechanism.q_names])


def run() -> Record:
    """Three seconds from rest."""
    robot = cassie()
    return simulate(robot, start(robot), duration=3.0, step=2e-4, integrator="rkf45", limits=False)


EXAMPLE = Example(**texts("cassie"), run=run)
