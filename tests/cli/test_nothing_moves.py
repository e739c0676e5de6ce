"""Mechanisms of which nothing moves, for all joints are fixed: they have pictures and a run in which nothing happens."""

import json

import numpy as np
import pytest

import kumitate as km
from kumitate.cli.app import run as command
from kumitate.errors import KumitateError
from kumitate.model import lock
from kumitate.papers import best_partition

FIXED = """<robot name="shelf">
<link name="board"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
<visual><geometry><box size="0.6 0.3 0.02"/></geometry></visual></link>
<link name="vase"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="glue" type="fixed"><parent link="board"/><child link="vase"/><origin xyz="0 0 0.1"/></joint>
</robot>"""
NONE = np.zeros(0)


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shelf.urdf").write_text(FIXED)
    return km.load(tmp_path / "shelf.urdf")


def four_bar_that_stands():
    robot = km.load("four_bar")
    return km.load(lock(robot.mechanism, {name: [x] for name, x in zip(robot.joints, robot.start[0], strict=True)}))


# --- the command line ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("verb", ["info", "check"])
def test_it_can_be_looked_at(verb, shelf, capsys):
    assert command([verb, "shelf.urdf"]) == 0
    assert command([verb, "shelf.urdf", "--json"]) == 0
    out, err = capsys.readouterr()
    assert "shelf" in out
    assert not err


def test_it_is_simulated_drawn_and_drawn_again(shelf, tmp_path, capsys):
    assert command(["simulate", "shelf.urdf", "--duration", "0.02", "--gif", "--formats", "png", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["audit"]["notes"] == ["nothing moves: all joints are fixed"]
    assert set(answer["files"]) == {"result.h5", "graphs.png", "snapshots.png", "motion.gif", "page.html"}
    assert command(["plot", "--formats", "pdf", "--out", str(tmp_path / "again")]) == 0
    assert (tmp_path / "again" / "graphs.pdf").stat().st_size > 1000
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["simulate", "shelf.urdf", "--q", "glue=1"],
            "--q: 'glue' names a component, and there are none: all joints are fixed",
        ),
        (
            ["simulate", "shelf.urdf", "--v", "glue=1"],
            "--v: 'glue' names a component, and there are none: all joints are fixed",
        ),
        (["simulate", "shelf.urdf", "--contact", "rigid"], "shelf: no moving body has a shape to touch with"),
        (["simulate", "shelf.urdf", "--contact", "rigid", "--height", "1"], "shelf: no joint lets it move freely"),
        (["equations", "shelf.urdf"], "all joints are fixed, so that there is nothing to write equations of motion for"),
    ],
)
def test_what_cannot_be_done_is_said(arguments, words, shelf, capsys):
    assert command(arguments) == 1
    assert words in " ".join(capsys.readouterr().err.split())


# --- Python ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("suffix", [".h5", ".npz"])
def test_a_run_stands_still_and_comes_back_from_its_file(suffix, shelf, tmp_path):
    run = km.simulate(shelf, duration=0.02)
    assert (run.q.shape, run.audit.energy_drift) == ((21, 0), 0.0)
    back = km.open(run.save(tmp_path / f"run{suffix}"))
    assert np.array_equal(back.time, run.time)
    assert np.allclose(back.poses()[:, 1, :3, 3], [0.0, 0.0, 0.1])


def test_figures_of_every_sort_are_drawn_without_a_warning(shelf, tmp_path, recwarn):
    run = km.simulate(shelf, duration=0.02)
    panels = ["q", "v", "a", "tau", "energy", "center_of_mass", "center_of_mass_velocity", "momentum", "joint_forces"]
    run.plot(tmp_path / "all.png", panels)
    run.plot_balance(tmp_path / "balance.png")
    run.plot_momentum(tmp_path / "momentum.png")
    run.plot_power(tmp_path / "power.png")
    run.page(tmp_path / "page.html")
    assert not recwarn.list


@pytest.mark.parametrize("make", [lambda shelf: shelf, lambda shelf: four_bar_that_stands()], ids=["tree", "closed loop"])
def test_its_functions_give_empty_arrays_or_what_stands(make, shelf):
    robot = make(shelf)
    for method in ("aba", "crba", "ada", "dca", "hybrid", "unit_vector"):
        assert robot.forward_dynamics(NONE, NONE, NONE, method=method).shape == (0,)
    assert robot.forward_dynamics(np.zeros((4, 0)), np.zeros((4, 0)), np.zeros((4, 0))).shape == (4, 0)
    assert robot.mass_matrix(NONE).shape == (0, 0)
    assert robot.energy(NONE, NONE).total == 0.0
    assert robot.constraint_report(NONE).mobility == 0
    assert robot.assemble(NONE).shape == (0,)
    assert robot.static_equilibrium(NONE).balanced
    assert not np.isfinite(robot.zmp(NONE, NONE, NONE)).any()  # the world stands on nothing
    assert km.simulate(robot, duration=0.01).audit.steps == 10
    assert km.simulate_batch(robot, np.zeros((3, 0)), duration=0.01).q.shape == (3, 11, 0)


def test_the_determinant_of_a_loop_that_stands_is_drawn(tmp_path):
    """The loop's own angle is then the only velocity; the determinant is that of its axis, one."""
    run = km.simulate(four_bar_that_stands(), duration=0.01)
    run.plot(tmp_path / "graphs.png")
    from kumitate.analysis import closure_determinant

    assert closure_determinant(run.mechanism, run.q) == pytest.approx(1.0)


@pytest.mark.parametrize("call", [lambda robot: km.linearize(robot, NONE), best_partition])
def test_what_needs_a_motion_is_refused_in_words(call, shelf):
    with pytest.raises(KumitateError, match=r"all joints are fixed, so that there is nothing to .*; free a joint, or"):
        call(shelf)
