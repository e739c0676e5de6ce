"""Any convex solid against any other: distance, depth, and the points of the faces that meet."""

from .pair import closest, convex_convex, gap_along

__all__ = ["closest", "convex_convex", "gap_along"]
