"""What the first page promises is true."""

import ast
import re
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from .sources import ROOT

PAGES = ("README.md", "README.ja.md")


def example(name: str) -> str:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL)
    return code


def test_its_example_runs_and_the_robot_moves(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shown: dict = {}
    exec(compile(example("README.md"), "README.md", "exec"), shown)
    assert {path.name for path in tmp_path.iterdir()} == {"fall.h5", "fall.html"}
    run = shown["run"]
    assert np.ptp(run.q, axis=0).max() > 1.0  # rad
    lost = float(capsys.readouterr().out)
    assert 0.0 < abs(lost) < 1e-9 * np.ptp(run.energy.kinetic)
    np.testing.assert_allclose(shown["M"] @ shown["a"], -shown["arm"].bias_forces(shown["q"], shown["v"]), atol=1e-9)


def test_both_languages_show_the_same_example():
    assert ast.dump(ast.parse(example("README.ja.md"))) == ast.dump(ast.parse(example("README.md")))


@pytest.mark.parametrize("name", PAGES)
def test_its_picture_moves(name):
    (picture,) = re.findall(r"!\[[^]]+\]\(([^)]+)\)", (ROOT / name).read_text(encoding="utf-8"))
    with Image.open(ROOT / picture) as film:
        shown = []
        for k in (0, film.n_frames // 2, film.n_frames - 1):
            film.seek(k)
            shown.append(np.asarray(film.convert("L"), dtype=float))
    assert min(np.abs(one - other).max() for one, other in pairwise(shown)) > 100.0


@pytest.mark.parametrize("name", PAGES)
def test_its_two_commands_are_one_block(name):
    """One does the main work, one runs the tests; and the page is one screen or little more."""
    text = (ROOT / name).read_text(encoding="utf-8")
    (commands,) = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    assert [line.split()[0] for line in commands.splitlines()] == ["scripts/run", "scripts/test"]
    assert len(text.splitlines()) <= 65


@pytest.mark.parametrize("name", PAGES)
def test_its_links_lead_somewhere(name):
    for link in re.findall(r"\]\(([^)#]+)\)", (ROOT / name).read_text(encoding="utf-8")):
        assert link.startswith("https://") or (ROOT / link).exists(), f"{name}: {link} does not exist"


@pytest.mark.parametrize(
    "command",
    [
        "scripts/run",
        "scripts/test",
        "scripts/check",
        "scripts/study",
        "scripts/docs",
        "scripts/picture",
        "scripts/versions",
        "scripts/release",
        ".ci/run",
    ],
)
def test_its_commands_can_be_run(command):
    assert (ROOT / command).stat().st_mode & 0o111, f"{command} is not executable"
