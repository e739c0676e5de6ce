"""A sweep that takes a few seconds in small blocks, tables to compare, and processes of the command."""

import os
import subprocess
import sys
import time
from pathlib import Path

import kumitate

#: 160 runs in 20 blocks: two mechanisms, ten blocks of eight runs each.
SWEEP = """
robot: pendulum
solver: {step: 1e-3, duration: DURATION, integrator: rk4}
outputs: [energy]
sweep:
  grid:
    "damping:*": [0.0, 0.01]
  random:
    count: 80
    seed: 7
    "q:*": {uniform: [-90deg, 90deg]}
    "v:*": {normal: [0, 2]}
"""


def written(folder: Path, text: str = SWEEP, duration: float = 0.2) -> Path:
    """The file of the scenario."""
    path = folder / "swing.yaml"
    path.write_text(text.replace("DURATION", str(duration)))
    return path


def rows(sweep):
    """The table without how long the runs took, which differs from time to time; so that NaN equals NaN, as text."""
    return [repr(row) for row in sweep.table.drop_columns(["wall_time"]).to_pylist()]


def started(*arguments, **options):
    """`kumitate ARGUMENTS` in a process of its own."""
    env = {**os.environ, "PYTHONPATH": str(Path(kumitate.__file__).parents[1])}
    call = [sys.executable, "-m", "kumitate", *map(str, arguments)]
    return subprocess.Popen(call, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def wait_for(what, seconds=60.0):
    """Waits until the function gives something true, and returns it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(0.02)
    raise AssertionError(f"waited {seconds} s in vain")
