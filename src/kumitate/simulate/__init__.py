"""Simulation: integrators, the step, the run, the result and its file."""
