"""`simulate`: from an initial state to a `Result` (thesis 5.1, fig. 5.1: initialise, integrate, compute outputs)."""

from __future__ import annotations

from typing import Any

from ..model import Mechanism
from ..options import takes_options_of
from .results.result import Result
from .setup import Experiment, options_of


@takes_options_of(Experiment)
def simulate(mechanism: Mechanism, q: Any = None, v: Any = None, **options: Any) -> Result:
    """Simulates a mechanism.

    Args:
        mechanism: to simulate.
        q: initial coordinates (nq), the neutral ones by default; v: initial velocities (nv), zero by default.
        options: as of `kumitate.simulate.setup.Experiment`.

    Raises:
        InputError: if an argument has a wrong shape or value.
        DivergenceError: if the motion diverges, or contact has no usable solution; it carries the result up to there. So does,
            as its attribute `result`, any exception that ends a run early: Ctrl-C, or an error in a controller.

    Warns:
        KumitateWarning: of steps whose contact could not be solved, with the time and the bodies; also in the audit's notes.
    """
    from .simulation import MechanismSimulation  # with integrators and controllers: loaded for the first run

    asked = Experiment(mechanism, q, v, **options_of(Experiment, mechanism.name, options))
    simulation = asked.simulation_of(MechanismSimulation)
    return simulation.run(duration=asked.duration, every=asked.every, until=asked.until, progress=asked.progress)
