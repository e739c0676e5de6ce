"""The derivatives of a simulation's step: which way they are computed, and what cannot be differentiated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError
from ..stepping.actuation import How
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
        """The derivatives of a step; compiled here.

        Raises:
            InputError: for steps that cannot be differentiated: of adaptive integrators, with functions that must be called
                from Python, with points held on surfaces.
        """
        _check(simulation)
        self._simulation, code = simulation, simulation.compiled.code
        forcing = simulation.actuation.forcing
        self.places = _places(forcing)
        self._columns = max((place.stop for place in self.places.values()), default=0)
        efforts = simulation.actuation.program
        page = None if efforts is not None else direct_for(simulation.integrator, code, forcing)
        self._way: Along | Direct
        self._way = Along(code, efforts, simulation.interaction.slopes) if page is None else Direct(code, page)

    def __call__(self, time: Any, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> StepSlopes:
        """The derivatives at states (..., nq) and (..., nv), with all efforts and inputs u (..., size), at times [s]."""
        q_after, v_after, A, B = self._way(time, self._simulation.step_size, q, v, u, self._columns)
        return StepSlopes(q_after, v_after, A, B, self.places)


def _places(forcing: Any) -> dict[str, slice]:
    """Where each effort and input stands in u, without parameters."""
    found, at = {}, 0
    sizes = {"tau": forcing.mechanism.nv, **dict.fromkeys(forcing.places, 6), **forcing.drives}
    for name, size in sizes.items():
        found[name], at = slice(at, at + size), at + size
    return found | {name: forcing.own[name] for name in forcing.inputs}


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
    if simulation.interaction.held is not None:
        raise InputError(
            f"{owner}: a step with points held on surfaces cannot be differentiated. Close the mechanism by loop joints, or "
            "use contact"
        )
