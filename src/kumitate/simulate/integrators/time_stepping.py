"""Time stepping with rigid contact, at stops and with prescribed motions: velocities may jump within a step (Moreau 1988)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...contact.laws.residual import FAILED
from ...model import Bound
from ...scalar import Scalar, maximum, select, when
from .contract import Begun, ExtendedIntegrator, Impact, Integrator, IntegratorState, MechanicalSystem

#: Velocities that miss the contact laws by more than this many times the points' previous speeds are not a usable solution:
#: `kumitate.papers.multipoint`, which obeys only some of the laws, misses the others by up to 2.3 times.
STOPPED = 10.0


class TimeStepping(Integrator):
    """v₁ from v + h v̇ by the contact impulses, q₁ = q ⊕ h v₁; where nothing touches, a step of the integrator `flight`.

    The turning of single free bodies is of order two between impacts (`dynamics.free_turning`): they move with v₁ as it is
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


# --- The midpoint rule with rigid contact: a step of order two between impacts --------------------------------------

#: How often the velocity in the middle of a step is corrected before contact acts. With two passes, neither turning nor
#: oscillation gains energy (with none, turning by z in a step gains the part z⁴/4).
PASSES = 2


class Midpoint(Integrator):
    """vₘ = v + h/2 v̇(qₘ, vₘ) and contact, q₁ = q ⊕ h vₘ, v₁ = vₘ + h/2 v̇(qₘ, vₘ) and contact again, qₘ = q ⊕ h/2 vₘ.

    Contact acts at both ends of a step, with the impulses of half of it each: the first ones close the gaps in the motion of
    the whole step, where bodies also rebound, and the second ones stop those points from closing that have no gap left. This
    is the scheme of Andersen (RATTLE, Journal of Computational Physics 52, 1983) with inequalities in place of equations.

    v̇(qₘ, vₘ) is found by iteration, from a first guess with contact that is implicit in damping, springs and drives.

    Of order two while feet stand, stick or slide; of order one at impacts, at stops, and where a body turns about its points of
    contact.
    """

    name = "midpoint"
    order = 2
    implicit_damping = True
    kicks = True

    def step(self, system: MechanicalSystem, t: Scalar, h: Scalar, state: IntegratorState) -> tuple[IntegratorState, Scalar]:
        half = 0.5 * h
        begun = system.begin(t, half, state.q, state.v, h)
        start = zip(begun.acceleration, system.turning(begun.v), strict=True)
        v_middle = _advanced(begun.v, half, [rate - turn for rate, turn in start])
        for _ in range(PASSES):
            rates, _ = _in_the_middle(system, t + half, half, begun, v_middle)
            v_middle = _advanced(begun.v, half, rates)
        guess = system.kick(t, h, begun.q, begun.v, v_middle, half, 0.0)
        rates, power = _in_the_middle(system, t + half, half, begun, guess.v)
        first = system.kick(t, h, begun.q, begun.v, _advanced(begun.v, half, rates), 0.0, 0.0)
        move = _advanced(begun.move, h, first.v)
        q, v_free = system.integrate(begun.q, move), _advanced(first.v, half, rates)
        second = system.kick(t + h, h, q, system.carried(first.v, move), system.carried(v_free, move), 0.0, 1.0)
        q_after, v_after = system.settled(q, second.v)
        usable = maximum(first.missed, second.missed) <= STOPPED
        v_after = [select(usable, rate, math.inf) for rate in v_after]
        after = IntegratorState(list(q_after), v_after, state.work + h * power + first.work + second.work)
        return after, maximum(first.unsolved, second.unsolved) * (1.0 / FAILED)


def _in_the_middle(
    system: MechanicalSystem, t: Scalar, half: Scalar, begun: Begun, v: Sequence[Scalar]
) -> tuple[list[Scalar], Scalar]:
    """v̇ in the middle of a step that is made with velocity v, in the axes of its start, and the power of all efforts."""
    move = [half * rate for rate in v]
    back = [-part for part in move]
    q, v = system.staged(system.integrate(begun.q, move), system.carried(v, move), begun)
    rates, power = system.dynamics(t, 0.0, q, v)
    return system.carried([rate - turn for rate, turn in zip(rates, system.turning(v), strict=True)], back), power


def _advanced(x: Sequence[Scalar], h: Scalar, rates: Sequence[Scalar]) -> list[Scalar]:
    """x + h · rates."""
    return [value + h * rate for value, rate in zip(x, rates, strict=True)]


# --- Integrators of mechanisms in which joints follow prescribed motions, or have stops: steps of another, and what they add --


class FollowingSteps(ExtendedIntegrator):
    """Steps of another integrator, after which joints with prescribed motions have exactly the position and velocity given.

    Within a step they accelerate as prescribed, so that what is corrected is the integrator's own error.
    """

    def step(self, system: MechanicalSystem, t: Scalar, h: Scalar, state: IntegratorState) -> tuple[IntegratorState, Scalar]:
        after, error = self.inner.step(system, t, h, state)
        q, v = system.followed(t + h, after.q, after.v)
        return IntegratorState(q, v, after.work), error


class WithStops(ExtendedIntegrator):
    """Steps of the integrator `inner`; those that end beyond a stop are made again by `TimeStepping`, which ends at the stop.

    Steps in which no stop is reached are those of `inner`, bit by bit. Those at stops are of order one.
    """

    def step(self, system: MechanicalSystem, t: Scalar, h: Scalar, state: IntegratorState) -> tuple[IntegratorState, Scalar]:
        flown, error = self.inner.step(system, t, h, state)
        flown = IntegratorState(list(flown.q), list(flown.v), flown.work)

        def stopped() -> tuple[IntegratorState, Scalar]:
            after, unsolved = TimeStepping().step(system, t, h, state)
            q, v = system.closed(after.q, after.v)
            # the error of an adaptive step remains, so that steps up to a stop are as fine as others
            return IntegratorState(list(q), list(v), after.work), error if self.adaptive else unsolved

        return when(system.beyond(flown.q) > 0.5, stopped, (flown, error))  # type: ignore[no-any-return]


def stopping(integrator: Integrator, bounds: Sequence[Bound]) -> Integrator:
    """The integrator for joints with these limits; time stepping stops joints itself."""
    return WithStops(integrator) if bounds and not isinstance(integrator, TimeStepping) else integrator
