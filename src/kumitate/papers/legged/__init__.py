"""Legged robots: gaits, plans of the center of mass, whole-body inverse kinematics, the three-joint model of balance."""

from .gait import FootPlan, Gait, MassCenterPlan, mass_center_plan
from .three_joint_model import ThreeJointModel
from .whole_body_ik import JointTrajectory, Upright

__all__ = ["FootPlan", "Gait", "JointTrajectory", "MassCenterPlan", "ThreeJointModel", "Upright", "mass_center_plan"]
