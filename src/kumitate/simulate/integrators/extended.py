"""An integrator of mechanisms in which joints follow prescribed motions: these joints end every step where they should be."""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Bound
from ...scalar import Scalar, when
from .contract import ExtendedIntegrator, Integrator, IntegratorState, MechanicalSystem
from .time_stepping import TimeStepping


class FollowingSteps(ExtendedIntegrator):
    """Steps of another integrator, after which joints with prescribed motions have exactly the position and velocity given.

    Within a step they accelerate as prescribed, so that what is corrected is the integrator's own error.
    """

    def step(self, system: MechanicalSystem, t: Scalar, h: Scalar, state: IntegratorState) -> tuple[IntegratorState, Scalar]:
        after, error = self.inner.step(system, t, h, state)
        q, v = system.followed(t + h, after.q, after.v)
        return IntegratorState(q, v, after.work), error


# --- An integrator on joints that have stops: a step that would end beyond one is made as a step with impulses instead ---


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
