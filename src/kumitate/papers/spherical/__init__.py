"""Three revolute joints merged into one spherical joint, by Euler angles or by a quaternion (T 8.2, items 2 and 3)."""

from .merge_spherical import merge_spherical
from .spherical_states import SphericalMerge

__all__ = ["SphericalMerge", "merge_spherical"]
