"""Kinematics: poses, velocities, Jacobians and the center of mass."""

from .configuration import (
    carried,
    difference,
    gathered,
    integrate,
    motion_of,
    neutral,
    normalized,
    random_coordinates,
    rate,
    spread,
    turning,
)
from .poses import (
    center_of_mass,
    chord_branches,
    chord_closing,
    chord_errors,
    chord_motion,
    gear_errors,
    jacobian,
    jacobian_rate,
    link_poses,
    link_twists,
    place_pose,
    place_twist,
    support_function,
    total_mass,
    world_velocity,
)

__all__ = [
    "carried", "center_of_mass", "chord_branches", "chord_closing", "chord_errors", "chord_motion", "difference", "gathered",
    "gear_errors", "integrate", "jacobian", "jacobian_rate", "link_poses", "link_twists", "motion_of",
    "neutral", "normalized", "place_pose", "place_twist", "random_coordinates", "rate", "spread", "support_function",
    "total_mass", "turning", "world_velocity",
]  # fmt: skip
