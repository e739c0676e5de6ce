"""The combined rotation-extension strategy (thesis 6.3.2, figure 6.8)."""

from collections.abc import Mapping

from kumitate.examples.catalogue import Example, Plate
from kumitate.records.record import Record

from .. import standing

STRATEGY = standing.STRATEGIES["combined"]


def run() -> Record:
    """Three seconds, pushed from 1.0 to 1.1 s; the audit describes the motion."""
    result = standing.run(STRATEGY, name="rotation_extension")
    notes = standing.said(standing.read(STRATEGY, result))
    return result.noted(*notes)


def plates(result: Record) -> Mapping[str, Plate]:
    """Figure 6.8."""
    return {"figure6.8": standing.plate(STRATEGY, result)}


EXAMPLE = Example(
    name="rotation_extension",
    title="Combined rotation-extension strategy: pushed at the right shoulder",
    rows=("T-6.2", "T-6.4"),
    summary=(
        "A lower body after HOAP-2, both feet held, is pushed at the right shoulder from behind with 10 N from 1.0 to 1.1 s. "
        "The left ankle moves by the reaction null space (eq. 6.12, 6.13): the upper body turns about y and z, both momenta "
        "in phase, while the center of mass moves by less than 10 mm and the zero-moment point stays inside the soles. Three "
        "of the printed gains are retuned; docs/balance.md compares them with the printed ones."
    ),
    run=run,
    plates=plates,
)
