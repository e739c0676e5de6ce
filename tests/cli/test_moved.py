"""Verbs that are studies now name the command that took their place."""

import json

import pytest

from kumitate.cli.app import MOVED, run
from studies.command import app as studies


@pytest.mark.parametrize("verb", MOVED)
@pytest.mark.parametrize("options", [[], ["panda", "--quick", "--markdown", "page.md"]], ids=["bare", "with options"])
def test_a_verb_that_moved_names_its_study(verb, options, capsys):
    assert run([verb, *options]) == 1
    assert f"from a checkout of kumitate run scripts/study {verb}" in " ".join(capsys.readouterr().err.split())
    assert verb in studies


def test_their_help_says_so_too(capsys):
    assert run(["levels", "--help"]) == 0
    assert "run scripts/study levels" in " ".join(capsys.readouterr().out.split())


def test_machines_are_told_too(capsys):
    assert run(["bench", "--json"]) == 1
    assert "scripts/study bench" in json.loads(capsys.readouterr().out)["error"]["message"]


def test_the_help_names_them_no_more(capsys):
    assert run(["--help"]) == 0
    said = capsys.readouterr().out
    assert " simulate " in said
    assert not [verb for verb in MOVED if f" {verb} " in said]
