"""The example in which ANYmal trots by sampling: it goes ahead, on two diagonal feet at a time, and is not thrown by a push."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kumitate as km
from kumitate.predictive import iterated_lqr

from ..tools import module_of

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "control" / "anymal_trots.py"
SEED, DURATION = 0, 2.0


@pytest.fixture(scope="module")
def script():
    return module_of(SCRIPT)


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


@pytest.mark.slow
def test_plans_by_derivatives_trot_on_a_floor_of_rigid_contact(script):
    """Contact comes and goes along the plan: the cost of the gait alone falls, and the base is driven ahead, upright."""
    robot = script.anymal()
    q = np.array(script.Stance(robot, script.ANGLES, stiffness=0.0, damping=0.0).q)
    gait = script.gait(robot)
    sim = km.Simulation(robot, step=0.01, contact=script.FLOOR, start=(q, np.zeros(robot.nv)), side_by_side=True)

    def running(t, q, v, u):
        base = [0.5 * (v[3] - 0.5), 0.3 * v[4], 5.0 * q[0], 5.0 * q[1], 10.0 * (q[6] - script.HEIGHT)]
        return np.concatenate([0.3 * (u - gait(t)), np.array(base), 0.1 * v[:3]])

    start = np.array([gait(0.01 * k) for k in range(100)], dtype=float)
    found = iterated_lqr(sim, running, lambda q, v: np.array([3.0 * (v[3] - 0.5)]), start, action="target", rounds=12)
    assert found.cost[-1] < 0.12 * found.cost[0]
    assert found.q[-1, 4] > 0.35
    assert np.abs(found.q[:, 6] - script.HEIGHT).max() < 0.03
    assert np.abs(found.q[:, :2]).max() < 0.05
