"""The planar closed loop through its singular posture (thesis 3.3, figures 3.16 and 3.17)."""

from ...model.samples import sample
from ...simulate.results.result import Result
from ...simulate.run import simulate
from ..catalogue import Example


def run() -> Result:
    """Three seconds from rest at 60, 30, 150 deg; the loop's joint is at 60 deg."""
    start = sample("planar_4r_singular")
    return simulate(start.build(), start.q, start.v, duration=start.duration, step=1e-3, integrator="rkf45")


EXAMPLE = Example(
    name="planar_4r_singular",
    title="Planar 4R closed loop through its singular posture",
    rows=("T-3.4",),
    summary=(
        "The loop of planar_4r swings five times in 3 s through the posture where all rods lie in a line, the "
        "first joint at +90 or -90 deg. There the determinant of the loop's J Jᵀ is zero and the loop may "
        "fold another way; in the thesis velocities jump there and energy is lost. Here it goes on as it "
        "came, and the energy stays constant."
    ),
    run=run,
)
