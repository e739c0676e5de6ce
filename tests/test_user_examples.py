"""The scripts in examples/: each runs by itself, says what it should, and leaves the files that it names."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kumitate

FOLDER = Path(__file__).resolve().parents[1] / "examples"
SCRIPTS = sorted(FOLDER.glob("*.py"))


def residuals_are_rounding(said: str) -> None:
    for name in ("inverse of forward dynamics", "M a + h - tau", "three methods for M", "J v - velocity"):
        assert max(np.abs(numbers(said, name + ":"))) < 1e-12, name


def the_balance_holds(said: str) -> None:
    assert abs(numbers(said, "energy and work balance to")[0]) < 1e-9
    assert numbers(said, "work of the damping")[0] < 0.0


def computed_torque_is_critically_damped(said: str) -> None:
    error = 60.0 * (1.0 + 4.0 * 2.0) * np.exp(-4.0 * 2.0)  # of ë + 8 ė + 16 e = 0 after 2 s, from 60 deg at rest
    assert numbers(said.partition("computed_torque")[2], "missed the goal by")[0] == pytest.approx(error, abs=0.006)


def the_push_does_not_turn_the_rod(said: str) -> None:
    """It starts away from the world's origin, so a lever from there would turn it."""
    assert max(np.abs(numbers(said, "spin"))) < 1e-12
    momentum, (impulse,) = numbers(said, "momentum"), numbers(said, "the push was")
    assert momentum == pytest.approx([impulse, 0.0, 0.0], abs=1e-9)
    assert numbers(said, "work") == pytest.approx(numbers(said, "is the energy"))


def the_center_of_mass_falls_like_a_stone(said: str) -> None:
    assert numbers(said, "off the parabola by")[0] < 1e-12


def numbers(said: str, after: str) -> list[float]:
    """The numbers that a script printed after some words: one, or all in brackets."""
    found = re.search(re.escape(after) + r"\s*(\[[^]]*\]|\S+)", said)
    assert found, f"{after!r} is not in what was printed: {said}"
    return [float(number) for number in re.findall(r"[^\s\[\],]+", found[1])]


#: What a script must say, the files that it leaves, and what must hold for the numbers that it prints.
EXPECTED = {
    "01_simulate.py": ("energy balance kept to", ["pa10.html", "pa10.pdf", "pa10-snapshots.png"], None),
    "02_dynamics.py": ("a batch: (10000, 7)", [], residuals_are_rounding),
    "03_own_mechanism.py": ("('rail', 'hinge')", ["cart-pole.gif"], the_balance_holds),
    "04_controller.py": (
        "the controller: called once per step, because",
        ["controlled.png"],
        computed_torque_is_critically_damped,
    ),
    "05_wrenches.py": ("acceleration [ 0. 12.  0. -6.  0.  0.]", [], the_push_does_not_turn_the_rod),
    "06_floating_base.py": ("anymal", ["dropped.html"], the_center_of_mass_falls_like_a_stone),
    "07_kernel.py": ("one state per call", [], None),
    "08_save_and_open.py": ("joint2 turns fastest", ["tree.h5", "tree.csv", "tree.pdf"], None),
}


def test_every_script_is_known():
    assert [script.name for script in SCRIPTS] == list(EXPECTED)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_scripts_are_short_and_have_one_idea(script):
    text = script.read_text(encoding="utf-8")
    assert text.startswith('"""')
    assert 10 <= len(text.splitlines()) <= 40


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_scripts_run(script, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("h5py")
    package = Path(kumitate.__file__).resolve().parents[1]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    words, files, judge = EXPECTED[script.name]
    assert words in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(files)
    if judge is not None:
        judge(done.stdout)
