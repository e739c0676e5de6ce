"""Predictive control: actions chosen by simulating what follows from them."""

from .sampling import SamplingPlanner

__all__ = ["SamplingPlanner"]
