"""The example that learns to walk: what it earns grows, and it leaves its files."""

import subprocess
import sys
from pathlib import Path

import numpy as np

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "learning" / "walk.py"


def test_what_is_earned_grows(tmp_path):
    command = [sys.executable, str(SCRIPT), "--million", "2.5", "--seed", "1", "--folder", str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rewards = np.genfromtxt(tmp_path / "walk.csv", delimiter=",", skip_header=1)[:, 2]
    print(said)
    assert rewards[:3].mean() < 0.4
    assert rewards[-5:].mean() > 0.85  # who stands still earns 0.76: the mean over the commands of exp(−4 v²) and the like
    assert {path.name for path in tmp_path.iterdir()} == {"walk.csv", "walk.html", "walk.png", "walk.pt"}
    assert "walked" in said
