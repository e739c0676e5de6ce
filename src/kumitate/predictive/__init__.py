"""Predictive control: actions chosen by simulating what follows from them."""

from .iterated_lqr import OptimizedMotion, TrajectoryOptimizer, iterated_lqr
from .sampling import SamplingPlanner
from .terms import exactly, friction_cone, not_positive, velocity_of, within_limits

__all__ = [
    "OptimizedMotion", "SamplingPlanner", "TrajectoryOptimizer", "exactly", "friction_cone", "iterated_lqr", "not_positive",
    "velocity_of", "within_limits",
]  # fmt: skip
