"""Cassie walks: its legs' geometry, its loops under random actions, its mirror, and the policy that ships with the example."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kumitate.gym import VectorEnv, named_task
from kumitate.gym.tasks.cassie_walking import BELOW, FORWARD, PERIOD, bent, walker

from ..tools import module_of

EXAMPLE = Path(__file__).parents[2] / "examples/learning/cassie_walks.py"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def example():
    return module_of(EXAMPLE)


def test_soles_are_where_the_legs_are_bent_to():
    """As two links have them, and as the robot's bodies do with its loops closed and its springs at ease."""
    mechanism, q = walker()
    task = named_task("cassie_walking")
    robot, at = task.robot, dict(zip(mechanism.q_names, q, strict=True))
    pitch, knee, crank = bent(FORWARD, BELOW)
    for side in ("left", "right"):
        np.testing.assert_allclose([at[f"{side}-pitch-op"], at[f"{side}-knee-op"]], [pitch, knee], atol=2e-3)
        np.testing.assert_allclose(at[f"{side}-tarsus-crank-joint"], crank, atol=6e-3)  # the file's sides differ
        np.testing.assert_allclose(at[f"{side}-shin-tarsus-joint"], -knee, atol=2e-3)  # the rod keeps the tarsus parallel
        assert abs(at[f"{side}-knee-shin-joint"]) < 1e-9
        pose = robot.pose(q, f"{side}-foot")
        ends = [pose @ [*shape.pose.translation, 1.0] for shape in mechanism.body(f"{side}-foot").collisions]
        hip = robot.pose(q, f"{side}-hip-pitch")[:3, 3]
        np.testing.assert_allclose((0.5 * (ends[0] + ends[1])[:3] - hip)[[0, 2]], [FORWARD, -BELOW], atol=1e-3)
    assert task.simulation._loops.gaps_of_rows(q[None], np.zeros((1, mechanism.nv)))[:, :, 0].max() < 1e-12


def test_loops_stay_closed_under_random_actions():
    """But for what one step leaves, which the next one closes."""
    envs = VectorEnv("cassie_walking", 64)
    envs.reset(seed=3)
    batch, rng = envs.batch, np.random.default_rng(3)
    for _ in range(20):
        batch.inputs["action"][:] = rng.uniform(-1.0, 1.0, batch.inputs["action"].shape)
        batch.step(envs.task.steps)
        assert envs.task.simulation._loops.gaps_of_rows(batch.q, batch.v)[:, :, 0].max() < 3e-9
    assert not batch.lost.any()


def test_a_mirror_changes_sides_alone(example):
    """The other leg's actions half a period later make the mirrored motion, but for what the file's sides differ."""
    task = named_task("cassie_walking")
    batch = task.simulation.batch(2)
    batch.inputs["command"][:], batch.inputs["phase"][:] = 0.5, [[0.0], [0.5]]
    rng = np.random.default_rng(4)
    for _ in range(15):
        action = rng.uniform(-0.5, 0.5, (1, 10))
        batch.inputs["action"][:] = np.concatenate([action, example.mirrored_actions(action, np.ones((1, 1), dtype=bool))])
        batch.step(task.steps)
    (left, right), rewards = batch.outputs["observation"], batch.outputs["reward"]
    np.testing.assert_allclose(example.mirrored(right[None])[0][0], left, atol=0.05)
    assert np.abs(left).max() > 1.0
    np.testing.assert_allclose(rewards[0], rewards[1], rtol=0.02)


def test_the_policy_of_the_example_walks(example):
    policy = example.Learned(EXAMPLE.with_suffix(".npz"))
    run = example.walk(policy, 2.0 + 4.0 * PERIOD, 0.8)
    begin = np.searchsorted(run.time, 2.0)
    assert (run.q[-1, 4] - run.q[begin, 4]) / (run.time[-1] - run.time[begin]) == pytest.approx(0.8, abs=0.1)
    assert abs(run.q[-1, 5]) < 0.3
    assert run.q[:, 6].min() > 0.8
    assert max(gap.distance for gap in run.audit.loop_gaps) < 1e-12
    assert example.pushed(policy, seed=2, count=8, force=30.0).all()
