"""Closing loops: the postures and velocities nearest to given ones at which they are closed."""
