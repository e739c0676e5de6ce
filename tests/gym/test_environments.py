"""The environments that ship: Gymnasium's own checks, the motion by a second route, and robots that stand."""

from __future__ import annotations

import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.classic_control import AcrobotEnv, CartPoleEnv
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import kumitate as km
from kumitate.errors import InputError
from kumitate.examples import legged
from kumitate.examples.gallery.quadruped_standing import FEET
from kumitate.gym import TASKS, Env, VectorEnv, named_task, register
from kumitate.gym.tasks import acrobot, cart_pole

from .test_vector import compare

LONG = {
    "cassie",
    "cassie_standing",
    "cassie_walking",
    "anymal_rough",
    "g1",
    "half_cheetah",
    "walker2d",
    "ant",
    "humanoid",
    "humanoid_standup",
    "pusher",
    "hopper",
}
NAMES = [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else []) for name in TASKS]


@pytest.mark.parametrize("name", NAMES)
def test_gymnasium_has_nothing_against_an_environment(name):
    env = gymnasium.make(TASKS[name].id)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        check_env(env.unwrapped)
    # velocities have no bounds; MuJoCo's controls are what their file says
    known = ["Box observation space", *["For Box action spaces, we recommend"] * (TASKS[name].family == "suite")]
    assert not [str(item.message) for item in told if not any(part in str(item.message) for part in known)]
    assert env.spec.max_episode_steps == TASKS[name].max_episode_steps


@pytest.mark.parametrize("name", NAMES)
def test_episodes_are_those_of_a_sync_vector_env(name):
    task = Env(name).task
    for mode in AutoresetMode:
        assert compare(task, mode, count=3, most=4, steps=9) >= 3


@pytest.mark.parametrize("name", NAMES)
def test_random_actions_keep_observations_in_their_space(name):
    envs = gymnasium.make_vec(TASKS[name].id, num_envs=64)
    assert isinstance(envs, VectorEnv)
    assert envs.max_episode_steps == TASKS[name].max_episode_steps
    envs.reset(seed=11)
    envs.action_space.seed(11)
    for _ in range(40):
        observations, rewards, _, _, infos = envs.step(envs.action_space.sample())
        assert observations in envs.observation_space
        assert np.isfinite(observations).all()
        assert np.isfinite(rewards).all()
        assert "diverged" not in infos


def test_the_cart_pole_moves_as_gymnasiums():
    """Its equations of motion stand in Gymnasium's own code; with the semi-implicit Euler method the steps are the same."""
    theirs, ours = CartPoleEnv(), Env("cart_pole")
    theirs.kinematics_integrator = "semi-implicit euler"
    rng = np.random.default_rng(1)
    for episode in range(5):
        ours.reset(seed=episode)
        theirs.reset(seed=episode)
        batch = ours._episodes.batch
        theirs.state = np.array([batch.q[0, 0], batch.v[0, 0], batch.q[0, 1], batch.v[0, 1]])
        ended = False
        while not ended:
            action = int(rng.integers(2))
            seen, reward, ended, *_ = ours.step(action)
            expected, earned, over, *_ = theirs.step(action)
            np.testing.assert_allclose(seen, expected, rtol=1e-5, atol=1e-6)
            assert (reward, ended) == (earned, over)
        np.testing.assert_allclose(batch.q[0], theirs.state[[0, 2]], rtol=1e-11, atol=1e-12)


def test_the_acrobot_moves_as_gymnasiums():
    """Runge-Kutta steps of the same length on the equations that stand in Gymnasium's code."""
    theirs, ours = AcrobotEnv(), Env("acrobot")
    theirs.reset(seed=0)
    for episode in range(5):
        ours.reset(seed=episode)
        batch = ours._episodes.batch
        theirs.state = np.concatenate([batch.q[0], batch.v[0]])
        for k in range(20):
            action = (k // 4) % 3
            seen, reward, ended, *_ = ours.step(action)
            expected, earned, over, *_ = theirs.step(action)
            np.testing.assert_allclose(seen, expected, rtol=1e-5, atol=1e-5)
            assert (reward, ended) == (earned, over)


@pytest.mark.parametrize("module", [cart_pole, acrobot])
def test_tasks_are_made_once(module):
    name = module.__name__.rsplit(".", 1)[1]
    assert Env(name).task is VectorEnv(name, 3).task
    assert module.mechanism() == Env(name).task.robot.mechanism


def test_anymal_stands_where_its_drives_hold_it():
    envs = VectorEnv("anymal", 8)
    envs.reset(seed=2)
    still = np.zeros(envs.action_space.shape, dtype=np.float32)
    for _ in range(350):
        observations, _, terminated, _, _ = envs.step(still)
        assert not terminated.any()
    velocity, turning, vertical = observations[:, :3], observations[:, 3:6], observations[:, 6:9]
    assert np.abs(velocity).max() < 2e-3
    assert np.abs(turning).max() < 2e-3
    assert vertical[:, 2].min() > 0.999
    # started with its feet 2 cm above the floor; its springs give way a little under its weight
    stance = envs.task.simulation.start().q[6] - 0.02
    assert envs.batch.q[:, 6].max() < stance
    assert envs.batch.q[:, 6].min() > stance - 0.03


def test_a_run_of_its_own_moves_as_the_environment():
    task = named_task("anymal")
    sim, start, action = task.simulation, task.simulation.start(), np.linspace(-0.4, 0.4, task.action_size)
    target = lambda t, q, v: task.inputs["target"](t, q, v, action=action)  # noqa: E731
    contact = km.Contact(surface=km.Surface(friction=0.8))
    alone = km.Simulation(
        task.robot, inputs={"target": target}, step=sim.step_size, integrator="semi_implicit_euler", contact=contact
    )
    ended = sim.step(start, 8, inputs={"action": action})
    run = alone.run(start.q, start.v, duration=8 * sim.step_size)
    np.testing.assert_allclose(run.q[-1], ended.q, rtol=0.0, atol=1e-12)
    assert np.abs(ended.q - start.q).max() > 1e-3


def test_a_walker_sees_and_earns_what_its_state_says():
    """By NumPy and the robot's own functions; velocities in the axes of the base by turning those of the world."""
    envs = VectorEnv("anymal", 5, autoreset_mode=AutoresetMode.DISABLED)
    envs.reset(seed=4)
    envs.action_space.seed(4)
    last = envs.action_space.sample() * 0.1
    envs.step(last)
    action = envs.action_space.sample() * 0.1
    seen, rewards, _, _, infos = envs.step(action)
    batch, robot, base = envs.batch, envs.task.robot, envs.task.robot.mechanism.joints[0].child
    q, v, command = batch.q, batch.v, batch.inputs["command"]
    R = robot.pose(q, base)[:, :3, :3]
    turning, velocity = (np.einsum("nji,nj->ni", R, part) for part in np.split(robot.velocity(q, v, base), 2, axis=1))
    np.testing.assert_allclose(seen[:, :3], velocity, atol=1e-6)
    np.testing.assert_allclose(seen[:, 3:6], turning, atol=1e-6)
    np.testing.assert_allclose(seen[:, 6:9], R[:, 2], atol=1e-6)
    np.testing.assert_allclose(seen[:, 9:12], command, atol=1e-6)
    np.testing.assert_allclose(seen[:, 36:], action, atol=1e-6)
    slip = np.zeros(5)
    floor = min(robot.pose(envs.task.simulation.start().q, foot)[2, 3] for foot in FEET) - 0.02
    for foot in FEET:
        away = np.maximum(robot.pose(q, foot)[:, 2, 3] - floor, 0.0)
        slip += np.exp(-away / 0.02) * (robot.velocity(q, v, foot)[:, 3:5] ** 2).sum(axis=1)
    np.testing.assert_allclose(infos["slip"], slip, rtol=1e-3)  # the feet of the posture are level to a millimetre
    follows = np.exp(-4.0 * ((velocity - command)[:, :2] ** 2).sum(axis=1))
    turns = np.exp(-4.0 * (turning[:, 2] - command[:, 2]) ** 2)
    springs = 80.0 * (envs.task.simulation.start().q[7:] + 0.5 * action - q[:, 7:])
    tau = np.clip(springs - 2.0 * v[:, 6:], -80.0, 80.0)
    shaken = 2.0 * velocity[:, 2] ** 2 + 0.05 * (turning[:, :2] ** 2).sum(axis=1)
    effort = 2e-5 * (tau**2).sum(axis=1) + 0.01 * ((action - last) ** 2).sum(axis=1)
    expected = 0.02 * np.maximum(follows + 0.5 * turns - 0.1 * infos["slip"] - shaken - effort, 0.0)
    np.testing.assert_allclose(rewards, expected, rtol=1e-6, atol=1e-9)
    assert rewards.max() > 0.0


def test_a_robot_that_lies_ends_its_episode():
    envs = VectorEnv("anymal", 2, autoreset_mode=AutoresetMode.DISABLED)
    envs.reset(seed=2)
    half = np.sqrt(0.5)
    envs.batch.q[1, :4] = [half, 0.0, 0.0, half]  # on its side
    _, _, terminated, *_ = envs.step(np.zeros((2, 12), dtype=np.float32))
    assert terminated.tolist() == [False, True]


@pytest.mark.slow
def test_cassies_loops_stay_closed():
    envs = VectorEnv("cassie", 8)
    envs.reset(seed=2)
    envs.action_space.seed(2)
    for _ in range(50):
        envs.step(envs.action_space.sample())
    loops = envs.task.simulation._loops
    seen = envs.batch.record(1)
    assert np.abs(loops.gaps_of_rows(envs.batch.q, envs.batch.v)[:, :, 0]).max() < 1e-6  # closed by the next step
    assert np.abs(loops.gaps_of_rows(seen["q"][:, -1], seen["v"][:, -1])[:, :, 0]).max() < 1e-9


@pytest.mark.slow
def test_cassie_comes_nearer_to_what_is_commanded():
    """A policy that asks the drives for the command earns more than one that asks for nothing."""
    earned = []
    for share in (0.0, 1.0):
        envs = VectorEnv("cassie", 16)
        seen, _ = envs.reset(seed=5)
        action = (share * seen[:, -10:] / 0.4).astype(np.float32)
        for _ in range(40):
            _, rewards, *_ = envs.step(action)
        earned.append(rewards.mean())
    assert earned[1] > 1.2 * earned[0]


@pytest.mark.slow
def test_cassie_stands_where_its_drives_hold_it_with_its_loops_closed():
    envs = VectorEnv("cassie_standing", 16)
    envs.reset(seed=3)
    still = np.zeros(envs.action_space.shape, dtype=np.float32)
    for _ in range(250):
        observations, rewards, terminated, _, _ = envs.step(still)
        assert not terminated.any()
    assert np.abs(observations[:, :6]).max() < 0.05  # after 5 s the pelvis hardly moves
    assert observations[:, 8].min() > 0.99
    assert rewards.min() > 0.9 * 0.02
    gaps = envs.task.simulation._loops.gaps_of_rows(envs.batch.q, envs.batch.v)
    assert np.abs(gaps[:, :, 0]).max() < 1e-9


def test_missing_files_name_the_extra(monkeypatch):
    monkeypatch.setattr(legged, "robots_folder", lambda: None)
    with pytest.raises(
        InputError, match=r"anymal\.urdf is not on this computer; it comes with pip install 'kumitate\[robots\]'"
    ):
        Env("anymal", friction=0.7)


def test_missing_gymnasium_names_the_extra():
    code = "import sys; sys.modules['gymnasium'] = None; import kumitate.gym"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "kumitate.gym needs Gymnasium; install it by pip install 'kumitate[gym]'" in answer.stderr


def test_an_environment_is_made_without_an_import_of_its_own():
    code = "import gymnasium; print(gymnasium.make_vec('kumitate.gym:kumitate/CartPole-v0', num_envs=2).reset(seed=1)[0].shape)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "(2, 4)" in answer.stdout


def test_registering_again_changes_nothing():
    before = dict(gymnasium.registry)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register()
    assert dict(gymnasium.registry) == before


def test_the_commands_of_cassie_are_on_both_sides_of_the_posture():
    numbers = np.random.default_rng(4).random((3, 10))
    task = named_task("cassie")
    command, other = (task.begin(part).inputs["command"] for part in (numbers, 1.0 - numbers))
    np.testing.assert_allclose(command, -other, atol=1e-15)
    assert np.ptp(task.begin(np.array([[0.0] * 10, [1.0] * 10])).inputs["command"], axis=0) == pytest.approx([0.5] * 10)
