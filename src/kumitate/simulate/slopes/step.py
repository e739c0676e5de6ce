"""The derivatives of a simulation's step: which way they are computed, and what cannot be differentiated."""

from __future__ import annotations

from functools import cached_property, partial
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError
from ..integrators import WithStops
from ..stepping.actuation import How
from ..stepping.forcing import Forcing
from ..stepping.system import states_of
from .active import active_sets
from .along import Along
from .direct import Direct, direct_for
from .record import StepSlopes

if TYPE_CHECKING:
    from ..simulation import MechanismSimulation

__all__ = ["SlopedStep"]


class SlopedStep:
    """The compiled derivatives of a simulation's step.

    Attributes:
        places: where each effort and input stands among the columns of B.
    """

    def __init__(self, simulation: MechanismSimulation):
        """The derivatives of a step; compiled on first use.

        Raises:
            InputError: for steps that cannot be differentiated: of adaptive integrators, with functions that must be called
                from Python, with points held on surfaces.
        """
        _check(simulation)
        self._simulation, self._code = simulation, simulation.straight.code
        self.places = _places(simulation.actuation.forcing)
        self._columns = max((place.stop for place in self.places.values()), default=0)

    @cached_property
    def _along(self) -> Along:
        return Along(self._code, self._simulation.actuation.program)

    @cached_property
    def _direct(self) -> Direct | None:
        """The shorter way, if there is one."""
        actuation, integrator = self._simulation.actuation, self._simulation.integrator
        flight = integrator.inner if isinstance(integrator, WithStops) else integrator
        if actuation.program is not None:
            return None
        page = direct_for(flight, self._code, actuation.forcing)
        if page is None and self._code.touches:
            from .touching import touching_page  # loads contact

            page = touching_page(integrator, self._code, actuation.forcing, self._simulation.interaction)
        return None if page is None else Direct(self._code, page)

    def __call__(self, time: Any, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> StepSlopes:
        """The derivatives at states (..., nq) and (..., nv), with all efforts and inputs u (..., size), at times (...) [s].

        Raises:
            InputError: for one state whose contact has no solution to differentiate at; in batches its row is NaN.
        """
        simulation, lead = self._simulation, q.shape[:-1]
        found = self._found(np.broadcast_to(time, lead) if lead else np.float64(time), q, v, u)
        if not lead and not isfinite(found[2].sum()):
            raise InputError(
                f"{simulation.mechanism.name}: the step cannot be differentiated at this state, as its contact has no "
                "solution that obeys all laws: it did not converge, or a rebound that would gain energy was reduced. Take "
                "another state, a smaller step, or less restitution"
            )
        q_after, v_after, A, B = found
        look = partial(active_sets, simulation, time, q, v, u, q_after)
        return StepSlopes(q_after, v_after, A, B, self.places, look)

    def _found(self, time: Any, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, ...]:
        """The state after the step, and A and B."""
        h, columns = self._simulation.step_size, self._columns
        if self._direct is None:
            return self._along(time, h, q, v, u, columns)
        found, elsewhere = self._direct(time, h, q, v, u, columns)
        if not time.shape:
            return self._along(time, h, q, v, u, columns) if elsewhere.item() > 0.5 else found
        other = elsewhere > 0.5
        if other.any():
            again = self._along(time[other], h, q[other], v[other], u[other], columns)
            for part, right in zip(found, again, strict=True):
                part[other] = right
        return found


def _places(forcing: Forcing) -> dict[str, slice]:
    """Where each effort, command and input stands in u, without parameters."""
    found, at = {}, 0
    sizes = {"tau": forcing.mechanism.nv, **dict.fromkeys(forcing.places, 6), **forcing.drives}
    for name, size in sizes.items():
        found[name], at = slice(at, at + size), at + size
    return {**found, **forcing.layout.group("commands"), **{name: forcing.own[name] for name in forcing.inputs}}


def _check(simulation: MechanismSimulation) -> None:
    owner, actuation = simulation.mechanism.name, simulation.actuation
    if simulation.integrator.adaptive:
        raise InputError(
            f"{owner}: a step of {simulation.integrator.name} cannot be differentiated, as its length follows from the state. "
            "Take integrator='rk4', or 'semi_implicit_euler'"
        )
    for line, how in zip(actuation.lines(), actuation.functions, strict=True):
        if how is not How.COMPILED:
            raise InputError(
                f"{owner}: the step cannot be differentiated: {line}. Write the function with plain operators and NumPy's "
                "functions and without memory, or leave it out and give its values as `tau`"
            )
    if simulation.compiled.refusal:
        raise InputError(
            f"{owner}: steps of a scene of many bodies cannot be differentiated, as the solvers of scenes have no derivatives. "
            "Up to four free bodies are traced, and their steps differentiated, with Simulation(side_by_side=True)"
        )
    if actuation.forcing.motions:
        raise InputError(
            f"{owner}: a step with prescribed motions cannot be differentiated, as it depends on no coordinate or effort of "
            "their joints. Drive the joints, or leave the motions out"
        )
    if states_of(actuation.forcing):
        raise InputError(
            f"{owner}: a step of drives with states of their own, such as pressures, cannot be differentiated. Take drives "
            "without, or linearize them by hand"
        )
    if simulation.integrator.kicks and simulation.interaction.touches:
        raise InputError(
            f"{owner}: a step of integrator={simulation.integrator.name!r} with contact cannot be differentiated. Take "
            "integrator='auto' or 'semi_implicit_euler'"
        )
    if simulation.interaction.held is not None:
        raise InputError(
            f"{owner}: a step with points held on surfaces cannot be differentiated. Close the mechanism by loop joints, or "
            "use contact"
        )
