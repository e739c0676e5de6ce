"""How closed loops are kept closed along a run."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...errors import InputError
from ...model.values import shown
from ..checks import checked_baumgarte

__all__ = ["STABILISATIONS", "Stabilisation"]

#: How steps keep loops closed by projection, by the names that users give.
STABILISATIONS = ("lagged", "strict")


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

    @classmethod
    def of(cls, stabilisation: Any, baumgarte: Any) -> Stabilisation:
        """By the options of a simulation.

        Raises:
            InputError: for another name than `STABILISATIONS`, or a wrong rate; for strict projection with errors that decay.
        """
        if stabilisation not in STABILISATIONS:
            raise InputError(f"stabilisation is {shown(stabilisation)}; it must be one of {', '.join(STABILISATIONS)}")
        strict = stabilisation == "strict"
        if baumgarte is None:
            return cls(strict=strict)
        if strict:
            raise InputError("stabilisation is 'strict', which projects, and baumgarte is given, which does not; leave one out")
        return cls(False, checked_baumgarte(baumgarte))
