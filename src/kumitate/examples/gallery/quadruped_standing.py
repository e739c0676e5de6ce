"""The quadruped ANYmal, dropped onto its feet, and standing."""

from ..catalogue import Example, texts
from ..legged import Stance, dropped, legged

#: Where example-robot-data keeps it.
FILE = "anymal_b_simple_description/robots/anymal.urdf"
FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")
#: The posture "standing" of the robot's own files.
ANGLES = {
    "LF_HAA": -0.1, "LF_HFE": 0.7, "LF_KFE": -1.0, "RF_HAA": 0.1, "RF_HFE": 0.7, "RF_KFE": -1.0,
    "LH_HAA": -0.1, "LH_HFE": -0.7, "LH_KFE": 1.0, "RH_HAA": 0.1, "RH_HFE": -0.7, "RH_KFE": 1.0,
}  # fmt: skip


def stance() -> Stance:
    """With springs of 300 N·m/rad in every joint, the feet five centimetres above the floor."""
    return Stance(legged(FILE, FEET), ANGLES, stiffness=300.0, damping=10.0, height=0.05)


EXAMPLE = Example(**texts("quadruped_standing"), run=lambda: dropped(stance()))
