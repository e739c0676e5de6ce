"""The small humanoid jumps (paper S, figure 6)."""

from collections.abc import Mapping

from kumitate.examples.catalogue import Example, Plate
from kumitate.records.record import Record

from ..humanoid import jumping
from ..humanoid_runs import flight, followed, plate


def run() -> Record:
    """One jump on the spot."""
    result = followed(jumping(), name="hoap1_jump")
    flown = flight(result)
    notes = (
        f"it flies for {1e3 * (flown.end - flown.start):.0f} ms; its center of mass follows a parabola to {flown.error:.0e} m",
        "the planned speeds are three times those that the drives of a real robot of this size reach",
    )
    return result.noted(*notes)


def plates(result: Record) -> Mapping[str, Plate]:
    """Feet, center of mass, zero-moment point, forces, torques."""
    caption = "It jumps: while no foot touches the floor the center of mass is in free fall, whatever the legs do."
    return {"jump": plate(result, caption, jumping())}


EXAMPLE = Example(
    name="hoap1_jump",
    title="Small humanoid, jumping",
    rows=("S-5",),
    summary=(
        "The humanoid crouches, pushes off, has both feet off the floor for 0.14 s and lands on them; its arms swing back in "
        "flight, so that it lands almost upright, rocks on its feet and stands. In flight the center of mass moves on its "
        "parabola. The knees turn at 15 rad/s, three times as fast as drives of this size can: the account of the run says so."
    ),
    run=run,
    plates=plates,
    panels=("contact_forces", "center_of_pressure", "center_of_mass", "center_of_mass_velocity", "q", "energy"),
)
