"""Motions planned over time: splines, trapezoidal velocities, poses, and smooth steps."""

from .pose_spline import PoseSpline
from .smooth_steps import blend, clamp, smooth_clamp, smooth_step, smooth_trapezoid
from .spline import Spline
from .trapezoid import Trapezoid

__all__ = ["PoseSpline", "Spline", "Trapezoid", "blend", "clamp", "smooth_clamp", "smooth_step", "smooth_trapezoid"]
