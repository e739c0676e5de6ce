"""A pendulum without a joint: IFToMM's reference problem A01, with a distance held."""

from ...model.samples import sample
from ...simulate.results.result import Result
from ...simulate.run import simulate
from ..catalogue import Example


def run() -> Result:
    """Ten seconds from rest at (-1, 0, 0) m."""
    start = sample("distance_pendulum")
    return simulate(start.build(), start.q, start.v, duration=start.duration, step=1e-3, integrator="rkf45")


EXAMPLE = Example(
    name="distance_pendulum",
    title="Pendulum as a free point mass held at a distance",
    rows=(),
    summary=(
        "A point mass of 1 kg moves freely in space and is held 1 m from the origin by one equation. From "
        "rest at (-1, 0) it swings as the pendulum does: after 10 s it is at (-0.275087462576117, "
        "-0.961419205099125) m (reference problem A01 of IFToMM's library)."
    ),
    run=run,
    panels=("q", "v", "a", "energy"),
)
