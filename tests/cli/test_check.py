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
    assert (said["name"], said["errors"], said["warnings"]) == ("r", 1, 0)
    assert set(said["findings"][0]) == {"level", "topic", "what", "remedy", "where"}


def test_no_such_file(capsys):
    assert run(["check", "no/such/robot.urdf"]) == 1
    assert "no/such/robot.urdf" in capsys.readouterr().err


def test_info_and_simulate_know_the_option(faulty, capsys, tmp_path):
    short = ["--duration", "0.01", "--formats", "png", "--out", str(tmp_path / "out")]
    assert run(["info", faulty]) == 0
    assert "--fix-inertia" in capsys.readouterr().err
    assert run(["simulate", faulty, *short]) == 1
    assert "negative principal value" in capsys.readouterr().err
    assert run(["info", faulty, "--fix-inertia", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert len(said["warnings"]) == 1
    assert "'arm'" in said["warnings"][0]
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


MIMIC = (
    HINGE.replace("hinge", "follower")
    .replace('child link="arm"', 'child link="hand"')
    .replace("</joint>", '<mimic joint="hinge" multiplier="-2" offset="0.5"/></joint>')
)


def test_info_tells_of_couplings_and_what_they_leave_free(capsys, tmp_path):
    file = tmp_path / "gear.urdf"
    links = "".join(LINK.format(name, 1) for name in ("base", "arm", "hand"))
    file.write_text(f'<robot name="gear">{links}{HINGE}{MIMIC}</robot>')
    assert run(["info", str(file)]) == 0
    said = capsys.readouterr().out
    assert "follower = -2 · hinge + 0.5" in said
    assert "1 coupling" in said
    assert "mobility 1: 2 degrees of freedom of the tree, 1 independent of 1 equations" in said
    assert run(["info", str(file), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["couplings"] == [{"name": "follower", "joint": "follower", "of": "hinge", "ratio": -2.0, "offset": 0.5}]
    assert (facts["constraints"]["mobility"], facts["constraints"]["redundant"]) == (1, 0)
    assert run(["check", str(file)]) == 0  # open at zero, and closed by 0.1 and 0.3 rad
    assert "the nearest posture that closes them" in capsys.readouterr().err


def test_a_file_without_links_is_looked_at_and_not_simulated(capsys, tmp_path):
    file = tmp_path / "empty.urdf"
    file.write_text('<robot name="empty"/>')
    assert run(["info", str(file)]) == 0
    assert run(["check", str(file)]) == 0
    capsys.readouterr()
    assert run(["simulate", str(file), "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "the mechanism has no bodies, so that there is nothing to move" in said
    assert "Traceback" not in said
