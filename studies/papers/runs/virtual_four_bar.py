"""The arm of four links, controlled as a parallel four-bar linkage (thesis 7.2.2, figures 7.7 to 7.9)."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from kumitate.examples.catalogue import Curves, Example, Plate
from kumitate.records.record import Record
from kumitate.simulate.run import simulate

from ..four_link_arm import GAIN, as_four_bar, closed_form, four_link_arm, tip
from ..virtual_loops import with_sampled

#: The joints' angles at the start, and where joint 1 is drawn to [rad].
START, GOAL = np.radians([60.0, 30.0, 150.0, -60.0]), 0.0


def run(name: str = "virtual_four_bar", start: np.ndarray = START, goal: float = GOAL) -> Record:
    """Five seconds from rest.

    Args:
        name: of the mechanism.
        start: the joints' angles [rad]; `goal`: of joint 1 [rad].
    """
    arm = four_link_arm(name)
    law = partial(as_four_bar, arm, start, goal)
    result = simulate(arm, start, np.zeros(4), duration=5.0, step=1e-3, integrator="rk4", controller=law())
    return with_sampled(result, law, tip_error, "the tip is off its place by")


def tip_error(result: Record) -> np.ndarray:
    """How far (n) [m] the tip is from where it started."""
    return np.linalg.norm(tip(result.q) - tip(result.q[0]), axis=1)


def plates(result: Record, goal: float = GOAL) -> Mapping[str, Plate]:
    """The virtual torque and the errors of joint 1 (figures 7.9, 7.19), and what the loop's closed form says."""
    error = goal - result.q[:, 0]
    off = result.q[:, 0] - closed_form(result.time, result.q[0, 0], goal)
    panels = (
        Curves("Virtual torque at joint 1", "N·m", ("torque",), (GAIN * error - GAIN * result.v[:, 0])[:, None]),
        Curves("Error of joint 1", "deg", ("goal − angle",), np.degrees(error)[:, None]),
        Curves("Error of its velocity", "deg/s", ("0 − velocity",), np.degrees(-result.v[:, 0])[:, None]),
        Curves("Off the linkage", "m, rad", ("tip [m]", "joint 1 [rad]"), np.column_stack([tip_error(result), off]), log=True),
    )
    caption = (
        "The virtual linkage has the same inertia about joint 1 in every posture, so that its angle must obey "
        r"$\ddot{\theta}+3\dot{\theta}+3(\theta-\theta_{des})=0$; (d) shows by how much it does not, "
        "and how far the tip leaves its place."
    )
    return {"virtual": Plate(panels, caption)}


EXAMPLE = Example(
    name="virtual_four_bar",
    title="Planar arm controlled as a parallel four-bar linkage",
    rows=("T-7.2",),
    summary=(
        "The open arm of four_link_arm moves as if its last link were fixed to the ground: tau = ID_open(FD_closed). A virtual "
        "spring and damper draw joint 1 from 60 to 0 deg in 5 s. The tip stays where it is, under gravity, and θ1 obeys "
        "θ̈ + 3θ̇ + 3(θ − θ_des) = 0: −0.065708 deg at the end."
    ),
    run=run,
    panels=("q", "v", "a", "tau", "position:tip", "velocity:tip", "energy"),
    plates=plates,
)
