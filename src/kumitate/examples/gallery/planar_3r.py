"""The planar serial chain of three rods, falling from rest (thesis 3.1.1, figures 3.2 and 3.3)."""

from ...model.samples import sample
from ...simulate.results.result import Result
from ...simulate.run import simulate
from ..catalogue import Example


def run() -> Result:
    """Three seconds from rest at 135, -45, 225 deg, without control."""
    start = sample("planar_3r")
    return simulate(start.build(), start.q, start.v, duration=start.duration, step=1e-3, integrator="rkf45")


EXAMPLE = Example(
    name="planar_3r",
    title="Planar 3R serial chain, falling",
    rows=("T-3.1",),
    summary=(
        "Three rods of 1 m and 1 kg fall freely for 3 s from 135, -45, 225 deg. Nothing drives the joints, so the sum "
        "of kinetic and potential energy stays constant."
    ),
    run=run,
)
