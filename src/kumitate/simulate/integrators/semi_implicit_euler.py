"""The semi-implicit Euler method, with implicit joint damping.

Where the inertia matrix is constant it is symplectic, and its energy does not drift. Where it varies with the posture, as in
most mechanisms, the energy drifts in proportion to the step.
"""

from __future__ import annotations

from typing import Any

from .contract import Integrator, IntegratorState, MechanicalSystem

__all__ = ["SemiImplicitEuler"]


class SemiImplicitEuler(Integrator):
    """v₁ = v + h v̇(q, v), q₁ = q ⊕ h v₁: order one, and stable under any joint damping."""

    name = "semi_implicit_euler"
    order = 1
    implicit_damping = True
    opens = 0.5  # the rows' rates at the end, −h J̇v at the old posture, move them by −h² J̇v; half of that is right

    def step(self, system: MechanicalSystem, t: Any, h: Any, state: IntegratorState) -> tuple[IntegratorState, Any]:
        begun = system.begin(t, h, state.q, state.v, h)
        v = [rate + h * a for rate, a in zip(begun.v, begun.acceleration, strict=True)]
        q = system.integrate(begun.q, [more + h * rate for more, rate in zip(begun.move, v, strict=True)])
        return IntegratorState(*system.settled(q, v), state.work + h * begun.power), 0.0
