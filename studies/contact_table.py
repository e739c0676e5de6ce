"""The page docs/contact-table.md: contact models on problems with closed forms, and what was expected of each before it ran."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from kumitate.contact.models import FORCE_MODELS, IMPULSE_MODELS
from kumitate.errors import InputError

from . import contact_problems as problems
from .contact_problems import Measured, Trial

__all__ = ["MODELS", "ROWS", "Expected", "Row", "Verdict", "contact_page", "contact_table", "told"]

#: All models, in the order of the table.
MODELS = (*IMPULSE_MODELS, *FORCE_MODELS)


@dataclass(frozen=True)
class Expected:
    """What a model is expected to do, and why; `at_first`: the expectation before the first run, if it was different."""

    holds: bool
    because: str
    at_first: str = ""


def _yes(because: str, at_first: str = "") -> Expected:
    return Expected(True, because, at_first)


def _no(because: str, at_first: str = "") -> Expected:
    return Expected(False, because, at_first)


@dataclass(frozen=True)
class Row:
    """A problem and what was expected of each model, written before it ran.

    Attributes:
        name: unique; `what`: the problem and its closed form.
        problem: what measures it.
        expected: by the names of models.
    """

    name: str
    what: str
    problem: Callable[[Trial], list[Measured]]
    expected: Mapping[str, Expected]


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
        measured = [{**asdict(item), "error": float(item.error), "holds": bool(item.holds)} for item in self.measured]
        return {
            "row": self.row.name, "model": self.model, "step": self.step, "holds": bool(self.holds), "expected": expected,
            "measured": measured,
        }  # fmt: skip


_LAW = "obeys the law as it is written"
_ONE = "one point: the law as it is written"
_STIFF = "a stiff spring is over within a step"
_TIPS = "normal impulses are found without friction, whose moment then tips the cube: it chatters on its corners"
_CREEPS = "rounded friction is viscous near rest: what sticks creeps"

ROWS = (
    Row(
        "bouncing ball", "e = 0.8 from 1 m: impacts at 0.4515 and 1.1740 s, at rest from 4.0637 s on", problems.bouncing_ball,
        {"rigid": _yes(_LAW), "multipoint": _yes(_ONE), "penalty": _yes(_STIFF + "; its damper is chosen for e")},
    ),
    Row(
        "head-on spheres", "e = 0, ¼, ½, ¾, 1: momentum stays, relative velocity turns by −e", problems.head_on,
        {
            "rigid": _yes(_LAW), "multipoint": _yes(_ONE),
            "penalty": _yes("a linear spring and damper give back the same part of any velocity"),
        },
    ),
    Row(
        "sliding block", "v0 = 5 m/s, μ = 0.5: stops after 2.5484 m, 1.0194 s", problems.block_stops,
        {
            "rigid": _yes(_LAW), "multipoint": _no(_TIPS, "holds: all points slide alike"),
            "penalty": _yes("full friction above 4 mm/s"),
        },
    ),
    Row(
        "incline, held", "tan θ = 0.3, μ_s = 0.5: no creep", problems.held_on_incline,
        {
            "rigid": _yes("what sticks has no velocity"), "multipoint": _yes("every corner is within its own cone"),
            "penalty": _no(_CREEPS),
        },
    ),
    Row(
        "incline, at the limit", "tan θ = μ_s (1 − 1e-9): no creep", problems.steep_hold,
        {
            "rigid": _yes("the upper corners slip onto the lower ones, which hold"),
            "multipoint": _no("friction is shared evenly: the upper corners carry less and slip, beyond tan θ = μ_s/(1 + μ_s)"),
            "penalty": _no(_CREEPS),
        },
    ),
    Row(
        "incline, sliding", "35 deg, μ_s = 0.5, μ_k = 0.4: a = g (sin θ − μ_k cos θ)", problems.slides_down,
        {
            "rigid": _yes(_LAW), "multipoint": _no("friction, set afterwards, turns the cube: it trembles"),
            "penalty": _yes("full friction above 4 mm/s"),
        },
    ),
    Row(
        "incline, between thresholds", "μ_k = 0.4 < tan θ = 0.45 < μ_s = 0.5: at rest it stays, sliding it goes on",
        problems.between_thresholds,
        {
            "rigid": _yes("static friction below 0.1 mm/s, else kinetic"),
            "multipoint": _no("slides as it should, but tan θ > μ_s/(1 + μ_s): the upper corners slip"),
            "penalty": _no("knows the kinetic coefficient only"),
        },
    ),
    Row(
        "cube pushed along 0, 30, 45, 60 deg", "the same straight path, no yaw", problems.pushed_cube,
        {
            "rigid": _yes("a round cone"), "multipoint": _no(_TIPS, "holds: friction is against the slip"),
            "penalty": _yes("against the slip"),
        },
    ),
    Row(
        "sphere, sliding to rolling", "v = 5/7 v0 from t = 2 v0/(7 μ g) on", problems.sliding_to_rolling,
        {"rigid": _yes(_LAW), "multipoint": _yes(_ONE), "penalty": _yes("rolls once the slip is spent")},
    ),
    Row(
        "sphere, rolling down", "a = 5/7 g sin θ", problems.rolling_down,
        {"rigid": _yes(_LAW), "multipoint": _yes(_ONE), "penalty": _yes("slips by less than a mm/s")},
    ),
    Row(
        "spring with dry friction", "each half swing is shorter by 2 μ m g/k; at last it sticks", problems.block_on_spring,
        {"rigid": _yes(_LAW), "multipoint": _yes("all points alike"), "penalty": _no("swings right, then creeps")},
    ),
    Row(
        "stack of 4", "contact k carries (n − k + 1) m g; nothing moves", problems.stack,
        {
            "rigid": _yes("solved to rounding, not swept"), "multipoint": _yes("all normal forces push: least norm is it"),
            "penalty": _yes("equal boxes, stiff springs"),
        },
    ),
    Row(
        "heavy on light", "1000 kg on 1 kg", problems.heavy_on_light,
        {
            "rigid": _yes("masses count only by rounding"), "multipoint": _yes("as the stack"),
            "penalty": _no("one spring for both: what suits the light box swings for seconds under the heavy one"),
        },
    ),
    Row(
        "box on four corners", "forces sum to m g; least-norm split", problems.box_on_corners,
        {
            "rigid": _yes("starts from no impulses in a regularised step: least norm"), "multipoint": _yes("a pseudo-inverse"),
            "penalty": _yes("equal springs under a rigid sole are the least-norm split"),
        },
    ),
    Row(
        "Newton's cradle, touching", "three balls, e = 1: the last goes alone", problems.row_of_balls,
        {
            "rigid": _no("all at one time: −⅓, ⅔, ⅔, which keeps momentum and energy, too"),
            "multipoint": _no("all at one time: −⅓, ⅔, ⅔"),
            "penalty": _no("a wave through linear springs spreads: the last gets most, not all"),
        },
    ),
    Row(
        "Newton's cradle, 1.1 mm apart", "the same, one collision after the other", partial(problems.row_of_balls, gap=1.1e-3),
        {"rigid": _yes("pairs"), "multipoint": _yes("pairs"), "penalty": _yes("pairs: each is over before the next")},
    ),
    Row(
        "Painlevé rod", "leans into its slide, μ = 2: no gained energy, the tip does not sink", problems.rod_jams,
        {
            "rigid": _yes("impulses may jump: the tip jams and strikes (impact without collision)"),
            "multipoint": _yes(
                "friction, coming after the normal impulse, does press the tip in, by less than 1.5 h v; it comes out again",
                "fails: friction presses the tip into the floor",
            ),
            "penalty": _yes("forces are finite; the spring takes the blow"),
        },
    ),
    Row(
        "ball at rest", "depth (m g/K)^(1/n) on springs, none for rigid bodies", problems.ball_at_rest,
        {"rigid": _yes("gaps are closed, not more"), "multipoint": _yes("the same"), "penalty": _yes("static balance")},
    ),
)  # fmt: skip


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
        for model in models:
            if progress is not None:
                progress(f"{row.name}: {model}")
            found.append(Verdict(row, model, step, row.problem(Trial(model, step))))
    return found


_HEAD = """\
# Contact models on problems with closed forms

Printed by `scripts/study contact-table --markdown docs/contact-table.md`.
What is expected of each model, and why, was written
before it ran; where the first run showed otherwise, the first expectation is given with the reason. No model can pass all
rows: the cradle has two answers, and what rounds friction off cannot stick.

A model holds on a row if every error is within its tolerance: positions 1.5 h v, impacts h, with steps h of {step:g} s; what no
step changes has a bound of its own. `penalty` has springs so stiff that a collision takes 0.3 ms, and dampers that give back e.
Each cell shows the error that is the largest part of its tolerance.

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
