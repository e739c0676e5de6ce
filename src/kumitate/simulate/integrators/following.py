"""An integrator of mechanisms in which joints follow prescribed motions: these joints end every step where they should be."""

from __future__ import annotations

from ...scalar import Scalar
from .contract import Integrator, IntegratorState, MechanicalSystem

__all__ = ["FollowingSteps"]


class FollowingSteps(Integrator):
    """Steps of another integrator, after which joints with prescribed motions have exactly the position and velocity given.

    Within a step they accelerate as prescribed, so that what is corrected is the integrator's own error.

    Attributes:
        inner: whose name, order and kind of steps it has.
    """

    def __init__(self, inner: Integrator):
        self.inner = inner
        self.name, self.order = inner.name, inner.order  # type: ignore[misc]
        self.implicit_damping, self.adaptive = inner.implicit_damping, inner.adaptive  # type: ignore[misc]
        self.opens = inner.opens  # type: ignore[misc]

    def step(self, system: MechanicalSystem, t: Scalar, h: Scalar, state: IntegratorState) -> tuple[IntegratorState, Scalar]:
        after, error = self.inner.step(system, t, h, state)
        q, v = system.followed(t + h, after.q, after.v)
        return IntegratorState(q, v, after.work), error
