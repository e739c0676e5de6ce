"""Inverse kinematics: the posture at which places of a robot are where goals want them."""

from .contract import Goal, Posture
from .places import LookAtGoal, OrientationGoal, PoseGoal, PositionGoal
from .postures import CenterOfMassGoal, PostureGoal
from .search import Reached, inverse_kinematics

__all__ = [
    "CenterOfMassGoal", "Goal", "LookAtGoal", "OrientationGoal", "PoseGoal", "PositionGoal", "Posture", "PostureGoal",
    "Reached", "inverse_kinematics",
]  # fmt: skip
