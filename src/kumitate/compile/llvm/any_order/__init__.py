"""Loops whose passes may be computed in any order: passes become lanes where there is one state."""

from .eight_passes import in_blocks, read_inside, write_blocks
from .side_by_side import independent_loops, without_order, write_passes

__all__ = ["in_blocks", "independent_loops", "read_inside", "without_order", "write_blocks", "write_passes"]
