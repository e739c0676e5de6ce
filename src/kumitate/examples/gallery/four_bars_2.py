"""Two four-bar linkages in a row: IFToMM's reference problem A02."""

from ...model.samples import sample
from ...simulate.results.result import Result
from ...simulate.run import simulate
from ..catalogue import Example


def run() -> Result:
    """Ten seconds from upright, the corners moving at 1 m/s."""
    start = sample("four_bars_2")
    return simulate(start.build(), start.q, start.v, duration=start.duration, step=1e-3, integrator="rkf45")


EXAMPLE = Example(
    name="four_bars_2",
    title="Row of two four-bar linkages, toppling",
    rows=(),
    summary=(
        "Three upright legs, joined on top by two rods, topple and turn for 10 s. About ten times all rods "
        "lie in a line, where the mobility jumps from 1 to 3; the motion goes on as that of one pendulum, to "
        "31.7505971869861 rad after 10 s (reference problem A02 of IFToMM's library, N = 2)."
    ),
    run=run,
)
