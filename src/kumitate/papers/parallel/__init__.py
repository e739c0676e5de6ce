"""ADA in O(log n) rounds for n links, each a batch of one program (T 8.2, item 2)."""

from .plan import parallel_ada

__all__ = ["parallel_ada"]
