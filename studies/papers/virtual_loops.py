"""The common part of the examples of virtual loops: their runs, also with a sampled law, and notes on both."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kumitate.analysis import LoopEquations
from kumitate.control import Controller
from kumitate.model import Mechanism
from kumitate.records.record import Record
from kumitate.simulate.run import simulate

__all__ = ["DRAWN", "SAMPLE_TIME", "loop_distance", "sampled", "with_sampled"]

#: The sampling period of a robot's controller [s].
SAMPLE_TIME = 1e-3
#: A spring [1/s²] and a damper [1/s] that pull a sampled robot back to its loop, from which sampling lets it drift.
DRAWN = {"stiffness": 2500.0, "damping": 100.0}


def with_sampled(result: Record, law: Callable[..., Controller], error: Callable[[Record], np.ndarray], what: str) -> Record:
    """A controlled run with notes on the same run with the law held for 1 ms, without and with the loop's spring and damper.

    Args:
        result: of the law evaluated at every stage of the integrator.
        law: makes the law, with the options `DRAWN` or none.
        error: (n) [m] by which a result left its virtual loop.
        what: this is.
    """
    held, drawn = sampled(result, law()), sampled(result, law(**DRAWN))
    cases = (("evaluated at every stage", result), ("held for 1 ms", held), ("held, and drawn to the loop", drawn))
    said = "; ".join(f"{np.abs(error(run)).max():.2g} m {how}" for how, run in cases)
    return result.noted(f"{what} {said}")


def sampled(result: Record, law: Controller) -> Record:
    """The same run with the law evaluated once a millisecond and held in between."""
    options = {key: result.settings[key] for key in ("duration", "step", "integrator")}
    return simulate(result.mechanism, result.q[0], result.v[0], controller=law, sample_time=SAMPLE_TIME, **options)


def loop_distance(closed: Mechanism, q: np.ndarray, v: Sequence[float] | np.ndarray) -> np.ndarray:
    """The gap of a mechanism's loops at states (n): the largest distance of their ends (n) [m]."""
    equations = LoopEquations(closed)
    return np.array([max(gap.distance for gap in equations.gaps(*state)) for state in zip(q, v, strict=True)])
