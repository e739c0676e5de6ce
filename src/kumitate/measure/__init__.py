"""Timing of compiled code on this machine, and the best partition into sub-chains by such measurements."""

from .best_partition import BestPartition, PartitionTrial, best_partition
from .machine import machine
from .timing import Contender, Effort, Timing, by_turns

__all__ = ["BestPartition", "Contender", "Effort", "PartitionTrial", "Timing", "best_partition", "by_turns", "machine"]
