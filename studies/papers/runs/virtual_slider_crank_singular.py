"""The arm of four links as a slider-crank, towards its singular posture (thesis 7.3.2, figures 7.20 to 7.22)."""

from functools import partial

import numpy as np

from kumitate.examples.catalogue import Example

from . import virtual_slider_crank

#: The joints' angles at the start [rad], where the tip is drawn to along x [m], as far as it can reach, and how long [s].
START, GOAL, DURATION = np.radians([80.0, 15.0, 0.0, 85.0]), 3.0, 20.0

#: The run with the thesis's law.
run = partial(virtual_slider_crank.run, "virtual_slider_crank_singular", START, GOAL, DURATION)

EXAMPLE = Example(
    name="virtual_slider_crank_singular",
    title="The same towards its singular posture, where it does not rest",
    rows=("T-7.5",),
    summary=(
        "As virtual_slider_crank, the tip drawn to x = 3 m, where crank and rod are in a line. With the thesis's law, which "
        "feeds back x, the arm swings on through that posture: the virtual force loses its arm there. "
        "virtual_slider_crank_at_rest shows a law that comes to rest."
    ),
    run=run,
    panels=("q", "v", "a", "tau", "position:tip", "velocity:tip", "energy"),
    plates=partial(virtual_slider_crank.plates, goal=GOAL),
)
