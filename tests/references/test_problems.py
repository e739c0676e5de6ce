"""The reference problems that `kumitate validate` runs: each holds, and the page of docs has what the catalogue has."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import kumitate_problems
from kumitate.cli.app import run
from kumitate_problems import PROBLEMS, Checked, Measured, Problem
from kumitate_problems.figure import file_of
from kumitate_problems.table import cells, page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "validation.md"
CASES = [pytest.param(problem, id=name, marks=pytest.mark.slow if name == "arch" else ()) for name, problem in PROBLEMS.items()]


@pytest.mark.parametrize("problem", CASES)
def test_what_is_published_comes_out_and_is_on_the_page(problem):
    """Two numbers at least, so that a wrong geometry cannot pass; the page has every quantity with its reference and bar."""
    checked = problem.check()
    assert checked.holds, f"{checked.worst.what}: {checked.worst.found}, published {checked.worst.reference}"
    assert sum(np.size(item.reference) for item in checked.measured) >= 2
    assert len({item.what for item in checked.measured}) == len(checked.measured)
    section = (
        PAGE.read_text(encoding="utf-8").split(f"**{problem.name}**: {problem.what}. {problem.source}. ")[1].split("\n**")[0]
    )
    printed = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line.startswith("| ")][1:]
    for row, item in zip(printed, checked.measured, strict=True):
        what, _, error, bar, unit = row
        assert (what, bar, unit) == (item.what, f"{item.tolerance:.0e}", "" if item.unit == "1" else item.unit)
        assert float(error) <= item.tolerance * 1.05  # as printed


def test_every_problem_names_its_source():
    assert len(PROBLEMS) >= 60
    for problem in PROBLEMS.values():
        assert len(problem.source) > 10
        assert len(problem.what) > 5
    text = PAGE.read_text(encoding="utf-8")
    assert text.count("**: ") == len(PROBLEMS)
    assert "missed" not in text


def made_up(found, reference=1.0) -> Problem:
    return Problem("made up", "nothing", "x = 1", "nobody", lambda: [Measured("x", found, 1e-3, "m", reference)])


@pytest.mark.parametrize(
    ("found", "reference", "holds"),
    [
        (1.0 + 1e-4, 1.0, True), (1.1, 1.0, False), (math.nan, 1.0, False), (np.array([1.0, 1.1]), 1.0, False),
        (np.array([1.0, math.nan]), np.ones(2), False), (np.array([1.0, 2.0]), np.array([1.0, 2.0]), True),
    ],
)  # fmt: skip
def test_a_quantity_misses_its_bar_where_any_of_its_numbers_does(found, reference, holds):
    checked = made_up(found, reference).check()
    assert checked.holds == holds
    assert ("missed" in page([checked], "here")) != holds
    assert ("missed" in cells(checked)[0][4]) != holds


def test_those_that_miss_their_bar_come_first():
    good, bad, exact = Measured("a", 0.9, 1.0, "m"), Measured("b", math.nan, 1.0, "m"), Measured("c", 0.0, 0.0, "1")
    assert Checked(made_up(1.0), [good, bad, exact], 0.0).worst is bad
    assert Checked(made_up(1.0), [exact, good], 0.0).worst is good


def test_the_command_runs_problems_by_name_or_class_and_writes_the_page(tmp_path, capsys):
    assert run(["validate", "--only", "conical", "--only", "rod let", "--markdown", str(tmp_path / "page.md"), "--all"]) == 0
    told = capsys.readouterr().out
    assert re.search(r"conical pendulum .*-0\.76604", told, re.DOTALL)
    assert "2, of which 0 missed" in told
    assert "| pull | 12.80" in (tmp_path / "page.md").read_text(encoding="utf-8")


def test_the_command_draws_a_figure_a_problem_and_shows_it_on_the_page(tmp_path):
    asked = ["validate", "--only", "conical", "--markdown", str(tmp_path / "page.md"), "--figures", str(tmp_path / "figures")]
    assert run(asked) == 0
    (drawn,) = (tmp_path / "figures").iterdir()
    assert drawn.name == "conical-pendulum.svg"
    assert "(figures/conical-pendulum.svg)" in (tmp_path / "page.md").read_text(encoding="utf-8")
    assert all(word in drawn.read_text(encoding="utf-8") for word in ("place after 5/4 turns", "pull", "published"))


def test_every_problem_has_its_figure_on_the_page_in_the_docs():
    shown = re.findall(r"\]\(images/validation/(.*?)\)", PAGE.read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(file_of(name) for name in kumitate_problems.PROBLEMS)
    assert {path.name for path in (PAGE.parent / "images" / "validation").iterdir()} == set(shown)


def test_the_command_exits_with_one_if_a_bar_is_missed(monkeypatch, capsys):
    monkeypatch.setattr(kumitate_problems, "PROBLEMS", {"made up": made_up(2.0)})
    assert run(["validate"]) == 1
    assert "made up: x misses its bar" in capsys.readouterr().err
    assert run(["validate", "--json"]) == 1
    (told,) = json.loads(capsys.readouterr().out)["problems"]
    assert told["quantities"] == [
        {"what": "x", "unit": "m", "found": 2.0, "reference": 1.0, "error": 1.0, "bar": 1e-3, "holds": False}
    ]


def test_a_name_that_no_problem_has_is_refused(capsys):
    assert run(["validate", "--only", "perpetuum"]) == 1
    assert re.search(r"no problem has 'perpetuum' in its name or class; there are A01, ", capsys.readouterr().err)
