"""The semi-implicit (symplectic) Euler method, with implicit joint damping."""

from __future__ import annotations

from typing import Any

from .contract import Integrator, IntegratorState, MechanicalSystem

__all__ = ["SemiImplicitEuler"]


class SemiImplicitEuler(Integrator):
    """v₁ = v + h v̇(q, v), q₁ = q ⊕ h v₁: order one, without energy drift, and stable under any joint damping."""

    name = "semi_implicit_euler"
    order = 1
    implicit_damping = True

    def step(self, system: MechanicalSystem, t: Any, h: Any, state: IntegratorState) -> tuple[IntegratorState, Any]:
        acceleration, power = system.dynamics(t, h, state.q, state.v)
        v = [rate + h * a for rate, a in zip(state.v, acceleration, strict=True)]
        q = system.integrate(state.q, [h * rate for rate in v])
        return IntegratorState(*system.settled(q, v), state.work + h * power), 0.0
