"""The example in which ANYmal trots by sampling: it goes ahead, on two diagonal feet at a time, and is not thrown by a push."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "control" / "anymal_trots.py"
SEED, DURATION = 0, 2.0


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("anymal_trots", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_planner_trots_through_a_push(script, monkeypatch):
    monkeypatch.setattr(script, "BEGIN", 1.0)
    monkeypatch.setattr(script, "END", 1.1)
    run, trot = script.trotted(DURATION, script.force(150.0, 90.0), SEED, samples=32)
    told = f"seed {SEED}: {run.q[-1, 4]:.2f} m ahead, heights {run.q[:, 6].min():.2f} to {run.q[:, 6].max():.2f} m"
    print(told)
    assert len(trot.seconds) == round(DURATION / script.INTERVAL)
    assert run.time[-1] == pytest.approx(DURATION), told
    assert not script.fallen(run.q).any(), told
    assert run.q[:, 6].min() > 0.35, told
    assert 0.6 < run.q[-1, 4] < 1.2, told
    assert np.abs(run.v[(run.time > 1.0) & (run.time < 1.3), 4]).max() > 0.3, told  # the push was felt
    down = np.array([on_floor(run, foot)[run.time > 0.5] for foot in ("LF_FOOT", "RH_FOOT", "RF_FOOT", "LH_FOOT")])
    left, right = np.corrcoef(down)[0, 1], np.corrcoef(down)[2, 3]
    assert min(left, right) > 0.2 > -0.2 > np.corrcoef(down[0], down[2])[0, 1], told  # diagonal legs together


def on_floor(run, foot):
    mine = [k for k, (body, _) in enumerate(run.contact.bodies) if body == foot]
    return (run.contact.normal_force[:, mine] > 0.0).any(axis=1)
