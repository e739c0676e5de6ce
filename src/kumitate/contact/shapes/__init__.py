"""Shapes against shapes: points of contact, normals and gaps, over scalars (S, sections 2.1 and 3.3)."""

from .bounds import bounding_radius
from .pairs import PAIRS, capacity, touches
from .touch import FAR, Touch

__all__ = ["FAR", "PAIRS", "Touch", "bounding_radius", "capacity", "touches"]
