"""The upper-body rotation strategy (thesis 6.3.1, figure 6.6)."""

from collections.abc import Mapping

from kumitate.examples.catalogue import Example, Plate
from kumitate.records.record import Record

from .. import standing

STRATEGY = standing.STRATEGIES["rotation"]


def run() -> Record:
    """Three seconds, pushed from 1.0 to 1.1 s; the audit describes the motion."""
    result = standing.run(STRATEGY, name="upper_body_rotation")
    notes = standing.said(standing.read(STRATEGY, result))
    return result.noted(*notes)


def plates(result: Record) -> Mapping[str, Plate]:
    """Figure 6.6."""
    return {"figure6.6": standing.plate(STRATEGY, result)}


EXAMPLE = Example(
    name="upper_body_rotation",
    title="Upper-body rotation strategy: pushed at the left hand",
    rows=("T-6.2", "T-6.3"),
    summary=(
        "A lower body after HOAP-2, both feet held, its left arm stretched out, is pushed at the hand from the front with 7 N "
        "from 1.0 to 1.1 s. Virtual springs and dampers with the printed gains, on top of gravity compensation, and the right "
        "ankle turned against the left one (eq. 6.7) let the trunk turn about z: the angular momenta about y and z run in "
        "opposite phase, and the zero-moment point stays inside the soles."
    ),
    run=run,
    plates=plates,
)
