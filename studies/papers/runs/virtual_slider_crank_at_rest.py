"""The arm of four links as a slider-crank, at rest in its singular posture: what the thesis found difficult (7.3.2)."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from kumitate.examples.catalogue import Curves, Example, Plate
from kumitate.records.record import Record
from kumitate.simulate.run import simulate

from ..four_link_arm import as_slider_crank_by_crank, four_link_arm, moment_arm, stretched, tip
from ..virtual_loops import with_sampled
from . import virtual_slider_crank_singular
from .virtual_slider_crank import height_error
from .virtual_slider_crank_singular import DURATION, GOAL, START


def run() -> Record:
    """Twenty seconds from rest; the crank's angle is fed back."""
    arm = four_link_arm("virtual_slider_crank_at_rest")
    law = partial(as_slider_crank_by_crank, arm, START)
    result = simulate(arm, START, np.zeros(4), duration=DURATION, step=1e-3, integrator="rk4", controller=law())
    return with_sampled(result, law, height_error, "the tip's height is off by")


def plates(result: Record) -> Mapping[str, Plate]:
    """This law compared with the thesis's, with the reason why one of them comes to rest."""
    runs = {"x fed back (thesis)": virtual_slider_crank_singular.run(), "θ1 fed back": result}
    names, goal = tuple(runs), stretched(START)

    def column(of: Callable[[Record], np.ndarray]) -> np.ndarray:
        return np.column_stack([of(one) for one in runs.values()])

    panels = (
        Curves("Error of the tip along x", "m", names, column(lambda one: GOAL - tip(one.q)[:, 0]), log=True),
        Curves("Fastest joint", "rad/s", names, column(lambda one: np.abs(one.v).max(axis=1)), log=True),
        Curves("Crank from the stretched posture", "deg", names, column(lambda one: np.degrees(one.q[:, 0] - goal))),
        Curves("Arm of a force along x", "m", names, column(lambda one: moment_arm(START, one.q[:, 0]))),
    )
    caption = (
        "Stretched, x is at its greatest: 3 m − ¾ φ² with the crank φ away. A force along x turns the crank with the arm "
        "dx/dφ = −1.5 φ (d), zero just there: of the spring 10 (3 m − x) is left 11 φ³, of the damper 10 ẋ is left 22 φ² "
        "φ̇, and the swing dies out ever more slowly. The crank's angle is a regular coordinate there: a spring and a "
        "damper on it bring all to rest. The 7e-8 m left in (a) are what the arm is short of 3 m, its joint 4 being 0.66 mm "
        "low."
    )
    return {"rest": Plate(panels, caption)}


EXAMPLE = Example(
    name="virtual_slider_crank_at_rest",
    title="Planar arm as a slider-crank, at rest in its singular posture",
    rows=("T-7.5",),
    summary=(
        "As virtual_slider_crank_singular, but the crank's angle is fed back, which is a regular coordinate where x, at its "
        "greatest, is absent. The arm rests: |x − 3| < 1e-7 m after 15 s. The figure `rest` shows both laws and the reason."
    ),
    run=run,
    panels=("q", "v", "a", "tau", "position:tip", "velocity:tip", "energy"),
    plates=plates,
)
