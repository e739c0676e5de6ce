"""What the first page promises is true."""

import re

import pytest

from .sources import ROOT

PAGES = ("README.md", "README.ja.md")


@pytest.mark.parametrize("name", PAGES)
def test_its_example_runs(name, tmp_path, monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, name, "exec"), {})
    assert {path.name for path in tmp_path.iterdir()} == {"fall.h5", "fall.html"}


@pytest.mark.parametrize("name", PAGES)
def test_its_links_lead_somewhere(name):
    for link in re.findall(r"\]\(([^)#]+)\)", (ROOT / name).read_text(encoding="utf-8")):
        assert link.startswith("https://") or (ROOT / link).exists(), f"{name}: {link} does not exist"


@pytest.mark.parametrize(
    "command", ["scripts/run", "scripts/test", "scripts/check", "scripts/rows", "scripts/versions", ".ci/run"]
)
def test_its_commands_can_be_run(command):
    assert (ROOT / command).stat().st_mode & 0o111, f"{command} is not executable"
