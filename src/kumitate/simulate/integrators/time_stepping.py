"""Steps over rigid contact: velocities may jump within them (Moreau 1988)."""

from __future__ import annotations

from typing import Any

from ...scalar import when
from .contract import Integrator, State, System

__all__ = ["TimeStepping"]

Scalar = Any


class TimeStepping(Integrator):
    """v₁ from v + h v̇ by the contact's impulses, q₁ = q ⊕ h v₁; where nothing touches, a step of the integrator `flight`.

    Of order one where something touches. Impacts are not looked for: they fall into the step that they happen in.
    """

    name = "time_stepping"
    order = 1
    implicit_damping = True

    def __init__(self, flight: Integrator | None = None):
        self.flight = flight

    def step(self, system: System, t: Scalar, h: Scalar, state: State) -> tuple[State, Scalar]:
        acceleration, _ = system.dynamics(t, h, state.q, state.v)
        # contact acts in the axes before the step; with a free body's own axes turning under it, its speed would grow
        turning = system.turning(state.v)
        v_free = [rate + h * (a - b) for rate, a, b in zip(state.v, acceleration, turning, strict=True)]
        v, gained, touching = system.impact(h, state.q, state.v, v_free)
        move = [h * rate for rate in v]
        q_after, v_after = system.settled(system.integrate(state.q, move), system.carried(v, move))
        # velocities jump: what acts in between works along their mean, as the kinetic energy grows
        power = system.power(t, state.q, state.v, [0.5 * (a + b) for a, b in zip(state.v, v, strict=True)])
        after = State(list(q_after), list(v_after), state.work + h * power + gained)
        if self.flight is None:
            return after, 0.0
        flight = self.flight

        def flown() -> State:
            flown, _ = flight.step(system, t, h, state)
            return State(list(flown.q), list(flown.v), flown.work)

        return when(touching < 0.5, flown, after), 0.0
