"""The arm of four links as a parallel four-bar linkage, through its singular posture (thesis 7.3.1, figures 7.17 to 7.19)."""

from functools import partial

import numpy as np

from kumitate.examples.catalogue import Example

from . import virtual_four_bar

#: The joints' angles at the start, and where joint 1 is drawn to [rad].
START, GOAL = np.radians([85.0, 5.0, 175.0, -85.0]), float(np.radians(95.0))

EXAMPLE = Example(
    name="virtual_four_bar_singular",
    title="The same through the posture where all links are in a line",
    rows=("T-7.4",),
    summary=(
        "As virtual_four_bar, from 85 to 95 deg through the singular posture at 90 deg. In the thesis accelerations jump "
        "there; here angles, velocities, accelerations and torques go on smoothly, and joint 1 obeys its closed form: "
        "95.010951 deg after 5 s."
    ),
    run=partial(virtual_four_bar.run, "virtual_four_bar_singular", START, GOAL),
    panels=("q", "v", "a", "tau", "position:tip", "velocity:tip", "energy"),
    plates=partial(virtual_four_bar.plates, goal=GOAL),
)
