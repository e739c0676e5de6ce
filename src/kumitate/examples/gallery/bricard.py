"""Bricard's mechanism: IFToMM's reference problem A04."""

from ...model.samples import sample
from ...simulate.results.result import Result
from ...simulate.run import simulate
from ..catalogue import Example


def run() -> Result:
    """Ten seconds from rest."""
    start = sample("bricard")
    return simulate(start.build(), start.q, start.v, duration=start.duration, step=1e-3, integrator="rkf45")


EXAMPLE = Example(
    name="bricard",
    title="Bricard's mechanism, which ought not to move",
    rows=(),
    summary=(
        "Five bars and six revolute joints in space: by the count of equations nothing can move, yet one of "
        "them always follows from the others. The mechanism swings under gravity with a period of just under "
        "5 s, and its energy stays constant (reference problem A04 of IFToMM's library; z here is y there)."
    ),
    run=run,
)
