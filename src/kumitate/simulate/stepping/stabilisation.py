"""How closed loops are kept closed along a run."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Stabilisation"]


class Stabilisation(NamedTuple):
    """How loops are kept closed: by projection after every step, by errors that decay at a rate [1/s], or not at all."""

    projects: bool = True
    baumgarte: float = 0.0
