"""The small humanoid walks (paper S, figure 4)."""

from collections.abc import Mapping

from kumitate.examples.catalogue import Example, Plate
from kumitate.records.record import Record

from ..humanoid import walking
from ..humanoid_runs import followed, plate, read


def run() -> Record:
    """Twelve steps, each foot lifted six times."""
    result = followed(walking(), name="hoap1_walk")
    readings = read(result)
    way = result.center_of_mass[-1, 0] - result.center_of_mass[0, 0]
    notes = (
        f"it walks {way:.3f} m; its feet are lifted {readings.lifts[0]} and {readings.lifts[1]} times, by up to "
        f"{1e3 * readings.soles.max():.0f} mm",
    )
    return result.noted(*notes)


def plates(result: Record) -> Mapping[str, Plate]:
    """Feet, center of mass, zero-moment point, forces, torques."""
    caption = "It walks. The center of pressure goes where the plan has the zero-moment point; joints follow theirs to 0.3 deg."
    return {"walk": plate(result, caption, walking())}


EXAMPLE = Example(
    name="hoap1_walk",
    title="Small humanoid, walking",
    rows=("S-5",),
    summary=(
        "A humanoid with 26 degrees of freedom, 48 cm, 6 kg, walks 12 steps of 4 cm in 6 s on a rigid floor with friction 0.5. "
        "The linear inverted pendulum and the whole body's own zero-moment point plan the motion; servos at the joints "
        "follow it, and nothing else holds the robot: it walks 0.44 m."
    ),
    run=run,
    plates=plates,
    panels=("contact_forces", "center_of_pressure", "center_of_mass", "q", "energy"),
)
