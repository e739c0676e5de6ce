"""Contact models on problems with closed forms: what was written before they ran comes out."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from kumitate.errors import InputError
from kumitate_problems import contact as problems
from kumitate_problems.contact import Measured, Trial
from kumitate_problems.scenes import balls, buildings, dominoes, machines, tops
from studies.contact_rows import ROWS, Expected, Row
from studies.contact_table import MODELS, Verdict, contact_page, contact_table, told

#: Run always; the others with the slow tests.
QUICK = {
    "bouncing ball", "incline, at the limit", "incline, between thresholds", "cube pushed along 0, 30, 45, 60 deg",
    "sphere, sliding to rolling", "box on four corners", "Painlevé rod", "elastic balls", "tippe top", "boxes on a conveyor",
}  # fmt: skip
#: Problems that take long, shortened; the table runs them whole.
SHORT = {
    "stack of 10": partial(problems.stack, masses=(1.0,) * 10, duration=0.3),
    "stack of 20": partial(problems.stack, masses=(1.0,) * 20, duration=0.3),
    "666": partial(balls.cube_of_balls, side=3, duration=1.0),
    "elastic 666": partial(balls.cube_of_balls, side=3, duration=1.0, restitution=1.0),
    "brick wall hit by a ball": partial(balls.wall_hit, rows=4, columns=3),
    "arch": partial(buildings.arch, duration=1.0),
    "card house": partial(buildings.card_house, duration=0.5),
    "dominoes": partial(dominoes.dominoes, count=12),
    "rattleback": partial(tops.rattleback, duration=1.0),
    "chain over a drum": partial(machines.chain_over_drum, beads=4),
}
#: Others, by model. Stiff springs swing from the beginning, in four million steps a second; each restitution is compiled alone.
SHORT_FOR = {
    ("heavy on light", "penalty"): partial(problems.stack, masses=(1.0, 1000.0), duration=0.11),
    ("stack of 4", "penalty"): partial(problems.stack, duration=0.6),
    ("incline, held", "penalty"): partial(problems.held_on_incline, duration=1.0),
    ("incline, at the limit", "penalty"): partial(problems.steep_hold, duration=1.0),
    ("incline, between thresholds", "penalty"): partial(problems.between_thresholds, duration=1.0),
    **{("head-on spheres", model): partial(problems.head_on, restitutions=(0.0, 0.25, 1.0)) for model in MODELS},
}
#: It trembles about its tolerance, so that rounding decides of a single run; many are looked at below.
UNDECIDED = {("incline, sliding", "multipoint")}
CASES = [
    pytest.param(
        replace(row, problem=SHORT_FOR.get((row.name, model), SHORT.get(row.name, row.problem))), model,
        id=f"{row.name}-{model}",
        marks=() if model == "rigid" and row.name in QUICK | set(SHORT) else pytest.mark.slow,
    )
    for row in ROWS
    for model in row.expected
    if (row.name, model) not in UNDECIDED
]  # fmt: skip


@pytest.mark.parametrize(("row", "model"), CASES)
def test_verdicts_are_those_written_before(row, model):
    [verdict] = contact_table([model], [row])
    assert verdict.as_expected, f"{told(verdict)}; expected because {row.expected[model].because}"


@pytest.mark.slow
def test_what_trembles_misses_its_tolerance(monkeypatch):
    """`multipoint` on the incline, from 25 starts that differ by rounding: out by two to three tolerances (median)."""
    rng, simulate = np.random.default_rng(0), problems.simulate

    def nudged(mechanism, q, *arguments, **options):
        return simulate(mechanism, np.array(q) + rng.normal(scale=1e-13, size=len(q)), *arguments, **options)

    monkeypatch.setattr(problems, "simulate", nudged)
    [row] = [row for row in ROWS if (row.name, "multipoint") in UNDECIDED]
    errors = [row.problem(Trial("multipoint"))[0] for _ in range(25)]
    parts = [item.error / item.tolerance for item in errors]
    assert 1.5 < np.median(parts) < 5.0


def test_something_is_expected_of_rigid_contact_on_every_row():
    assert len({row.name for row in ROWS}) == len(ROWS) >= 30
    for row in ROWS:
        assert "rigid" in row.expected
        assert set(row.expected) <= set(MODELS)
        assert all(expected.because for expected in row.expected.values())
    assert not all(row.expected["rigid"].holds for row in ROWS)  # no model can pass all rows


@pytest.mark.parametrize("problem", [problems.block_stops, problems.slides_down], ids=["stops", "slides"])
def test_errors_halve_with_the_step(problem):
    coarse, fine = (next(item for item in problem(Trial("rigid", h)) if item.unit == "m").error for h in (1e-3, 5e-4))
    assert 0.4 * coarse < fine < 0.6 * coarse


@pytest.mark.slow
@pytest.mark.parametrize("problem", [problems.rolling_down, problems.block_on_spring], ids=["rolls", "swings"])
def test_more_errors_halve_with_the_step(problem):
    coarse, fine = (next(item for item in problem(Trial("rigid", h)) if item.unit == "m").error for h in (1e-3, 5e-4))
    assert 0.4 * coarse < fine < 0.6 * coarse


@pytest.mark.slow
def test_the_answer_of_rigid_bodies_to_the_cradle():
    """Every pair at once: −⅓, ⅔, ⅔ keeps momentum and energy as 0, 0, 1 does."""
    run = problems._line(Trial("rigid"), [1.0, 0.0, 0.0], gap=0.0, duration=0.05, restitution=1.0)
    assert run.v[-1, 3::6] == pytest.approx([-1 / 3, 2 / 3, 2 / 3], abs=1e-9)
    assert run.energy.kinetic[-1] == pytest.approx(0.5, abs=1e-9)


def row_of(expected: bool, error: float) -> Row:
    return Row("made up", "x = 1", lambda trial: [Measured("x", error, 1e-3, "m")], {"rigid": Expected(expected, "it must")})


@pytest.mark.parametrize(
    ("expected", "error", "word"),
    [(True, 1e-4, "holds: "), (True, 1.0, "fails (not expected)"), (False, 1.0, "fails: "), (True, math.nan, "fails (not")],
)
def test_the_page_says_what_was_not_expected(expected, error, word):
    found = contact_table(["rigid"], [row_of(expected, error)])
    page = contact_page(found)
    assert word in page
    assert "because" not in page
    assert "it must." in page
    assert ("Not as expected: made up (rigid)." in page) == (not found[0].as_expected)
    assert found[0].as_dict()["holds"] == found[0].holds


def test_what_was_thought_at_first_stands_in_the_page():
    row = Row("made up", "x = 1", lambda trial: [], {"rigid": Expected(True, "it must", "fails: it cannot")})
    measured = [Measured("x", 1e-4, 1e-3, "m")]
    assert "it must. (At first: fails: it cannot.)" in contact_page([Verdict(row, "rigid", 1e-3, measured)])


def test_models_that_are_not_there_are_refused():
    with pytest.raises(InputError, match="no contact model 'soft'; there are rigid, multipoint, penalty"):
        contact_table(["soft"])


def test_the_command_runs_rows_by_name(monkeypatch, tmp_path, capsys):
    from studies import contact_rows as module
    from studies.commands.contact_table import contact_table as command

    monkeypatch.setattr(module, "ROWS", (row_of(True, 1e-4),))
    assert command(model=["rigid"], row=["made"], markdown=tmp_path / "page.md") == 0
    assert "made up" in (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "holds" in capsys.readouterr().out
    monkeypatch.setattr(module, "ROWS", (row_of(False, 1e-4),))
    assert command(model=["rigid"]) == 1
    with pytest.raises(InputError, match="the rows are made up"):
        command(row=["nothing"])


def test_springs_give_back_the_restitution_that_is_asked_for():
    springs = partial(Trial.springs, 1.0)
    half = springs(problems.Surface(restitution=0.5))
    ratio = half["damping"] / (2.0 * math.sqrt(half["stiffness"]))
    assert math.exp(-math.pi * ratio / math.sqrt(1.0 - ratio**2)) == pytest.approx(0.5)
    assert springs(problems.Surface(restitution=1.0))["damping"] == 0.0
