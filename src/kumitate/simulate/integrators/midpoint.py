"""The midpoint rule with rigid contact: a step of order two between impacts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...scalar import Scalar, maximum, select
from .contract import Begun, Integrator, IntegratorState, MechanicalSystem
from .time_stepping import FAILED, STOPPED

__all__ = ["Midpoint"]

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
