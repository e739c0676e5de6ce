"""A four-link arm held at its elbow and its tip (N 6 leaves several points open)."""

from collections.abc import Mapping

import numpy as np

from kumitate.examples.catalogue import Curves, Example, Plate
from kumitate.records.record import Record
from kumitate.simulate.interactions.held import held_motion

from ..held_arms import TWO, routes_apart, two_points


def run() -> Record:
    """Ten seconds from rest."""
    result = two_points()
    note = f"the normal forces of both points are equal by both routes to {routes_apart(result, TWO).max():.0e}"
    return result.noted(note)


def plates(result: Record) -> Mapping[str, Plate]:
    """Angles, heights and forces of both points."""
    points = held_motion(result, TWO)
    loose = held_motion(two_points(baumgarte=0.0), TWO)
    names = tuple(points)
    heights = [1e3 * p.gap for p in points.values()] + [1e3 * p.gap for p in loose.values()]
    panels = (
        Curves("Joint angle", "deg", ("q₁", "q₂", "q₃", "q₄"), np.degrees(result.q)),
        Curves(
            "Gap to rail and floor", "mm", (*names, *(f"{name}, left to drift" for name in names)), np.column_stack(heights)
        ),
        Curves("Normal force", "N", names, np.column_stack([p.normal for p in points.values()])),
        Curves("Friction along x", "N", names, np.column_stack([p.friction[:, 0] for p in points.values()])),
        Curves("Velocity along x", "m/s", names, np.column_stack([p.velocity[:, 0] for p in points.values()])),
        Curves("Difference of routes", "", names, routes_apart(result, TWO), log=True),
    )
    caption = (
        "Four rods, the end of the second held on a rail 0.4 m high, that of the fourth on the floor, driven by a slow torque."
    )
    return {"held": Plate(panels, caption)}


EXAMPLE = Example(
    name="held_two_points",
    title="Four-link arm held at its elbow and its tip",
    rows=("N-f",),
    summary=(
        "A damped arm of four rods, its elbow held on a rail 0.4 m high and its tip on the floor, both with friction, is "
        "driven to and fro for 10 s by ±4 sin(2πt/5) N·m, from joint to joint the other way round. Both heights stay what they "
        "are, and both normal forces, which depend on one another, are equal by repeated inverse dynamics and by articulated "
        "bodies."
    ),
    run=run,
    plates=plates,
)
