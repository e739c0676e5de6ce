"""A double pendulum released at 90 deg."""

from ...model.samples import sample
from ...simulate.results.result import Result
from ...simulate.run import simulate
from ..catalogue import Example


def run() -> Result:
    """Ten seconds from rest, both rods level."""
    start = sample("double_pendulum")
    return simulate(start.build(), start.q, start.v, duration=start.duration, step=1e-3, integrator="rkf45")


EXAMPLE = Example(
    name="double_pendulum",
    title="Double pendulum let go at 90 deg",
    rows=(),
    summary=(
        "Two point masses of 1 kg on massless rods of 1 m are let go from the level, stretched out, and swing for 10 "
        "s. The motion is chaotic, yet the total energy stays constant."
    ),
    run=run,
)
