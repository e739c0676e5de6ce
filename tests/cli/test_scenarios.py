"""Scenarios on the command line: simulated, swept, and run again from what they leave."""

import json

import numpy as np
import pytest

import kumitate as km
from kumitate.cli.app import run

SCENARIO = """
robot: pendulum
solver: {duration: 0.1, integrator: rk4}
sweep:
  grid:
    "damping:*": [0.0, 0.5]
  random: {count: 4, seed: 1, "q:*": {uniform: [0, 1]}}
  record: [3]
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "swing.yaml").write_text(SCENARIO)
    return tmp_path


def test_a_sweep_its_page_and_its_runs(place, capsys):
    assert run(["sweep", "swing.yaml", "--processes", "1", "--json"]) == 0
    out, err = capsys.readouterr()
    said = json.loads(out)
    assert (said["runs"], said["done"], said["status"]) == (8, 8, {"done": 8})
    assert "8 of 8 runs" in err
    assert "runs/s" in err
    swept = place / "kumitate-runs" / "swing"
    (name,) = km.load("pendulum").mechanism.q_names
    assert (swept / "page.html").exists()
    for source in ("swing.yaml", str(swept)):
        assert run(["simulate", source, "--run", "6", "--formats", "", "--json"]) == 0
        folder = json.loads(capsys.readouterr().out)["folder"]
        q = km.open(f"{folder}/result.h5").q[-1, 0]
        assert q == pytest.approx(km.open_sweep(swept).column(f"end:q:{name}")[6], rel=1e-12)


def test_a_run_is_run_again_from_its_result(place, capsys):
    options = ["--duration", "0.05", "--formats", "", "--json"]
    assert run(["simulate", "double_pendulum", "--q", "elbow=20deg", "--step", "5e-4", *options]) == 0
    first = json.loads(capsys.readouterr().out)["files"]["result.h5"]
    assert run(["simulate", first, "--formats", "", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)["files"]["result.h5"]
    assert first != again
    np.testing.assert_array_equal(km.open(again).q, km.open(first).q)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["simulate", "swing.yaml"], "describes 8 runs; add --run 0"),
        (["simulate", "swing.yaml", "--run", "8"], "there is no run 8"),
        (["simulate", "swing.yaml", "--run", "1", "--step", "1e-4"], "--step is for robots"),
        (["simulate", "pendulum", "--run", "1"], "--run 1: is for sweeps"),
        (["simulate", "pendulum", "--controller", "a.py:f"], "--controller: {place}/a.py: cannot be read"),
        (["simulate", "pendulum", "--controller", "pid"], "--controller: there is no law 'pid', did you mean 'pd'"),
        (["simulate", "pendulum", "--controller", "pd"], "--controller: pd has no kp"),
        (["simulate", "swing.yaml", "--controller", "a.py:f"], "--controller is for robots; swing.yaml says it itself"),
        (["sweep", "swing.yaml", "--shard", "3/2"], "--shard 3/2: must be i/n"),
        (["sweep", "swing.yaml", "--processes", "2", "--scheduler", "tcp://127.0.0.1:1"], "leave one out"),
        (["sweep", "swing.yaml", "--scheduler", "tcp://127.0.0.1:1", "--patience", "0.2"], "cannot be reached"),
        (["sweep", "missing.yaml"], "missing.yaml: cannot be read"),
        (["cluster", "--workers", "-1"], "must be a number of processes"),
    ],
)
def test_what_does_not_fit_is_refused(place, capsys, arguments, words):
    assert run(arguments) == 1
    assert words.format(place=place) in " ".join(capsys.readouterr().err.split())


def test_a_yaml_of_loops_is_a_robot_and_not_a_scenario(place, capsys):
    body = '<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>'
    ends = '<parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>'
    (place / "arm.urdf").write_text(
        f'<robot name="arm"><link name="base"/><link name="arm">{body}</link>'
        f'<joint name="j" type="continuous">{ends}</joint></robot>'
    )
    (place / "arm.yaml").write_text("closed_loop: []\ntype: []\nname_mot: [j]\n")
    assert run(["simulate", "arm.yaml", "--duration", "0.01", "--formats", "", "--json"]) == 0
    made = km.open(json.loads(capsys.readouterr().out)["files"]["result.h5"])
    assert [joint.name for joint in made.mechanism.driven] == ["j"]
