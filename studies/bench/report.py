"""The results of a benchmark: rows of figures, as a table in Markdown and as plain data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from kumitate.measure.timing import Timing

__all__ = ["COLUMNS", "Report", "Row", "seconds"]

#: The heads of the table.
COLUMNS = ("case", "what", "kumitate", "beside it", "its time", "ratio", "target", "verdict", "agree to", "remarks")


@dataclass(frozen=True)
class Row:
    """One comparison.

    Attributes:
        case, what: which case, and what of it is timed.
        ours: seconds of kumitate per unit of work (a state, a step, a call, a compilation).
        beside: what it is compared with: a peer, or another method; "" if it stands for itself.
        theirs: its seconds; None if it is not installed or only counted.
        at_least: the target for the ratio theirs/ours.
        at_most: the target for our seconds.
        agreement: the largest difference of the results, found before timing, as part of the largest entry.
        operations: of us and of the other, where both are programs of ours.
        remarks: what must be known to read the row.
    """

    case: str
    what: str
    ours: Timing | None
    beside: str = ""
    theirs: Timing | None = None
    at_least: float | None = None
    at_most: float | None = None
    agreement: float | None = None
    operations: tuple[int, int] | None = None
    remarks: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times faster we are, by the fastest samples; by operations where nothing was timed."""
        if self.ours is not None and self.theirs is not None:
            return self.theirs.minimum / self.ours.minimum
        if self.ours is None and self.operations is not None:
            return self.operations[1] / self.operations[0]
        return None

    @property
    def verdict(self) -> str:
        """ "met" or "missed", "not measured" without a peer, "" without a target."""
        if self.at_least is None and self.at_most is None:
            return ""
        if self.at_least is not None:
            return "not measured" if self.ratio is None else "met" if self.ratio >= self.at_least else "missed"
        return "not measured" if self.ours is None else "met" if self.ours.minimum <= self.at_most else "missed"  # type: ignore[operator]

    def cells(self) -> tuple[str, ...]:
        """The row as text, a cell for each of `COLUMNS`."""
        count = f"{self.operations[0]} : {self.operations[1]} operations" if self.operations else ""
        return (
            self.case,
            self.what,
            _shown(self.ours),
            self.beside,
            _shown(self.theirs),
            "" if self.ratio is None else f"{self.ratio:.2f}×" if self.ratio < 10.0 else f"{self.ratio:.1f}×",
            f"≥ {self.at_least:g}×" if self.at_least is not None else f"≤ {seconds(self.at_most)}" if self.at_most else "",
            self.verdict,
            "" if self.agreement is None else f"{self.agreement:.0e}",
            "; ".join(part for part in (count, self.remarks) if part),
        )

    def as_dict(self) -> dict[str, Any]:
        """The row as plain data, times in seconds."""
        return {**asdict(self), "ratio": self.ratio, "verdict": self.verdict}


@dataclass(frozen=True)
class Report:
    """All rows, the machine they were measured on, and what could not be measured and why."""

    machine: dict[str, str]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = field(default=())
    rounds: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data, times in seconds."""
        return {
            "machine": self.machine,
            "rounds": self.rounds,
            "rows": [row.as_dict() for row in self.rows],
            "notes": list(self.notes),
        }

    def markdown(self) -> str:
        """The report as a page."""
        lines = [
            "# Benchmarks",
            "",
            "Printed by `scripts/study bench`.",
            "Each time is the fastest sample, the median behind the stroke; ratios are of the",
            f"fastest; {self.rounds} samples of each contender, taken by turns, one thread. Results are compared before",
            'anything is timed ("agree to": the largest difference, as part of the largest entry). What the numbers do not say',
            "stands in [studies/bench/README.md](../studies/bench/README.md).",
            "",
            *_table(("machine", ""), self.machine.items()),
            "",
            *_table(COLUMNS, (row.cells() for row in self.rows)),
        ]
        if self.notes:
            lines += ["", *(f"- {note}" for note in self.notes)]
        return "\n".join(lines) + "\n"


def seconds(value: float) -> str:
    """A time with a unit that suits it, to three digits.

    >>> seconds(2.041e-7), seconds(0.25)
    ('0.204 µs', '250 ms')
    """
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if value < limit:
            return f"{value * factor:.3g} {unit}"
    return f"{value:.3g} s"


def _shown(timing: Timing | None) -> str:
    if timing is None:
        return ""
    if timing.samples == 1:
        return seconds(timing.minimum)
    return f"{seconds(timing.minimum)} / {seconds(timing.median)}"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cells)} |"

    head = list(head)
    return [line(head), line(["---"] * len(head)), *(line(row) for row in rows)]
