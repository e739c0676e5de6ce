"""Forty four-bar linkages in a row: IFToMM's reference problem A02, N = 40."""

from ...model.samples import sample
from ...simulate.results.result import Result
from ...simulate.run import simulate
from ..catalogue import Example


def run() -> Result:
    """Ten seconds from upright, the corners moving at 1 m/s."""
    start = sample("four_bars_40")
    return simulate(start.build(), start.q, start.v, duration=start.duration, step=1e-3, integrator="rkf45")


EXAMPLE = Example(
    name="four_bars_40",
    title="Row of forty four-bar linkages, toppling",
    rows=(),
    summary=(
        "Forty-one upright legs, joined on top by forty rods, with 200 equations of loops of which 120 follow "
        "from the others, topple and turn for 10 s through postures of mobility 41. The motion is still "
        "that of one pendulum (reference problem A02 of IFToMM's library, N = 40)."
    ),
    run=run,
    panels=("energy", "center_of_mass", "center_of_mass_velocity", "momentum"),
)
