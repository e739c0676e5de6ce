"""The stiff flyball governor: IFToMM's reference problem A05."""

from ...model.samples import sample
from ...results.result import Result
from ...simulate.run import simulate
from ..catalogue import Example

#: Relative, per step.
TOLERANCE = 1e-9


def run() -> Result:
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


EXAMPLE = Example(
    name="governor",
    title="Stiff flyball governor",
    rows=(),
    summary=(
        "Two balls on arms hinged at a shaft that turns freely lift a slider by stiff springs and dampers, whose fastest "
        "motion settles at 8100 1/s. extrapolated_euler takes steps of over 1e-3 s nevertheless. The slider, half way up the "
        "shaft at first, rises by 0.24 m and is back after a second, again and again; the angular momentum about the shaft is "
        "kept (reference problem A05 of IFToMM's library)."
    ),
    run=run,
    panels=("q", "v", "energy", "momentum"),
)
