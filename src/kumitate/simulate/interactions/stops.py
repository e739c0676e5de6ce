"""Limits of joints as stops, without contact of bodies: their impulses, and how runs step with them."""

from __future__ import annotations

from functools import cached_property

from ...contact.impulse.step import impact_program
from ...contact.models import rigid
from ...model import Bound, Mechanism
from ...scalar import Program
from ..integrators import Integrator, WithStops
from .contract import Asked, Interaction

__all__ = ["Stops"]


class Stops(Interaction):
    """A mechanism whose joints stop at their limits.

    Attributes:
        bounds: the limits.
    """

    key, content = ("stops",), "stops"

    def __init__(self, mechanism: Mechanism, bounds: tuple[Bound, ...]):
        super().__init__(mechanism)
        self.bounds = bounds

    @cached_property
    def impacts(self) -> Program:  # type: ignore[override]
        """(h, q, v, v_free) → the velocities after a step, and what the stops did."""
        return impact_program(self.mechanism, None, rigid, self.bounds)

    def integrator(self, asked: Asked, notes: list[str]) -> Integrator:
        return WithStops(super().integrator(asked, notes))
