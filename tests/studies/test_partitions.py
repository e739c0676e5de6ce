"""`scripts/study partitions`: what was tried, as a table, a page and JSON."""

from __future__ import annotations

import json

import pytest

from kumitate.errors import InputError
from studies.command import run
from studies.commands.partitions import partitions


def test_the_tables_are_printed_and_written(tmp_path, capsys):
    page = tmp_path / "partitions.md"
    partitions("planar_3r", by="time", candidates=2, quick=True, markdown=page)
    said = capsys.readouterr()
    assert "one at a time" in said.out
    assert "by time" in said.out
    assert "more were counted" in said.err
    assert "--quick" in said.err
    written = page.read_text(encoding="utf-8")
    assert "## planar_3r" in written
    assert "| 2 + 1 |" in written  # two halves


def test_for_machines(capsys):
    partitions("planar_3r", by="operations", as_json=True)
    (report,) = json.loads(capsys.readouterr().out)["robots"]
    assert report["name"] == "planar_3r"
    assert len(report["trials"]) == 4
    assert report["trials"][0]["single"] is None  # not measured
    assert report["partition"] == report["trials"][0]["parts"]


def test_a_robot_must_be_named():
    with pytest.raises(InputError, match="name a robot's file or a sample"):
        partitions()


def test_a_mechanism_without_moving_joints_is_refused_in_words(tmp_path, capsys):
    file = tmp_path / "shelf.urdf"
    file.write_text(
        '<robot name="shelf"><link name="wall"/><link name="board"><inertial><mass value="2"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="glue" type="fixed"><parent link="wall"/><child link="board"/></joint></robot>'
    )
    assert run(["partitions", str(file)]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "all joints are fixed, so that there is nothing to divide into sub-chains; free a joint" in said
