"""The drives of joints: what gives an effort at a joint, by its kind."""

from .contract import Command, Drive, DriveLaw
from .dc_motor import DCMotor
from .driven import Driven, by_loop, drive_states, driven_joints, freedoms
from .effort import EffortDrive
from .hydraulic import HydraulicCylinder
from .position import PositionDrive
from .velocity import VelocityDrive
from .with_state import DriveWithState

__all__ = [
    "DRIVES", "Command", "DCMotor", "Drive", "DriveLaw", "DriveWithState", "Driven", "EffortDrive", "HydraulicCylinder",
    "PositionDrive", "VelocityDrive", "by_loop", "drive_states", "driven_joints", "freedoms",
]  # fmt: skip

#: The kinds of drives by their names in files.
DRIVES: dict[str, type[Drive]] = {
    kind.kind: kind for kind in (EffortDrive, VelocityDrive, PositionDrive, DCMotor, HydraulicCylinder)
}
