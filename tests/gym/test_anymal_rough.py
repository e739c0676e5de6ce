"""What tasks sense, and how they get harder: by a pendulum, and by ANYmal on rough terrain, with the policy of the example."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kumitate as km
from kumitate.gym import Task, VectorEnv, named_task
from kumitate.gym.task import Start
from kumitate.gym.tasks.anymal_rough import AHEAD, ASIDE, STRIPS, WIDTH, terrain
from kumitate.model import HeightField
from kumitate.robot import Robot

from ..tools import module_of

EXAMPLE = Path(__file__).parents[2] / "examples/learning/rough_walk.py"


def test_heights_are_those_of_the_triangles():
    """Inside each triangle its plane's; beyond the grid, the edge's."""
    rng = np.random.default_rng(2)
    field = HeightField(rng.random((4, 5)).tolist(), (2.0, 3.0))
    facets = field.facets()
    corners = facets.vertices[facets.faces]
    share = rng.dirichlet((1.0, 1.0, 1.0), len(corners))
    x, y, z = np.einsum("nk,nkc->cn", share, corners)
    np.testing.assert_allclose(field.height(x, y), z, atol=1e-14)
    np.testing.assert_allclose(field.height([-9.0, 9.0], [-9.0, 9.0]), [field.heights[0][0], field.heights[-1][-1]])


def pendulum(**options):
    """A pendulum that senses its own angle and knows its level."""

    def begin(numbers, levels):
        return Start(0.1 * levels[:, None], numbers[:, :1], {"level": levels[:, None]})

    return Task(
        km.load("pendulum"), actions=1, draws=1, steps=5, step=0.01, integrator="rk4", begin=begin,
        observation=lambda t, q, v, seen, level: np.concatenate([q, seen, level]), reward=lambda t, q, v: v[0],
        terminated=lambda t, q, v: t > 0.12, inputs={"level": 1}, controller=lambda t, q, v, action: action,
        sensed={"seen": (2, lambda q, v: np.concatenate([q, v], axis=1))}, **options,
    )  # fmt: skip


def test_what_is_sensed_is_of_the_state_before_the_step():
    envs = VectorEnv(pendulum(curriculum=lambda levels, outputs: levels), 3)
    envs.reset(seed=1)
    for _ in range(2):
        before = np.concatenate([envs.batch.q, envs.batch.v], axis=1)
        observations, *_ = envs.step(np.zeros((3, 1)))
        np.testing.assert_array_equal(observations[:, 1:3], before.astype(np.float32))
    fresh, _ = envs.reset(seed=2)
    np.testing.assert_array_equal(fresh[:, 1], fresh[:, 0])


def test_levels_follow_episodes_row_by_row():
    """A level further after each episode, of the rows that begin another; outputs are those at its end."""
    seen = []

    def further(levels, outputs):
        seen.append(outputs["terminated"].copy())
        return levels + 1.0

    envs = VectorEnv(pendulum(curriculum=further), 4, autoreset_mode="SameStep")
    first, _ = envs.reset(seed=1)
    assert not seen
    np.testing.assert_array_equal(first[:, 3], 0.0)
    for _ in range(3):
        observations, _, terminated, *_ = envs.step(np.zeros((4, 1)))
    assert terminated.all()
    np.testing.assert_array_equal(seen, np.ones((1, 4)))
    np.testing.assert_array_equal(observations[:, 3], 1.0)
    np.testing.assert_allclose(observations[:, 0], 0.1)
    mask = np.array([True, False, False, True])
    observations, _ = envs.reset(options={"reset_mask": mask})
    np.testing.assert_array_equal(observations[:, 3], np.where(mask, 2.0, 1.0))
    np.testing.assert_array_equal(envs.levels, np.where(mask, 2.0, 1.0))


@pytest.fixture(scope="module")
def example():
    return module_of(EXAMPLE)


@pytest.mark.slow
def test_the_ground_is_sensed_around_the_base_and_stood_on():
    """Feet rest on the triangles below them, on every strip, and the places that are sensed turn with the base."""
    task = named_task("anymal_rough")
    sense, ground = task.sensed["around"][1], terrain(0.2)
    batch = task.simulation.batch(STRIPS)
    start = task.begin(np.full((STRIPS, task.draws), 0.5), np.arange(STRIPS, dtype=float))
    np.testing.assert_allclose(np.diff(start.q[:, 5]), WIDTH)
    batch.reset(np.arange(STRIPS), start.q, start.v)
    batch.inputs["command"][:] = 0.0
    batch.step(100)
    robot = Robot(task.robot.mechanism)
    for foot in ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"):
        (shape,) = task.robot.mechanism.body(foot).collisions
        centers = robot.pose(batch.q, foot) @ [*shape.pose.translation, 1.0]
        above = centers[:, 2] - ground.height(centers[:, 0], centers[:, 1])
        assert np.all(above > 0.8 * shape.shape.radius)
    q = np.zeros((1, task.robot.nq))
    q[0, :7] = [0.0, 0.0, np.sin(0.25 * np.pi), np.cos(0.25 * np.pi), 1.0, 9.0, 0.7]  # looks along y
    places = [(1.0 - aside, 9.0 + ahead) for aside in ASIDE for ahead in AHEAD]
    heights = [float(ground.height(*place)) for place in places]
    standing = 0.7 - sense(q, q)[0, AHEAD.index(0.0)] - heights[AHEAD.index(0.0)]
    np.testing.assert_allclose(sense(q, q)[0], 0.7 - standing - np.array(heights), atol=1e-12)


@pytest.mark.slow
def test_the_policy_of_the_example_walks(example):
    """Over heights up to 0.16 m, pushed as when it learned; and in a run of its own."""
    policy = example.Learned(EXAMPLE.with_suffix(".npz"))
    far, going = example.walks(policy, 7, 16, 6.0, seed=5)
    assert going.sum() >= 13
    assert far[going].min() > 1.0
    run = example.walk(policy, 7, 6.0, 0.6)
    assert run.q[-1, 4] - run.q[0, 4] > 2.0
    assert abs(run.q[-1, 5] - run.q[0, 5]) < 0.7
