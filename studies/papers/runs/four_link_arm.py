"""The planar arm of four links without control (thesis 7.2.1, figures 7.3 and 7.4)."""

import numpy as np

from kumitate.examples.catalogue import Example
from kumitate.records.record import Record
from kumitate.simulate.run import simulate

from ..four_link_arm import four_link_arm

#: The joints' angles at the start [rad].
START = np.radians([60.0, 30.0, 150.0, 300.0])


def run() -> Record:
    """Two seconds from rest at 60, 30, 150, 300 deg."""
    return simulate(four_link_arm(), START, np.zeros(4), duration=2.0, step=1e-3, integrator="rkf45_adaptive")


EXAMPLE = Example(
    name="four_link_arm",
    title="Planar arm of four links, not controlled",
    rows=("T-7.1",),
    summary=(
        "Links of 1, 1, 1 and 0.5 m, 1 kg each, fall from rest for 2 s. The energy stays constant; the tip, which the examples "
        "virtual_four_bar and virtual_slider_crank hold by control alone, moves freely."
    ),
    run=run,
    panels=("q", "v", "a", "tau", "position:tip", "velocity:tip", "energy"),
)
