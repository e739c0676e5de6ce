"""The points of a step: their frames, levers, masses, velocities, and the velocities that they must reach."""

from __future__ import annotations

from .preparing import keep_near, prepare, relative, stored, yields

__all__ = ["keep_near", "prepare", "relative", "stored", "yields"]
