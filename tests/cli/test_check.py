"""`kumitate check`, and the tree that `kumitate info` draws."""

import json

import pytest

from kumitate.cli.app import run
from kumitate.cli.info import drawn
from kumitate.model import Body, Joint, Mechanism

LINK = '<link name="{0}"><inertial><mass value="1"/><inertia ixx="{1}" iyy="1" izz="1"/></inertial></link>'
HINGE = '<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint>'


@pytest.fixture
def faulty(tmp_path):
    """An arm whose inertia no body has."""
    file = tmp_path / "arm.urdf"
    file.write_text(f'<robot name="r">{LINK.format("base", 1)}\n{LINK.format("arm", -1)}\n{HINGE}</robot>')
    return str(file)


def test_a_good_robot(capsys):
    assert run(["check", "pa10"]) == 0
    assert "0 errors" in (said := capsys.readouterr().out) or "no faults" in said


def test_faults_are_told_with_remedies_and_an_exit_code(faulty, capsys):
    assert run(["check", faulty]) == 1
    said = capsys.readouterr()
    assert f"{faulty}:2" in said.err
    assert "--fix-inertia" in said.err
    assert "1 error" in said.out
    assert run(["check", faulty, "--fix-inertia"]) == 0
    assert "0 errors, 1 warning" in capsys.readouterr().out


def test_faults_as_data(faulty, capsys):
    assert run(["check", faulty, "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["name"], said["errors"], said["warnings"]) == ("r", 1, 1)
    assert set(said["findings"][0]) == {"level", "topic", "what", "remedy", "where"}


def test_no_such_file(capsys):
    assert run(["check", "no/such/robot.urdf"]) == 1
    assert "no/such/robot.urdf" in capsys.readouterr().err


def test_info_and_simulate_know_the_option(faulty, capsys, tmp_path):
    assert run(["info", faulty]) == 1
    assert "--fix-inertia" in capsys.readouterr().err
    assert run(["info", faulty, "--fix-inertia", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert len(said["warnings"]) == 1
    assert "'arm'" in said["warnings"][0]
    short = ["--duration", "0.01", "--formats", "png", "--out", str(tmp_path / "out")]
    assert run(["simulate", faulty, "--fix-inertia", *short]) == 0


def test_the_tree_is_set_in_where_it_branches():
    bodies = tuple(Body(name, 1.0) for name in ("base", "left", "foot", "right"))
    ends = (("world", "base"), ("base", "left"), ("left", "foot"), ("base", "right"))
    joints = tuple(Joint(f"j_{child}", "revolute", parent, child) for parent, child in ends)
    assert drawn(Mechanism("walker", bodies, joints)) == [
        "world",
        "base      j_base, revolute   1 kg",
        "├─ left   j_left, revolute   1 kg",
        "│  foot   j_foot, revolute   1 kg",
        "└─ right  j_right, revolute  1 kg",
    ]
