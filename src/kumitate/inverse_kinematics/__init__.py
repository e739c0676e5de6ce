"""Inverse kinematics: the posture at which places of a robot are where goals want them."""

from .center_of_mass import CenterOfMassGoal
from .contract import Goal, Posture
from .look_at import LookAtGoal
from .orientation import OrientationGoal
from .pose import PoseGoal
from .position import PositionGoal
from .posture import PostureGoal
from .search import Reached, inverse_kinematics

__all__ = [
    "CenterOfMassGoal", "Goal", "LookAtGoal", "OrientationGoal", "PoseGoal", "PositionGoal", "Posture", "PostureGoal",
    "Reached", "inverse_kinematics",
]  # fmt: skip
