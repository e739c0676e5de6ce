"""The drives of joints: what gives an effort at a joint, by its kind."""

from .contract import Command, Drive, DriveLaw
from .dc_motor import DCMotor
from .effort import EffortDrive
from .position import PositionDrive
from .velocity import VelocityDrive

__all__ = ["DRIVES", "Command", "DCMotor", "Drive", "DriveLaw", "EffortDrive", "PositionDrive", "VelocityDrive"]

#: The kinds of drives by their names in files.
DRIVES: dict[str, type[Drive]] = {kind.kind: kind for kind in (EffortDrive, VelocityDrive, PositionDrive, DCMotor)}
