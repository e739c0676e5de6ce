"""The stiff flyball governor: IFToMM's reference problem A05."""

from ...model.samples import sample
from ...records.record import Record
from ...simulate.run import simulate
from ..catalogue import Example, texts

#: Relative, per step.
TOLERANCE = 1e-9


def run() -> Record:
    """Ten seconds from 2π rad/s, the balls 30 deg below level."""
    start = sample("governor")
    return simulate(
        start.build(),
        start.q,
        start.v,
        duration=start.duration,
        step=5e-3,
        integrator="extrapolated_euler",
        tolerance=TOLERANCE,
    )


EXAMPLE = Example(**texts("governor"), run=run)
