"""Robots in a scene: their velocities by joints, and what contact with their links does to them.

A robot's velocities, those of its joints, stand in rows of six, so that its inertia has the blocks of free bodies; the last row
is filled up by zeros. The twist of a link about its own origin is Σ J v over these rows, a wrench on it is felt as Jᵀ w, and
impulses change v by M⁻¹ Jᵀ w: M is that of a step implicit in the dampers and springs of the joints.
"""

from __future__ import annotations

from .links import gather, leads, spread
from .motion import are_finite, begin_settling, move_robots, place_robots, settle, write_reached
from .response import let_go, nudged, pushed, yielded

__all__ = [
    "are_finite", "begin_settling", "gather", "leads", "let_go", "move_robots", "nudged", "place_robots", "pushed", "settle",
    "spread", "write_reached", "yielded",
]  # fmt: skip
