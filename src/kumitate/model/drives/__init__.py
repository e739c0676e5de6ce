"""The drives of joints: what gives an effort at a joint, by its kind."""

from .contract import Command, Drive, DriveLaw, DriveWithState, drive_states
from .hydraulic import HydraulicCylinder
from .stateless import DCMotor, EffortDrive, PositionDrive, VelocityDrive

__all__ = [
    "DRIVES", "Command", "DCMotor", "Drive", "DriveLaw", "DriveWithState", "EffortDrive", "HydraulicCylinder",
    "PositionDrive", "VelocityDrive", "drive_states",
]  # fmt: skip

#: The kinds of drives by their names in files.
DRIVES: dict[str, type[Drive]] = {
    kind.kind: kind for kind in (EffortDrive, VelocityDrive, PositionDrive, DCMotor, HydraulicCylinder)
}
