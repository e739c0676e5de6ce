"""Legged robots: gaits, plans of the center of mass, whole-body inverse kinematics, pushes."""

from .gait import FootPlan, Gait
from .linear_pendulum import MassCenterPlan, mass_center_plan
from .pushes import closed_gravity_compensation, half_sine, pulse, push
from .whole_body_ik import JointTrajectory, Upright

__all__ = [
    "FootPlan", "Gait", "JointTrajectory", "MassCenterPlan", "Upright", "closed_gravity_compensation", "half_sine",
    "mass_center_plan", "pulse", "push",
]  # fmt: skip
