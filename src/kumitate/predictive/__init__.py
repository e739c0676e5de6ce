"""Predictive control: actions chosen by simulating what follows from them."""

from .iterated_lqr import OptimizedMotion, iterated_lqr
from .sampling import SamplingPlanner

__all__ = ["OptimizedMotion", "SamplingPlanner", "iterated_lqr"]
