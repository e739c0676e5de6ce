"""Sweeps: all runs of a scenario, in blocks over processes or machines, in one table."""

from .sweep import Progress, Sweep, open_sweep, sweep

__all__ = ["Progress", "Sweep", "open_sweep", "sweep"]
