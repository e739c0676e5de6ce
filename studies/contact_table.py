"""The page docs/contact-table.md: contact models on problems with known answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

import kumitate.papers  # noqa: F401 (its methods are then in the tables of methods)
from kumitate.contact.models import FORCE_MODELS, IMPULSE_MODELS
from kumitate.errors import InputError
from kumitate_problems.contact import Trial
from kumitate_problems.contract import Measured

from .contact_rows import ROWS, Row

__all__ = ["MODELS", "Verdict", "contact_page", "contact_table", "told"]

#: All models, in the order of the table.
MODELS = (*IMPULSE_MODELS, *FORCE_MODELS)


@dataclass(frozen=True)
class Verdict:
    """A model on a row: what was measured with steps of `step` [s]."""

    row: Row
    model: str
    step: float
    measured: list[Measured]

    @property
    def holds(self) -> bool:
        """Whether every error is within its tolerance."""
        return all(item.holds for item in self.measured)

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.holds == self.row.expected[self.model].holds

    @property
    def worst(self) -> Measured:
        """What is the largest part of its tolerance."""
        return max(self.measured, key=lambda item: item.error / item.tolerance if item.error == item.error else float("inf"))

    def as_dict(self) -> dict[str, Any]:
        """The verdict as plain data."""
        expected = asdict(self.row.expected[self.model])
        measured = [item.as_dict() for item in self.measured]
        return {
            "row": self.row.name, "model": self.model, "step": self.step, "holds": bool(self.holds), "expected": expected,
            "measured": measured,
        }  # fmt: skip


def contact_table(
    models: Iterable[str] = MODELS,
    rows: Iterable[Row] = ROWS,
    *,
    step: float = 1e-3,
    progress: Callable[[str], None] | None = None,
) -> list[Verdict]:
    """Runs models on rows; `progress`: called with the name of what is run next.

    Raises:
        InputError: if there is no such model.
    """
    found = []
    models = tuple(models)
    for model in models:
        if model not in MODELS:
            raise InputError(f"there is no contact model {model!r}; there are {', '.join(MODELS)}")
    for row in rows:
        for model in (name for name in models if name in row.expected):
            if progress is not None:
                progress(f"{row.name}: {model}")
            found.append(Verdict(row, model, step, row.problem(Trial(model, step))))
    return found


_HEAD = """\
# Contact models on problems with known answers

Printed by `scripts/study contact-table --markdown docs/contact-table.md`.

Each contact model runs each problem with steps h of {step:g} s, and *holds* if all errors are within their tolerances:
1.5 h v for positions, h for times of impacts, and separate bounds for what does not depend on the step. Cells show the
error that is closest to its tolerance. The answers are closed forms, published numbers, or published equations that
`src/kumitate_problems/scenes` integrates.

What each model should do, and why, was written before it ran; where the first run disagreed, the first expectation is
given in brackets. No model can pass all rows: Newton's cradle has two valid answers, and models that round friction off
cannot stick. `penalty` has springs so stiff that a collision takes 0.3 ms, and dampers that give the restitution e. The
later rows are for `rigid` alone.

| problem | {models} |
|---{rules}|
"""


def contact_page(verdicts: Iterable[Verdict]) -> str:
    """The page in Markdown: the table of verdicts, then every row with its numbers and reasons."""
    verdicts = list(verdicts)
    models = list(dict.fromkeys(verdict.model for verdict in verdicts))
    rows = {verdict.row.name: verdict.row for verdict in verdicts}
    of = {(verdict.row.name, verdict.model): verdict for verdict in verdicts}
    parts = [_HEAD.format(step=verdicts[0].step, models=" | ".join(models), rules="|---" * len(models)).rstrip("\n")]
    parts += [_line(name, *(told(of[name, model]) if (name, model) in of else "" for model in models)) for name in rows]
    surprises = ", ".join(f"{verdict.row.name} ({verdict.model})" for verdict in verdicts if not verdict.as_expected)
    parts.append(f"\nNot as expected: {surprises}." if surprises else "\nAll came out as expected.")
    for name, row in rows.items():
        parts.append(f"\n## {row.name[0].upper()}{row.name[1:]}\n\n{row.what}.\n")
        parts += [_reason(of[name, model]) for model in models if (name, model) in of]
        parts.append("\n| model | measured | error | tolerance |\n|---|---|---|---|")
        parts += [
            _line(
                model, item.what, f"{item.error:.2g} {item.unit}", f"{item.tolerance:.2g}" + ("" if item.holds else ", missed")
            )
            for model in models
            if (name, model) in of
            for item in of[name, model].measured
        ]
    return "\n".join(parts) + "\n"


def told(verdict: Verdict) -> str:
    """A verdict in some words: whether it holds, and by which number."""
    worst = verdict.worst
    surprise = "" if verdict.as_expected else " (not expected)"
    return f"{_word(verdict.holds)}{surprise}: {worst.error:.1e} of {worst.tolerance:.1e} {worst.unit}"


def _reason(verdict: Verdict) -> str:
    expected = verdict.row.expected[verdict.model]
    at_first = f" (At first: {expected.at_first}.)" if expected.at_first else ""
    return f"- `{verdict.model}` {_word(expected.holds)}: {expected.because}.{at_first}"


def _line(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def _word(holds: bool) -> str:
    return "holds" if holds else "fails"
