"""The seven-joint arm PA-10 in free fall (thesis 5.3, figures 5.4 and 5.5)."""

from ...model.samples import sample
from ...simulate.results.result import Result
from ...simulate.run import simulate
from ..catalogue import Example


def run() -> Result:
    """Ten seconds from rest at 0, 45, 10, 0, 0, 0, 0 deg, without control."""
    start = sample("pa10")
    return simulate(start.build(), start.q, start.v, duration=start.duration, step=1e-3, integrator="rkf45")


EXAMPLE = Example(
    name="pa10",
    title="Seven-joint arm PA-10 in free fall",
    rows=("T-PA10",),
    summary=(
        "The arm, its axes z y z y z y z, falls freely for 10 s from 0, 45, 10, 0, 0, 0, 0 deg. As in the thesis "
        "every link has the inertia diag(1, 1, 1) kg·m², and neither floor nor joint limits stop it. The total energy "
        "stays constant."
    ),
    run=run,
)
