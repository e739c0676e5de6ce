"""The drives of joints: what gives an effort at a joint, by its kind."""

from .contract import Command, Drive, DriveLaw
from .effort import EffortDrive
from .position import PositionDrive
from .velocity import VelocityDrive

__all__ = ["DRIVES", "Command", "Drive", "DriveLaw", "EffortDrive", "PositionDrive", "VelocityDrive"]

#: The kinds of drives by their names in files.
DRIVES: dict[str, type[Drive]] = {kind.kind: kind for kind in (EffortDrive, VelocityDrive, PositionDrive)}
