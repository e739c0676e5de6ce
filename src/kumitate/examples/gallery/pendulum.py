"""A pendulum released at 60 deg: the simplest simulation."""

from ...model.samples import sample
from ...simulate.results.result import Result
from ...simulate.run import simulate
from ..catalogue import Example


def run() -> Result:
    """Ten seconds from rest: a point mass of 1 kg on a massless rod of 1 m."""
    start = sample("pendulum")
    return simulate(start.build(), start.q, start.v, duration=start.duration, step=1e-3, integrator="rkf45")


EXAMPLE = Example(
    name="pendulum",
    title="Pendulum let go at 60 deg",
    rows=(),
    summary=(
        "A point mass of 1 kg on a massless rod of 1 m swings freely from 60 deg for 10 s. Its total energy stays "
        "constant, and its period is 2.1529 s: 7 % longer than that of small swings, as the elliptic integral says."
    ),
    run=run,
)
