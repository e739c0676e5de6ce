"""Simulation: integrators, the step, the run, the result and its file."""

from .audit import Audit
from .integrators import INTEGRATORS, Integrator
from .result import Energy, JointMotion, Result
from .run import simulate

__all__ = ["INTEGRATORS", "Audit", "Energy", "Integrator", "JointMotion", "Result", "simulate"]
