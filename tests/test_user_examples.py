"""The scripts in examples/: each runs by itself, says what it should, and leaves the files that it names."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kumitate

FOLDER = Path(__file__).resolve().parents[1] / "examples"
SCRIPTS = sorted(FOLDER.glob("*.py"))

#: What a script must say, and the files that it leaves.
EXPECTED = {
    "01_simulate.py": ("energy balance kept to", ["pa10.html", "pa10.pdf", "pa10-snapshots.png"]),
    "02_dynamics.py": ("a batch: (10000, 7)", []),
    "03_own_mechanism.py": ("('rail', 'hinge')", ["cart-pole.gif"]),
    "04_controller.py": ("spring: compiled", ["controlled.png"]),
    "05_wrenches.py": ("acceleration [ 0. 12.  0. -6.  0.  0.]", []),
    "06_floating_base.py": ("the mass centre is off the parabola by", ["dropped.html"]),
    "07_kernel.py": ("one state a call", []),
    "08_save_and_open.py": ("joint2 turns fastest", ["tree.h5", "tree.csv", "tree.pdf"]),
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
    said, files = EXPECTED[script.name]
    assert said in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(files)
