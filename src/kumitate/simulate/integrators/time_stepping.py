"""Time stepping with rigid contact: velocities may jump within a step (Moreau 1988)."""

from __future__ import annotations

import math

from ...scalar import Scalar, select, when
from .contract import Impact, Integrator, IntegratorState, MechanicalSystem

__all__ = ["FAILED", "TimeStepping"]

#: The solver for the impulses has failed if the contact laws are missed by more than this part of the points' speeds.
FAILED = 1e-3
#: Velocities that miss the contact laws by more than this many times the points' previous speeds are not a usable solution:
#: `kumitate.papers.multipoint`, which obeys only some of the laws, misses the others by up to 2.3 times.
STOPPED = 10.0


class TimeStepping(Integrator):
    """v₁ from v + h v̇ by the contact impulses, q₁ = q ⊕ h v₁; where nothing touches, a step of the integrator `flight`.

    The turning of single free bodies is of order two between impacts (`settling.free_turning`): they move with v₁ as it is
    half a step later. All else is of order one where something touches. Impact times are not located: an impact takes
    effect in the step in which it happens. The error of a step is the remaining error of its impulses, in units of
    `FAILED`; the velocities become infinite where they diverge.
    """

    name = "time_stepping"
    order = 1
    implicit_damping = True

    def __init__(self, flight: Integrator | None = None):
        self.flight = flight

    def step(self, system: MechanicalSystem, t: Scalar, h: Scalar, state: IntegratorState) -> tuple[IntegratorState, Scalar]:
        contact = system.jump(t, h, state.q, state.v)
        v, move = contact.v, [h * rate for rate in contact.along]
        q_after, v_after = system.settled(system.integrate(state.q, move), system.carried(v, move))
        after = IntegratorState(list(q_after), list(v_after), state.work + h * contact.power + contact.work)
        if self.flight is None:
            return _stopped(contact, after), contact.unsolved * (1.0 / FAILED)
        flight = self.flight

        def flown() -> IntegratorState:
            flown, _ = flight.step(system, t, h, state)
            return IntegratorState(list(flown.q), list(flown.v), flown.work)

        moved = when(contact.touching < 0.5, flown, after)
        kept = system.beyond(moved.q) < 0.5  # a flight may reach a stop that its first velocity does not lead to
        moved = IntegratorState(
            [select(kept, a, b) for a, b in zip(moved.q, after.q, strict=True)],
            [select(kept, a, b) for a, b in zip(moved.v, after.v, strict=True)],
            select(kept, moved.work, after.work),
        )
        return _stopped(contact, moved), contact.unsolved * (1.0 / FAILED)


def _stopped(contact: Impact, state: IntegratorState) -> IntegratorState:
    """The state, with infinite velocities if those after contact are unusable or not finite."""
    return IntegratorState(state.q, [select(contact.missed <= STOPPED, rate, math.inf) for rate in state.v], state.work)
