"""`scripts/study`: which studies it runs, and what its script prepares."""

import json
import os
import subprocess
import sys

import pytest

from studies import pages, rows_page
from studies.command import app, run

from ..repo.sources import ROOT

STUDIES = {
    "bench",
    "compare",
    "contact-table",
    "formats",
    "gym",
    "levels",
    "papers",
    "partitions",
    "random-scenes",
    "robot-files",
    "rows",
    "parallel-bench",
    "sweep-rate",
    "webassembly",
    "work-precision",
}


def test_the_help_lists_the_studies(capsys):
    assert run(["--help"]) == 0
    said = capsys.readouterr().out
    assert {name for name in app if not name.startswith("-")} == STUDIES
    assert all(f" {name} " in said for name in STUDIES)
    assert "Usage: scripts/study COMMAND" in said


@pytest.mark.parametrize("study", sorted(STUDIES))
def test_every_study_has_help_of_its_own(study, capsys):
    assert run([study, "--help"]) == 0
    assert f"Usage: scripts/study {study}" in capsys.readouterr().out


def test_errors_are_a_message_and_for_machines_one_object(capsys):
    assert run(["bench", "pandda", "--json"]) == 1
    said = capsys.readouterr()
    assert "did you mean 'panda'" in said.err
    assert "did you mean 'panda'" in json.loads(said.out)["error"]["message"]
    assert run(["benhc"]) == 2


def test_the_script_runs_a_study_from_any_folder(tmp_path):
    """A folder named studies that happens to lie there plays no part, and files are written where it was called."""
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "__init__.py").write_text("raise ImportError")
    call = [ROOT / "scripts" / "study", "partitions", "pendulum", "--by", "operations", "--markdown", "found.md", "--json"]
    env = {**os.environ, "KUMITATE_PYTHON": sys.executable}
    answer = subprocess.run(call, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["robots"][0]["name"] == "pendulum"
    assert "## pendulum" in (tmp_path / "found.md").read_text(encoding="utf-8")


def test_a_page_is_written_or_compared(monkeypatch, tmp_path, capsys):
    (tmp_path / "docs" / "ja").mkdir(parents=True)
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    monkeypatch.setattr(rows_page, "page", lambda root: "a table\n")
    assert run(["rows", "--check"]) == 1
    assert "docs/rows.md: is out of date; run scripts/study rows" in " ".join(capsys.readouterr().err.split())
    assert run(["rows"]) == 0
    assert (tmp_path / "docs" / "rows.md").read_text(encoding="utf-8") == "a table\n"
    assert run(["rows", "--check"]) == 0
