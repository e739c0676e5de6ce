"""The humanoid G1, dropped onto its feet, and standing."""

from ...contact.scene import Contact
from ...contact.surface import Surface
from ...results.result import Result
from ...simulate.run import simulate
from ..catalogue import Example
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


EXAMPLE = Example(
    name="humanoid_standing",
    title="G1, dropped onto its feet",
    rows=(),
    summary=(
        "The humanoid of 29 joints and 33 kg falls 2 cm onto the eight spheres under its soles and stands, each joint held by "
        "a spring, a damper and the torque that it bears at rest: the floor carries 327 N. Needs the robot's files: "
        "pip install 'kumitate[robots]'."
    ),
    run=run,
    panels=("q", "v", "center_of_mass", "energy", "contact_forces", "center_of_pressure", "contact_residual"),
)
