"""No test can be skipped unseen: continuous integration installs what tests call, and takes a skip for a failure."""

import os
import re
import subprocess
import sys

import pytest

from ..tools import CHROMIUM, TOOLS, Tool
from .sources import ROOT

SKIPS = {
    "test_file.py": 'import pytest\npytest.importorskip("no_such_module")\ndef test_file(): pass\n',
    "test_kinds.py": """import pytest
@pytest.mark.skip(reason="a mark")
def test_mark(): pass
def test_call(): pytest.skip("a call")
@pytest.fixture
def lacking(): pytest.skip("a fixture")
def test_fixture(lacking): pass
@pytest.mark.parametrize("nothing", [])
def test_empty(nothing): pass
def test_that_runs(): pass
""",
}


@pytest.mark.parametrize(
    ("flags", "ci"), [(["--no-skips"], ""), (["-n", "1"], "true")], ids=["forbidden", "in CI, in a worker"]
)
def test_a_skip_is_a_failure_where_skips_are_forbidden(flags, ci, tmp_path):
    for name, text in {**SKIPS, "conftest.py": (ROOT / "tests" / "conftest.py").read_text(encoding="utf-8")}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    usual = ["-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", tmp_path, "--continue-on-collection-errors"]
    command = [sys.executable, "-m", "pytest", *usual, *flags, tmp_path]
    done = subprocess.run(command, env={**os.environ, "CI": ci}, capture_output=True, text=True, check=False)
    assert "1 failed, 1 passed, 4 errors" in done.stdout, done.stdout + done.stderr
    assert done.returncode != 0


def test_a_missing_tool_says_how_to_install_it_in_one_line(monkeypatch):
    nowhere = Tool("A thing", ("no-such-thing",), ("thing", "thing-dev"), "KUMITATE_THING")
    line = r"A thing is not installed; run apt-get install thing thing-dev, or set KUMITATE_THING to its path$"
    with pytest.raises(pytest.skip.Exception, match=line):
        nowhere.needed()
    monkeypatch.setenv("KUMITATE_THING", sys.executable)
    assert nowhere.needed() == sys.executable
    monkeypatch.setenv("KUMITATE_CHROMIUM", "/no/such/browser")
    with pytest.raises(AssertionError, match="KUMITATE_CHROMIUM: /no/such/browser is not a program"):
        CHROMIUM.found()


def test_continuous_integration_installs_every_tool_and_allows_no_skip():
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    installed = set(re.findall(r"[\w.+-]+", text))
    for tool in TOOLS:
        assert set(tool.packages) <= installed, f"{tool.title} needs {tool.packages}, which .ci/run does not install"
    assert "scripts/test --no-skips" in text
