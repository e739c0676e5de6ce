"""The humanoid G1, dropped onto its feet, and standing."""

from ...contact import Contact, Surface
from ...results.result import Result
from ...simulate.run import simulate
from ..catalogue import Example, texts
from ..legged import Stance, legged

#: Where example-robot-data keeps it.
FILE = "g1_description/urdf/g1_29dof_rev_1_0.urdf"
FEET = ("left_ankle_roll_link", "right_ankle_roll_link")
#: Knees bent a little, soles level, elbows bent.
ANGLES = {
    f"{side}_{joint}_joint": angle
    for side in ("left", "right")
    for joint, angle in {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3, "elbow": 0.6}.items()
}


def stance() -> Stance:
    """With springs of 500 N·m/rad in every joint, the soles two centimetres above the floor."""
    return Stance(legged(FILE, FEET), ANGLES, stiffness=500.0, damping=15.0, height=0.02)


def run() -> Result:
    """Two seconds."""
    start = stance()
    ground = Contact(surface=Surface(friction=0.8))
    return simulate(start.mechanism, start.q, duration=2.0, controller=start.torques.tolist(), contact=ground)


EXAMPLE = Example(**texts("humanoid_standing"), run=run)
