"""The example in which Cassie squats by iterative LQR: costs fall, it reaches its height, and its loops stay closed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ..tools import module_of

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "control" / "cassie_squats.py"


@pytest.mark.slow
def test_a_short_squat_reaches_its_height_on_the_floor():
    squat = module_of(SCRIPT).Squat()
    plans = squat.planned([(0.0, 0.2), (-0.03, 0.3)])
    for plan, goal in zip(plans, (0.0, -0.03), strict=True):
        assert plan.settled
        assert all(np.diff(plan.cost) < 0.0)
        assert plan.cost[-1] < 0.1 * plan.cost[0]
        assert abs(plan.q[-1, 6] - squat.start[6] - goal) < 1e-3
    run = squat.on_floor(plans)
    assert abs(run.q[-1, 6] - squat.start[6] + 0.03) < 5e-3
    assert np.abs(run.q[:, :3]).max() < 0.02  # the pelvis stays upright
    assert np.abs(run.q[:, 4:6]).max() < 0.01
    assert max(gap.distance for gap in run.audit.loop_gaps) < 1e-9
    np.testing.assert_allclose(  # the floor carries the weight, on average
        run.contact.force.sum(axis=1)[run.time > 0.1, 2].mean(), 9.81 * squat.sim.robot.mass, rtol=0.1
    )
