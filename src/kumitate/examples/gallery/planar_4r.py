"""The planar closed loop, falling from rest (thesis 3.1.3, figures 3.10 and 3.11)."""

from ...model.samples import sample
from ...simulate.results.result import Result
from ...simulate.run import simulate
from ..catalogue import Example


def run() -> Result:
    """Three seconds from rest at 135, -45, 225 deg; the loop's joint is at 135 deg."""
    start = sample("planar_4r")
    return simulate(start.build(), start.q, start.v, duration=start.duration, step=1e-3, integrator="rkf45")


EXAMPLE = Example(
    name="planar_4r",
    title="Planar 4R closed loop, falling",
    rows=("T-3.3",),
    summary=(
        "The chain of planar_3r with its end pinned at (1, 0) m, a parallelogram, falls freely for 3 s. The "
        "loop stays closed to rounding, and the total energy constant. joint4 closes the loop: its angle is "
        "that of the last rod seen from the ground."
    ),
    run=run,
)
