"""The humanoid G1, dropped onto its feet, and standing."""

from ..catalogue import Example, texts
from ..legged import Stance, dropped, legged

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


EXAMPLE = Example(**texts("humanoid_standing"), run=lambda: dropped(stance()))
