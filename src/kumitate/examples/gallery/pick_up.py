"""An arm with a gripper picks up a cube from the floor, carries it, and puts it down."""

from dataclasses import replace

import numpy as np

from ...contact import Contact, Surface
from ...control import Spline, computed_torque
from ...inverse_kinematics import PoseGoal, inverse_kinematics
from ...model import KINDS, Frame, Joint, Mechanism, PositionDrive, attach
from ...model.samples import pa10
from ...model.solid_bodies import box
from ...records.record import Record
from ...simulate.run import simulate
from ...spatial import pose
from ..catalogue import Example, texts

#: Where the hand goes [m], at what time [s], and how far each finger is told to be from its middle [m].
ABOVE, GRASP, BEYOND, PUT = (0.6, 0.0, 0.35), (0.6, 0.0, 0.04), (0.4, 0.5, 0.35), (0.4, 0.5, 0.04)
WAY, TIMES = [ABOVE, GRASP, GRASP, ABOVE, BEYOND, PUT, PUT, BEYOND], [0.0, 1.0, 1.3, 2.0, 3.2, 4.0, 4.3, 5.2]
OPENING, DARK = [0.06, 0.06, 0.01, 0.01, 0.01, 0.01, 0.06, 0.06], (0.2, 0.22, 0.25, 1.0)


def gripper() -> Mechanism:
    """A palm and two fingers, which drives close with up to 20 N; "grip" is in the middle between their tips."""
    palm = replace(box((0.05, 0.18, 0.04), mass=0.5, name="palm", color=DARK), collisions=())
    fingers = [box((0.03, 0.02, 0.1), mass=0.1, name=f"{side}_finger", color=DARK) for side in ("left", "right")]
    drive, sliding = PositionDrive(kp=1000.0, kd=10.0, limit=20.0), KINDS["prismatic"]
    joints = [Joint("mount", KINDS["fixed"], "world", "palm", pose((0.0, 0.0, 0.02)))]
    for y, finger in zip((1.0, -1.0), fingers, strict=True):
        at = pose((0.0, 0.01 * y, 0.07))
        joints.append(Joint(f"{finger.name}_slide", sliding, "palm", finger.name, at, (0.0, y, 0.0), drive=drive))
    return Mechanism("hand", (palm, *fingers), tuple(joints), frames=(Frame("grip", "palm", pose((0.0, 0.0, 0.11))),))


def run() -> Record:
    """Five and a half seconds."""
    arm = attach(pa10(), gripper(), "link7")
    q, postures = np.array([0.0, 0.6, 0.0, 1.6, 0.0, 0.9, 0.0, 0.06, 0.06]), []
    for place, gap in zip(WAY, OPENING, strict=True):
        q = inverse_kinematics(arm, PoseGoal("grip", pose(place, (np.pi, 0.0, 0.0))), q).q
        postures.append([*q[:7], gap, gap])
    path = Spline(TIMES, postures, velocities=0.0 * np.array(postures), accelerations=0.0 * np.array(postures))
    law = computed_torque(arm, path, kp=[400.0] * 7 + [0.0] * 2, kd=[40.0] * 7 + [0.0] * 2)
    cube = box((0.06, 0.06, 0.06), mass=0.3, name="cube", color=(0.9, 0.5, 0.2, 1.0))
    whole = attach(arm, Mechanism("cube", (cube,), (Joint("cube", KINDS["floating"], "world", "cube"),)), "world")

    return simulate(
        whole, [*path(0.0), 0.0, 0.0, 0.0, 1.0, *GRASP[:2], 0.03], duration=5.5, inputs={"target": lambda t, q, v: path(t)[7:]},
        controller=lambda t, q, v: np.array([*law(t, q[:9], v[:9]), *[0.0] * 6]), contact=Contact(surface=Surface(0.8)),
    )  # fmt: skip


EXAMPLE = Example(**texts("pick_up"), run=run)
