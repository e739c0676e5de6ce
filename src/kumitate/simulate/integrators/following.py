"""An integrator of mechanisms in which joints follow prescribed motions: these joints end every step where they should be."""

from __future__ import annotations

from ...scalar import Scalar
from .contract import ExtendedIntegrator, IntegratorState, MechanicalSystem

__all__ = ["FollowingSteps"]


class FollowingSteps(ExtendedIntegrator):
    """Steps of another integrator, after which joints with prescribed motions have exactly the position and velocity given.

    Within a step they accelerate as prescribed, so that what is corrected is the integrator's own error.
    """

    def step(self, system: MechanicalSystem, t: Scalar, h: Scalar, state: IntegratorState) -> tuple[IntegratorState, Scalar]:
        after, error = self.inner.step(system, t, h, state)
        q, v = system.followed(t + h, after.q, after.v)
        return IntegratorState(q, v, after.work), error
