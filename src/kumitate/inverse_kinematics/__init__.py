"""Inverse kinematics: the posture at which places of a robot are where goals want them."""

from .goals import CenterOfMassGoal, Goal, LookAtGoal, OrientationGoal, PoseGoal, PositionGoal, Posture, PostureGoal
from .search import Reached, inverse_kinematics
from .stance import StandingPosture, stance

__all__ = [
    "CenterOfMassGoal", "Goal", "LookAtGoal", "OrientationGoal", "PoseGoal", "PositionGoal", "Posture", "PostureGoal",
    "Reached", "StandingPosture", "inverse_kinematics", "stance",
]  # fmt: skip
