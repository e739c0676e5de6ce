"""The three-link arm whose tip is held on the floor (N 5, figures 3 to 9)."""

from collections.abc import Mapping

from kumitate.examples.catalogue import Example, Plate
from kumitate.records.record import Record

from ..held_arms import CASES, case_note, case_plate, simulated


def run() -> Record:
    """Case (i), ten seconds; the audit covers all seven."""
    results = {number: simulated(case) for number, case in CASES.items()}
    notes = tuple(case_note(number, result) for number, result in results.items())
    return results["i"].noted(*notes)


def plates(result: Record) -> Mapping[str, Plate]:
    """One figure per case, as in the paper."""
    return {f"figure{case.figure}-{number}": case_plate(number, simulated(case)) for number, case in CASES.items()}


EXAMPLE = Example(
    name="held_arm",
    title="Three-link arm, its tip held on the floor, seven cases",
    rows=("N-1", "N-2"),
    summary=(
        "A damped arm of three rods arches from its base on the floor to its tip, which is held on the floor with friction "
        "f_t = 0.2 f_n. Three inputs and four free responses, at the paper's sampling time of 10 ms: the tip's height stays "
        "zero in all, and its forces are the same by repeated inverse dynamics and by articulated bodies. Twice the mass moves "
        "as half the damping does, and half the mass as twice the damping: figures 6 and 9 are alike, and 7 and 8."
    ),
    run=run,
    plates=plates,
)
