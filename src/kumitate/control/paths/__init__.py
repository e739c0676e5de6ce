"""Motions planned over time: splines, trapezoidal velocities, poses, and smooth steps."""

from .spline import PoseSpline, Spline
from .timing import Trapezoid, blend, clamp, smooth_clamp, smooth_step, smooth_trapezoid

__all__ = ["PoseSpline", "Spline", "Trapezoid", "blend", "clamp", "smooth_clamp", "smooth_step", "smooth_trapezoid"]
