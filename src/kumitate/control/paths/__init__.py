"""Motions planned over time: splines, trapezoidal velocities, poses, and smooth steps."""
