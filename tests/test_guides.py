"""Start, tutorials, how-to pages and the page for users of other programs: their code runs, and shows what the text says."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import KumitateWarning

from .test_documents import ROOT, Shown, blocks, executed
from .tools import NODE
from .view.browser import played

DOCS = ROOT / "docs"


def run_page(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Shown, Shown]:
    monkeypatch.chdir(folder)
    return executed(DOCS / name)


def written(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.stat().st_size}


@pytest.fixture
def page(request, tmp_path, monkeypatch):
    """(names, values) of the page that a test is marked with."""
    return run_page(request.param, tmp_path, monkeypatch)


def of(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("page", [name], indirect=True, ids=[name])


# --- start ------------------------------------------------------------------------------------------------------------
@of("start.md")
def test_start_leads_to_a_figure_and_a_page(page, tmp_path):
    shown, _ = page
    assert {"first.png", "first.html"} <= written(tmp_path)
    assert np.ptp(shown["run"].q) > 1.0  # rad: it falls over
    np.testing.assert_allclose(shown["tau"], 0.0, atol=1e-12)
    assert (shown["X"].shape, shown["J"].shape) == ((4, 4), (6, 1))


def test_start_is_short():
    """From nothing to a figure: at most 15 lines of code; the page has at most 600 words."""
    text = (DOCS / "start.md").read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    install = re.search(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    assert install
    code = [*install[1].splitlines(), *blocks(DOCS / "start.md")[0].splitlines()]
    assert len([line for line in code if line.strip()]) <= 15
    assert len(prose.split()) <= 600


def test_both_languages_start_with_the_same_code():
    english, japanese = (DOCS / "start.md", DOCS / "ja" / "start.md")
    for ours, theirs in zip(blocks(english), blocks(japanese), strict=True):
        assert ast.dump(ast.parse(ours)) == ast.dump(ast.parse(theirs))
    for language in ("sh", "powershell", "xml"):
        assert blocks(english, language) == blocks(japanese, language)


# --- tutorials --------------------------------------------------------------------------------------------------------
@of("tutorials/own-robot.md")
def test_the_arm_hangs_below_its_goal_and_then_reaches_it(page, tmp_path):
    shown, _ = page
    assert shown["findings"] == []
    sag = shown["goal"] - shown["run"].q[-1]
    np.testing.assert_allclose(sag, shown["arm"].gravity_forces(shown["run"].q[-1]) / 60.0, atol=1e-6)
    np.testing.assert_allclose(np.degrees(sag), [-8.2, -1.3], atol=0.05)  # as the text says
    assert np.abs(shown["held"].q[-1] - shown["goal"]).max() < 1e-6
    np.testing.assert_allclose(np.abs(shown["held"].tau).max(axis=0), [60.0, 30.0])
    assert all(run.audit.efforts == ("the controller: compiled",) for run in (shown["run"], shown["held"]))
    assert {"arm.png", "arm.html", "arm.h5", "missed.png"} <= written(tmp_path)


@of("tutorials/own-loop.md")
def test_the_press_stays_closed_and_its_wrist_moves_the_slider(page, tmp_path):
    shown, _ = page
    run = shown["run"]
    np.testing.assert_allclose(run.q[:, 2], shown["slider_at"](run.q[:, 0]), atol=1e-12)
    np.testing.assert_allclose(shown["push"][:, 0], run.a[:, 2], atol=1e-9)  # of 1 kg
    assert run.v[-1, 0] == pytest.approx(20.0, rel=0.1)
    report = shown["press"].constraint_report(shown["q"]).lines()
    assert report[0] == "mobility 1: 3 degrees of freedom of the tree, 2 independent of 5 equations"
    assert {"press.png", "press.html"} <= written(tmp_path)


@of("tutorials/paper-to-figure.md")
def test_the_pendulum_comes_up_in_one_swing_above_four_thirds(page, tmp_path):
    shown, _ = page
    paper = shown["paper"]
    found = shown["robot"].inverse_dynamics(shown["q"], shown["v"], shown["a"])[:, 1]
    np.testing.assert_allclose(found, paper, atol=1e-12)
    assert shown["swings"] == {0.3: 4, 0.5: 3, 1.0: 2, 1.3: 2, 1.36: 1, 1.5: 1, 2.1: 1}
    for n, run in shown["runs"].items():
        assert np.abs(run.a[:, 0]).max() == pytest.approx(n * shown["g"])  # the acceleration of the pivot
    assert {"swing-up.png", "swing-up.html"} <= written(tmp_path)


@of("tutorials/pick-up-a-cube.md")
def test_the_cube_is_picked_up_and_put_down_where_it_should(page, tmp_path):
    shown, _ = page
    run, weight = shown["run"], 0.1 * 9.81
    cube = run["cube"].position
    np.testing.assert_allclose(cube[-1], [0.4, 0.35, 0.03], atol=1e-3)
    assert cube[2000, 2] > 0.28
    fingers = [run.contact.between("cube", f"arm/panda_{side}finger")[2500] for side in ("left", "right")]
    assert sum(fingers)[2] == pytest.approx(weight, rel=0.2)  # while it is carried, by both
    assert all(abs(np.linalg.norm(push[:2]) - 20.0) < 2.0 for push in fingers)
    np.testing.assert_allclose(run.contact.between("cube", "ground")[-1], [0, 0, weight], atol=1e-6)
    assert run.audit.efforts == ("the controller: compiled", "the input 'target': compiled")
    assert played(tmp_path / "pick.html", tmp_path)
    code = "\n".join(blocks(DOCS / "tutorials/pick-up-a-cube.md"))
    assert len([line for line in code.splitlines() if line.strip() and not line.startswith("print")]) <= 30


# --- how to -----------------------------------------------------------------------------------------------------------
@of("how-to/load.md")
def test_load(page):
    shown, _ = page
    assert (shown["fixed"].nv, shown["free"].nv, shown["still"].nv) == (1, 7, 6)


@of("how-to/from-xml.md")
def test_the_mechanism_in_python_is_that_of_the_xml(page, tmp_path):
    """Its inertia, bias forces and poses at 20 random states, its stop and its drive are those of the file."""
    shown, _ = page
    cart = shown["cart"]
    (text,) = blocks(DOCS / "how-to/from-xml.md", "xml")
    (tmp_path / "again.xml").write_text(text, encoding="utf-8")
    with pytest.warns(KumitateWarning, match="sensors"):
        read = km.load(tmp_path / "again.xml")
    random = np.random.default_rng(5)
    for q, v in random.normal(size=(20, 2, 2)):
        np.testing.assert_allclose(cart.mass_matrix(q), read.mass_matrix(q), rtol=1e-12)
        np.testing.assert_allclose(cart.bias_forces(q, v), read.bias_forces(q, v), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(cart.pose(q, "tip"), read.pose(q, "tip"), atol=1e-15)
    ours, theirs = (robot.mechanism.joints[-2] for robot in (cart, read))
    assert (ours.limits, ours.damping, ours.drive) == (theirs.limits, theirs.damping, theirs.drive)
    assert shown["run"].outputs["pose:tip"].shape == (len(shown["run"].time), 4, 4)
    np.testing.assert_array_equal(km.load("cart.json").mass_matrix([0.1, 0.7]), cart.mass_matrix([0.1, 0.7]))


@of("how-to/drive.md")
def test_drive(page):
    shown, _ = page
    assert shown["reached"].solved
    np.testing.assert_allclose(shown["arm"].pose(shown["reached"].q, "link7")[:3, 3], shown["point"], atol=1e-6)
    assert shown["state"].time == pytest.approx(0.5)
    assert shown["run"].audit.efforts == ("the controller: sampled",)  # the last run is the integral's


@of("how-to/touch.md")
def test_touch(page):
    shown, _ = page
    assert shown["run"].q[-1, 6] == pytest.approx(0.025)
    np.testing.assert_allclose(shown["run"].contact.on("brick")[-1], [0, 0, 2 * 9.81], atol=1e-9)
    sliding = 9.81 * (np.sin(shown["slope"]) - 0.2 * np.cos(shown["slope"])) * np.cos(shown["slope"])
    assert shown["slide"].momentum[-1, 3] / 2.0 == pytest.approx(0.5 * sliding, rel=2e-3)


@of("how-to/world.md")
def test_world(page):
    shown, _ = page
    run = shown["run"]
    np.testing.assert_allclose(run.contact.between("cube", "table")[-1], [0, 0, 0.2 * 9.81], atol=1e-6)
    assert shown["fall"].time[-1] == pytest.approx(np.sqrt(2.0 * 0.16 / 9.81), abs=2e-3)  # from 0.6 m to 0.44 m
    assert run.audit.efforts == ("the controller: compiled",)
    assert run["arm"].pose("link7").shape == (1001, 4, 4)
    assert run["ball"].position[-1, 2] == pytest.approx(0.44, abs=1e-6)  # on the table
    assert np.abs(shown["batch"].q - shown["state"].q).max() < 2e-3  # of lists the controller holds for a step


@of("how-to/stand.md")
def test_stand(page):
    shown, _ = page
    assert shown["stance"].told == "its state 'standing' of go2.srdf"
    assert np.abs(shown["stood"].q - shown["stood"].q[0]).max() < 1e-6
    np.testing.assert_allclose(shown["stood"].contact.force[-1].sum(axis=0), [0, 0, shown["robot"].mass * 9.81], atol=1e-3)
    assert shown["aside"].max() == pytest.approx(0.022, abs=1e-3)
    page = (DOCS / "how-to/stand.md").read_text(encoding="utf-8")
    (push,) = re.findall(r"```py\n(.*?)```", page, flags=re.DOTALL)
    file: dict = {}
    exec(push, file)
    np.testing.assert_allclose(file["aside"](shown["held"])(0.3, *shown["held"].start), [0, 0, 0, 0, 60, 0])


@of("how-to/balance.md")
def test_balance(page, tmp_path):
    shown, _ = page
    assert 0.01 < shown["polygon"].margin(shown["zmp"]).min() < 0.062
    assert shown["rest"].balanced
    assert shown["linear"].stable
    assert "balance.png" in written(tmp_path)


@of("how-to/batch.md")
def test_batch(page):
    shown, _ = page
    alone = shown["arm"].forward_dynamics(shown["q"][17], shown["v"][17], np.zeros(7))
    np.testing.assert_allclose(shown["a"][17], alone, rtol=1e-12)
    assert shown["runs"].q.shape == (256, 51, 7)
    assert np.isinf(shown["runs"].lost).all()
    assert (np.diff(shown["sag"]) < 0.0).all()
    assert list(np.flatnonzero(shown["free"].time < 0.1)) == [3, 7]


@of("how-to/fit.md")
def test_fit(page):
    shown, _ = page
    off = np.abs(shown["values"] - shown["truth"]) / shown["spread"]
    assert off.max() < 4.0  # standard deviations
    np.testing.assert_allclose(shown["values"], shown["truth"], rtol=0.05)


@of("how-to/simulator-page.md")
def test_simulator_page(page, tmp_path):
    assert {"arm.html", "run.html", "again.html", "brick.html"} <= written(tmp_path)
    assert "sampled.html" not in written(tmp_path)
    assert page[0]["run"].q.shape == (2001, 7)


@of("how-to/fmi.md")
def test_a_unit_of_fmi_moves_to_its_target(page, tmp_path):
    shown, _ = page
    assert {"arm.fmu", "arm3.fmu"} <= written(tmp_path)
    assert abs(shown["table"]["q.joint2"][0] - 0.3) < 1e-12
    assert 0.45 < shown["table"]["q.joint2"][-1] < 0.6


@of("how-to/controller.md")
def test_c_for_a_controller_checks_itself(page, tmp_path):
    shown, _ = page
    assert shown["told"].count(" ok\n") == 4
    assert (tmp_path / "controller-float" / "pa10.h").exists()


@of("how-to/ros2.md")
def test_a_run_becomes_a_bag_and_drives_tags(page, tmp_path):
    shown, _ = page
    assert shown["told"]["message_count"] > 201 * 9
    text = (tmp_path / "pa10.urdf").read_text(encoding="utf-8")
    assert text.count('<command_interface name="position"') == 7


@of("how-to/export.md")
def test_export(page, tmp_path):
    shown, _ = page
    table = np.loadtxt("motion.csv", delimiter=",", skiprows=1)
    np.testing.assert_allclose(table, shown["table"])
    np.testing.assert_array_equal(shown["same"].q, shown["run"].q)
    assert {"graphs.pdf", "angles.png", "postures.png", "run.html", "run.h5"} <= written(tmp_path)
    q = shown["arm"].start[0]
    theirs = np.asarray(shown["function"](q, np.zeros(7), np.zeros(7))).ravel()
    np.testing.assert_allclose(theirs, shown["arm"].forward_dynamics(q, np.zeros(7), np.zeros(7)), rtol=1e-9)
    (script,) = blocks(DOCS / "how-to" / "export.md", "js")
    said = subprocess.run([NODE.needed(), "-e", script], capture_output=True, check=True, text=True).stdout
    portable = shown["arm"].compile("forward_dynamics", portable=True)
    assert json.loads(said) == portable([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], np.zeros(7), np.zeros(7)).tolist()


# --- other programs ---------------------------------------------------------------------------------------------------
@pytest.mark.skipif(find_spec("pydrake") is None, reason="Drake has no package for this system")
@of("coming-from.md")
def test_the_other_programs_give_the_same_numbers(page):
    shown, _ = page
    a = shown["a"]
    np.testing.assert_allclose(shown["qacc"], a)
    np.testing.assert_allclose(shown["after"], shown["state"].q, atol=0.02)  # rad: its steps are of first order
    np.testing.assert_allclose(shown["xpos"], shown["x"], atol=1e-12)
    np.testing.assert_allclose(np.vstack([shown["jacr"], shown["jacp"]]), shown["J"], atol=1e-9)
    np.testing.assert_allclose(shown["qdd"], a)
    np.testing.assert_allclose(shown["qdd_"], a)
    np.testing.assert_allclose(np.triu(shown["mass"]), np.triu(shown["M"]))
    np.testing.assert_allclose(shown["nle"] + shown["friction"], shown["h"])
    np.testing.assert_allclose(shown["placement"], shown["X"], atol=1e-12)
    np.testing.assert_allclose(shown["J6"][[3, 4, 5, 0, 1, 2]], shown["J"], atol=1e-12)
    np.testing.assert_allclose(shown["inertia"], shown["M"], atol=1e-12)
    np.testing.assert_allclose(shown["bias"] + shown["friction"], shown["h"], atol=1e-12)
    np.testing.assert_allclose(shown["X_WB"].GetAsMatrix4(), shown["X"], atol=1e-12)
    np.testing.assert_allclose(shown["J_WB"], shown["J"], atol=1e-12)
    # theirs with the friction as a constant, so that its part of the slopes is left out
    np.testing.assert_allclose(shown["ddq_dq"], shown["by_q"], atol=0.05)


def test_every_page_with_code_is_run_here():
    """Pages directly in docs are run by test_documents, but for those that newcomers begin with; the reference by its test."""
    code = Path(__file__).read_text(encoding="utf-8")
    guides = [page for page in DOCS.glob("*/*.md") if page.parent.name != "reference"]
    pages = [*guides, DOCS / "start.md", DOCS / "coming-from.md"]
    for page in pages:
        name = page.relative_to(DOCS).as_posix()
        assert not blocks(page) or f'@of("{name}")' in code or name == "ja/start.md", (
            f"{name}: say what must hold after its code"
        )
