"""`StepSlopes`: a step and its derivatives, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from .active import ActiveSet

__all__ = ["StepSlopes"]


@dataclass(frozen=True, eq=False)
class StepSlopes:
    """A step and its derivatives: δx' = A δx + B δu, for small changes of the state and of what drives it.

    δx = (ξ, δv): the displacement ξ (nv) of q along the degrees of freedom, as by `Robot.integrate`, and the change of the
    components of v. Leading axes are those of the states.

    Attributes:
        q, v: the state after the step (..., nq) and (..., nv).
        A: (..., 2nv, 2nv).
        B: (..., 2nv, m), by all efforts and inputs, one after the other.
        places: where each of them stands among the columns of B: "tau", wrenches by place, drives of loops, inputs.
    """

    q: np.ndarray
    v: np.ndarray
    A: np.ndarray
    B: np.ndarray
    places: Mapping[str, slice] = field(repr=False)
    _look: Callable[[], ActiveSet] = field(repr=False)

    @cached_property
    def active(self) -> ActiveSet:
        """What touches in the step, and how; at borders the derivatives hold on one side only (computed on first use)."""
        return self._look()

    def by(self, name: str) -> np.ndarray:
        """The columns of B of one effort or input, by its name in `places`."""
        return self.B[..., self.places[name]]
