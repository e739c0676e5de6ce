"""The study of work and precision: its cases end where they say, and its page says who was the fastest."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kumitate.cli.app import run_command
from studies.command import app
from studies.work_precision.cases import CASES, cases
from studies.work_precision.contract import Point
from studies.work_precision.mujoco_runs import MuJoCo
from studies.work_precision.ours import Kumitate
from studies.work_precision.page import PEERS, Found, best, draw, measured, page, summary, winner
from studies.work_precision.pinocchio_runs import Pinocchio

DOCS = Path(__file__).resolve().parents[2] / "docs"
FAST = ("double-pendulum", "slider-crank")


@pytest.mark.parametrize("name", FAST)
def test_programs_converge_to_the_end(name):
    """Twice as many steps, at least four times as near; two programs and two references by hand."""
    case = replace(cases(name), steps=(5e-3, 2.5e-3))
    for peer, methods in ((Kumitate, ("midpoint", "rk4", "rkf45")), (MuJoCo, ("RK4",)), (Pinocchio, ("RK4 of ours",))):
        runs = [point for point in peer().runs(case) if point.method in methods]
        for method in methods:
            coarse, fine = (point.error for point in runs if point.method == method)
            assert fine < 1e-4
            assert fine < 0.3 * coarse


@pytest.mark.parametrize(
    ("name", "method", "step", "most"),
    [("six-bar", "rk4", 2e-3, 1e-7), ("car-axis", "rk4", 1e-3, 1e-6), ("stops", "rk4", 1e-3, 1e-3),
     ("ball", "semi_implicit_euler", 5e-4, 1e-3), ("stewart", "rk4", 1e-2, 1e-6)],
)  # fmt: skip
def test_further_cases_end_where_they_say(name, method, step, most):
    """By equations written out, published, in closed form; or, for the six-bar, by another integrator's shorter steps."""
    case = cases(name)
    alone = next(iter(Kumitate()._measured(case, method, case.duration / case.count(step), case.count(step))))
    assert alone.error < most


@pytest.mark.parametrize(("name", "wanted"), [("double-pendulum", True), ("slider-crank", False), ("bricard", False)])
def test_programs_say_what_they_cannot_run(name, wanted):
    (exudyn,) = (peer for peer in PEERS if peer.name == "Exudyn")
    assert (exudyn().why_not(cases(name)) == "") == wanted
    assert Pinocchio().why_not(cases("andrews")) == "has no springs"


def made_up() -> Found:
    points = [
        Point("kumitate", "rk4", 1e-2, 1e-4, 1e-3), Point("kumitate", "rk4", 1e-3, 1e-7, 1e-2),
        Point("kumitate", "rk4, batch", 1e-3, 1e-7, 1e-3), Point("MuJoCo", "RK4", 1e-2, 1e-7, 4e-3),
    ]  # fmt: skip
    return Found(cases("double-pendulum"), points, {"Pinocchio": "is not installed", "Exudyn": "fails", "Drake": "trees"})


def test_where_another_program_is_faster_the_page_says_so(tmp_path):
    found = made_up()
    assert best(found, "kumitate", 1e-6) == found.points[1]
    assert best(found, "kumitate", 1e-6, batch=True) == found.points[2]
    assert [winner(found, level) for level in (1e-3, 1e-6, 1e-9)] == ["kumitate", "MuJoCo", None]
    assert summary(found, 1e-6) == (
        "Double pendulum, 3 s",
        "10 ms",
        "4 ms (× 0.4)",
        "is not installed",
        "fails",
        "trees",
        "1 ms",
    )
    assert summary(found, 1e-9)[1:3] == ("reaches 1e-07", "reaches 1e-07")
    text = page([found], "images", "a machine", "kumitate 1")
    assert "fastest on 0 of 1; another is faster on Double pendulum, 3 s (MuJoCo)." in text
    assert "At 1e-09 kumitate is the fastest on 0 of 1; nobody reaches it on Double pendulum, 3 s." in text
    assert ElementTree.parse(draw(found, tmp_path / "one.svg")).getroot().tag.endswith("svg")


def test_a_run_that_goes_astray_is_left_out():
    class Astray(Kumitate):
        def runs(self, case):
            yield Point("kumitate", "rk4", 1e-2, float("nan"), 1e-3)

    found = measured(cases("double-pendulum"), [Astray()])
    assert found.points == []
    assert "no run ended" in found.missing["kumitate"]


def test_the_page_has_every_case_with_its_figure():
    text = (DOCS / "work-precision.md").read_text(encoding="utf-8")
    for name in CASES:
        figure = f"images/work-precision/{name}.svg"
        assert f"]({figure})" in text
        assert "kumitate, " in (DOCS / figure).read_text(encoding="utf-8")
    assert len(re.findall(r"^At 1e-0\d kumitate is the fastest", text, re.MULTILINE)) == 3


def test_the_command_refuses_what_it_does_not_know(capsys):
    assert run_command(app, ["work-precision", "--case", "perpetuum"]) == 1
    assert "no problem 'perpetuum'; there are four-bars-8, " in capsys.readouterr().err
