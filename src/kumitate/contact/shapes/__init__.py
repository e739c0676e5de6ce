"""Collision between shapes: contact points, normals and gaps, over scalars (S, sections 2.1 and 3.3)."""

from .pairs import PAIRS, capacity, touches, without_routine
from .touch import FAR, Touch

__all__ = ["FAR", "PAIRS", "Touch", "capacity", "touches", "without_routine"]
