"""`kumitate partitions`: what was tried, as a table, a page and JSON."""

from __future__ import annotations

import json

import pytest

from kumitate.cli.partitions import partitions
from kumitate.errors import InputError


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
