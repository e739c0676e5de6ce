"""The small humanoid falls down (paper S, figure 5)."""

from collections.abc import Mapping

from kumitate.examples.catalogue import Example, Plate
from kumitate.records.record import Record

from ..humanoid_runs import fallen, plate


def run() -> Record:
    """A push from behind, the fall, and rest."""
    return fallen(name="hoap1_fall")


def plates(result: Record) -> Mapping[str, Plate]:
    """Feet, center of mass, forces, the trunk's tilt."""
    caption = "Pushed at its head from 0.30 to 0.45 s, it tips over its toes, falls on knees, hands and face, and lies still."
    return {"fall": plate(result, caption)}


EXAMPLE = Example(
    name="hoap1_fall",
    title="Small humanoid, falling down",
    rows=("S-5",),
    summary=(
        "The humanoid stands on servos that give way, and is pushed at its head from behind with 16 N, and 8 N from its right, "
        "for 0.15 s. It tips over its toes, buckles, and falls: feet, thighs, arms and trunk touch the floor. Then it lies "
        "still: no velocity is above 1e-3, and friction holds it."
    ),
    run=run,
    plates=plates,
    panels=("contact_forces", "center_of_mass", "q", "energy"),
)
