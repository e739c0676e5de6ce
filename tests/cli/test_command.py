"""The command line, as a user meets it."""

import json
import math
import os
import re
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import kumitate
from kumitate.cli import run_folder as runs
from kumitate.cli.app import run
from kumitate.cli.asked import asked, values_by_name
from kumitate.contact.models import FORCE_MODELS, IMPULSE_MODELS
from kumitate.errors import InputError
from kumitate.model.read import read_file
from kumitate.simulate.integrators import INTEGRATORS


def command(*arguments, cwd):
    """Run the command in a process of its own."""
    env = {**os.environ, "PYTHONPATH": str(Path(kumitate.__file__).parents[1])}
    call = [sys.executable, "-m", "kumitate", *arguments]
    return subprocess.run(call, cwd=cwd, env=env, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A short run of the pendulum: its answer, and the folder it was started in."""
    place = tmp_path_factory.mktemp("run")
    answer = command("simulate", "pendulum", "--duration", "0.2", "--formats", "png", "--json", cwd=place)
    assert answer.returncode == 0, answer.stderr
    return answer, place


@pytest.mark.row("T-5.1")
def test_simulate_leaves_data_graphs_and_a_page(ran):
    answer, place = ran
    said = json.loads(answer.stdout)
    folder = place / "kumitate-runs" / "pendulum"
    assert Path(said["folder"]) == folder.resolve()
    assert (
        {path.name for path in folder.iterdir()}
        == {"result.h5", "graphs.png", "snapshots.png", "page.html"}
        == set(said["files"])
    )
    assert said["settings"]["duration"] == 0.2
    assert abs(said["energy"]["final"] - said["energy"]["initial"]) < 1e-6


@pytest.mark.row("T-5.1")
def test_plot_reopens_the_last_result_without_simulating(ran):
    _, place = ran
    data = place / "kumitate-runs" / "pendulum" / "result.h5"
    before = data.read_bytes()
    answer = command("plot", "--formats", "svg", "--json", cwd=place)
    assert answer.returncode == 0, answer.stderr
    assert (data.parent / "graphs.svg").exists()
    assert data.read_bytes() == before


def test_people_are_told_how_it_went_and_where_it_is(ran, monkeypatch, capsys):
    _, place = ran
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "200")
    assert run(["plot", "kumitate-runs/pendulum", "--formats", ""]) == 0
    said = capsys.readouterr().out
    assert "energy" in said
    assert "kumitate-runs/pendulum/page.html" in said


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["simulat", "pa10"], "simulate"),
        (["simulate", "pa10", "--duraton", "3"], "--duration"),
        (["info"], "ROBOT: a file, or a name that `kumitate robots` lists"),
        (["simulate", "pa10", "--duration", "long"], "--duration"),
    ],
)
def test_usage_errors_say_what_was_meant(arguments, meant, capsys):
    assert run(arguments) == 2
    assert meant in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["simulate", "pa1"], "pa10"),
        (["info", "planar_3rr"], "planar_3r"),
        (["examples", "no-such-example"], "no example 'no-such-example'"),
        (["simulate", "pendulum", "--duration", "-1"], "--duration"),
        (["simulate", "pendulum", "--integrator", "rk45"], "rkf45"),
        (["simulate", "pendulum", "--q", "nobody=1"], "nobody"),
        (["simulate", "pendulum", "--formats", "bmp"], "bmp"),
        (["info", "no/such/robot.urdf"], "no/such/robot.urdf"),
        (["plot", "nothing.h5"], "nothing.h5"),
    ],
)
def test_errors_are_a_message_without_a_traceback(arguments, words, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 1
    said = capsys.readouterr()
    assert words in said.err
    assert "Traceback" not in said.err
    assert not said.out


def test_an_error_is_one_object_too(capsys):
    assert run(["info", "planar_3rr", "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert "planar_3r" in error["message"]


def test_the_help_names_all_that_an_option_takes(capsys):
    assert run(["simulate", "--help"]) == 0
    help_text = re.sub(r"[│\s]+", " ", capsys.readouterr().out)
    robot, integrator, contact = (
        help_text.split(f" {name} ")[-1].split(" --")[0] for name in ("ROBOT", "--integrator", "--contact")
    )
    with pytest.raises(InputError) as refused:
        read_file("robot.none")
    assert set(re.findall(r"\.[a-z]+", robot.split("Parameters")[0])) == set(re.findall(r"\.[a-z]+", str(refused.value))) - {
        ".none"
    }
    assert set(INTEGRATORS) <= set(re.findall(r"\w+", integrator))
    assert set(IMPULSE_MODELS) | set(FORCE_MODELS) <= set(re.findall(r"\w+", contact))


def test_info_counts(capsys):
    assert run(["info", "pa10", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    moving = [joint for joint in facts["joints"] if joint["kind"] == "revolute"]
    assert (facts["nq"], facts["nv"], len(moving)) == (7, 7, 7)
    assert facts["mass"] == pytest.approx(9.78 + 8.41 + 3.52 + 4.31 + 3.45 + 1.46 + 0.24)


def test_info_is_readable(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    assert run(["info", "pa10"]) == 0
    said = capsys.readouterr().out
    assert "nq = 7" in said
    assert "revolute" in said


def test_examples_are_listed(capsys):
    assert run(["examples", "--json"]) == 0
    assert "examples" in json.loads(capsys.readouterr().out)


def test_version(capsys):
    assert run(["version"]) == 0
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*\n", capsys.readouterr().out)


def test_values_by_name():
    assert values_by_name("b = 90deg, a=-2e-1, c=1,2,-3", "--q") == {"b": "90deg", "a": -0.2, "c": [1.0, 2.0, -3.0]}
    parts = "crank=turn.py:angle, crank:k=2, target:elbow=0.5, mass:a=1"
    assert values_by_name(parts, "--inputs", parts=True) == {
        "crank": {"law": "turn.py:angle", "k": 2.0}, "target": {"elbow": 0.5}, "mass": {"a": 1.0},
    }  # fmt: skip
    assert values_by_name("mass:a=1", "--parameters") == {"mass:a": 1.0}
    q, v = asked("planar_3r", {"q": "joint2 = 90deg, joint1=-2e-1", "v": "joint3=1"})[1].setup.start
    assert q[:2].tolist() == pytest.approx([-0.2, 1.5707963267948966])
    assert v.tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("joint1", r"^--q: 'joint1' is not of the form name=value; write"),
        ("joint1=1, joint2", r"^--q: 'joint2' is not of the form name=value; write"),
        ("joint1=x", r"^--q: joint1: joint1 is 'x', which is not a real number"),
        ("joint1=1,2", r"^--q: joint1: joint1 is \[1.0, 2.0\], which is not a real number"),
        ("joint1=nan", r"^--q: joint1: joint1 is nan; it must be finite"),
        ("joint=1", r"^--q: joint: there is no such name, did you mean 'joint3'\?; there are joint1, joint2, joint3$"),
    ],
)
def test_values_that_make_no_sense(text, words):
    with pytest.raises(InputError, match=words):
        asked("planar_3r", {"q": text})


def test_all_that_is_wrong_with_options_is_told_at_once():
    with pytest.raises(InputError) as refused:
        asked("planar_3r", {"q": "joint=1", "step": -1.0, "wrenches": "link3=1,2", "held": "link3:surface:kind=sphere"})
    first, *told = str(refused.value).splitlines()
    assert first == "4 mistakes; nothing was simulated"
    words = ("--step: step is -1.0", "--q: joint: there is", "--wrenches: link3: link3 is", "--held: link3: the surface has no")
    assert [line[2:].startswith(word) for line, word in zip(told, words, strict=True)] == [True] * 4, told


def test_other_joints_close_the_loops_around_values_by_name():
    """What --q and --v name is kept; with everything named, it must fit."""
    setup = asked("four_bar", {"q": "pivot0=20deg", "v": "pivot0=0.5"})[1].setup
    assert (setup.q[0], setup.v[0]) == (pytest.approx(math.radians(20.0), abs=1e-12), pytest.approx(0.5, abs=1e-12))
    assert max(gap.size(1.0) for gap in kumitate.load("four_bar").constraint_residual(setup.q, setup.v)) < 1e-9
    with pytest.raises(InputError, match="cannot be closed"):
        asked("four_bar", {"q": "pivot0=1, corner0=0.3, pivot1=0.1"})


def test_a_new_run_leaves_no_drawing_of_an_older_one(tmp_path):
    for name in ("motion.gif", "graphs.eps", "result.npz", "result.h5", "notes.txt"):
        (tmp_path / name).touch()
    runs.clear_drawings(tmp_path, keep=tmp_path / "result.h5")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt", "result.h5"]


def test_the_last_result_is_the_newest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="kumitate simulate"):
        runs.latest(None)
    folder = runs.make("a b/c", None)
    assert folder.name == "a-b-c"
    (folder / "result.npz").touch()
    assert runs.latest(None).resolve() == (folder / "result.npz").resolve()


def test_what_killed_runs_left_half_written_is_deleted(tmp_path):
    """Processes are killed while they write; the next run in that folder finds what they left, an hour later."""
    script = textwrap.dedent(
        """
        import os, signal, tempfile
        import kumitate as km
        run = km.simulate(km.load("pendulum"), duration=0.01)
        run.page(os.path.join(tempfile.mkdtemp(), "page.html"))  # programs are on disk then, and none is written below
        os.replace = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)
        for write, name in ((run.save, "result.npz"), (run.save, "result.h5"), (run.page, "page.html")):
            child = os.fork()
            if child == 0:
                write(name)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        """
    )
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    left = list(tmp_path.iterdir())
    assert len(left) == 3
    mine = [tmp_path / name for name in (".notes.txt", ".bashrc", "result.npz", ".result.npz", ".result.12-ab.npz")]
    for path in mine:
        path.write_text("mine")
        os.utime(path, (0, 0))
    runs.make("pendulum", tmp_path)
    assert all(path.exists() for path in left)  # they may be being written
    for path in left:
        os.utime(path, (time.time() - 7200.0,) * 2)
    runs.make("pendulum", tmp_path)
    assert set(tmp_path.iterdir()) == set(mine)
