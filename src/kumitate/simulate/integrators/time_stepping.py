"""Steps over rigid contact: velocities may jump within them (Moreau 1988)."""

from __future__ import annotations

import math

from ...scalar import Scalar, select, when
from .contract import Impact, Integrator, IntegratorState, MechanicalSystem

__all__ = ["FAILED", "TimeStepping"]

#: A search for impulses that stops further from the laws of contact than this part of the points' speeds has failed.
FAILED = 1e-3
#: Velocities that miss the laws of contact by more than this many times the speeds that the points had before are no motion:
#: `multipoint`, which obeys only some of the laws, misses the others by up to 2.3 times.
STOPPED = 10.0


class TimeStepping(Integrator):
    """v₁ from v + h v̇ by the contact's impulses, q₁ = q ⊕ h v₁; where nothing touches, a step of the integrator `flight`.

    Of order one where something touches. Impacts are not looked for: they fall into the step that they happen in. The error of
    a step is what its search for impulses left, in units of `FAILED`; the velocities become infinite where it left all bounds.
    """

    name = "time_stepping"
    order = 1
    implicit_damping = True

    def __init__(self, flight: Integrator | None = None):
        self.flight = flight

    def step(self, system: MechanicalSystem, t: Scalar, h: Scalar, state: IntegratorState) -> tuple[IntegratorState, Scalar]:
        acceleration, _ = system.dynamics(t, h, state.q, state.v)
        # contact acts in the axes before the step; with a free body's own axes turning under it, its speed would grow
        turning = system.turning(state.v)
        v_free = [rate + h * (a - b) for rate, a, b in zip(state.v, acceleration, turning, strict=True)]
        contact = system.impact(h, state.q, state.v, v_free)
        v = contact.v
        move = [h * rate for rate in v]
        q_after, v_after = system.settled(system.integrate(state.q, move), system.carried(v, move))
        # velocities jump: what acts in between works along their mean, as the kinetic energy grows
        power = system.power(t, state.q, state.v, [0.5 * (a + b) for a, b in zip(state.v, v, strict=True)])
        after = IntegratorState(list(q_after), list(v_after), state.work + h * power + contact.work)
        if self.flight is None:
            return _stopped(contact, after), contact.unsolved * (1.0 / FAILED)
        flight = self.flight

        def flown() -> IntegratorState:
            flown, _ = flight.step(system, t, h, state)
            return IntegratorState(list(flown.q), list(flown.v), flown.work)

        return _stopped(contact, when(contact.touching < 0.5, flown, after)), contact.unsolved * (1.0 / FAILED)


def _stopped(contact: Impact, state: IntegratorState) -> IntegratorState:
    """The state, its velocities infinite if those of contact are no motion, or not finite."""
    return IntegratorState(state.q, [select(contact.missed <= STOPPED, rate, math.inf) for rate in state.v], state.work)
