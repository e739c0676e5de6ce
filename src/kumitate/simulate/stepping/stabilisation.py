"""How closed loops are kept closed along a run."""

from __future__ import annotations

from typing import NamedTuple


class Stabilisation(NamedTuple):
    """How loops are kept closed: by projection, by errors that decay at a rate [1/s], or not at all.

    Attributes:
        projects: whether by projection.
        baumgarte: the rate [1/s], without projection.
        strict: whether to project at the end of every step and at all inner stages, with factors of its own each time. Else a
            step begins with one linearised projection that shares the factors of its first accelerations, if that is enough.
    """

    projects: bool = True
    baumgarte: float = 0.0
    strict: bool = False
