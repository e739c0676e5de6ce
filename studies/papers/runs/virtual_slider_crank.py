"""The arm of four links, controlled as a slider-crank mechanism (thesis 7.2.3, figures 7.12 to 7.14)."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from kumitate.examples.catalogue import Curves, Example, Plate
from kumitate.records.record import Record
from kumitate.simulate.run import simulate

from ..four_link_arm import PUSH_GAIN, as_slider_crank, four_link_arm, tip, tip_velocity
from ..virtual_loops import with_sampled

#: The joints' angles at the start [rad], and where the tip is drawn to along x [m].
START, GOAL = np.radians([30.0, 85.7, 0.0, 64.3]), 1.49


def run(name: str = "virtual_slider_crank", start: np.ndarray = START, goal: float = GOAL, duration: float = 5.0) -> Record:
    """From rest.

    Args:
        name: of the mechanism.
        start: the joints' angles [rad]; `goal`: of the tip along x [m].
        duration: [s].
    """
    arm = four_link_arm(name)
    law = partial(as_slider_crank, arm, start, goal)
    result = simulate(arm, start, np.zeros(4), duration=duration, step=1e-3, integrator="rk4", controller=law())
    return with_sampled(result, law, height_error, "the tip's height is off by")


def height_error(result: Record) -> np.ndarray:
    """How far (n) [m] the tip is above where it started."""
    height = tip(result.q)[:, 1]
    return height - height[0]


def plates(result: Record, goal: float = GOAL) -> Mapping[str, Plate]:
    """The virtual force and the errors of the tip (figure 7.14), and how far the arm leaves the mechanism."""
    error, speed = goal - tip(result.q)[:, 0], tip_velocity(result.q, result.v)[:, 0]
    off = np.column_stack([height_error(result), result.q[:, 2]])
    panels = (
        Curves("Virtual force along x", "N", ("force",), (PUSH_GAIN * error - PUSH_GAIN * speed)[:, None]),
        Curves("Error of the tip along x", "m", ("goal − x",), error[:, None]),
        Curves("Error of its velocity", "m/s", ("0 − velocity",), -speed[:, None]),
        Curves("Off the mechanism", "m, rad", ("height of tip [m]", "joint 3 [rad]"), off, log=True),
    )
    return {"virtual": Plate(panels)}


EXAMPLE = Example(
    name="virtual_slider_crank",
    title="Planar arm controlled as a slider-crank mechanism",
    rows=("T-7.3",),
    summary=(
        "The open arm of four_link_arm moves as if joint 3 were locked and its last link slid along x. A virtual spring and "
        "damper draw the tip to x = 1.49 m, the number of the thesis; its text also says 1 m from the start, which by its "
        "angles is 1.30 m. The tip moves along x only."
    ),
    run=run,
    panels=("q", "v", "a", "tau", "position:tip", "velocity:tip", "energy"),
    plates=plates,
)
