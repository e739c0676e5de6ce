"""What trainers ask of environments: pictures, noise, delays and pushes, Stable-Baselines3's interface."""

from __future__ import annotations

import importlib
import pickle
import sys
import types

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import RenderCollection

from kumitate.errors import InputError
from kumitate.gym import Env, Start, Task, VectorEnv
from kumitate.gym.tasks.cart_pole import mechanism
from kumitate.gym.vector import Disturbances


# --- pictures -------------------------------------------------------------------------------------------------------------
def test_pictures_follow_what_moves_and_copies_draw_the_same():
    env = RenderCollection(gymnasium.make("kumitate/CartPole-v0", render_mode="rgb_array"))
    assert env.metadata["render_fps"] == 50
    env.reset(seed=1)
    env.step(1)
    env.step(1)
    first, _, third = env.render()
    assert first.shape == (360, 480, 3)
    assert first.dtype == np.uint8
    assert (first != third).any()
    single = env.unwrapped
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(single)).render(), single.render())
    envs = VectorEnv("cart_pole", 2, render_mode="rgb_array")
    envs.reset(seed=1)
    one, other = envs.render()
    np.testing.assert_array_equal(one, first)  # the same seed
    assert (one != other).any()
    assert VectorEnv("cart_pole", 2).render() is None


def test_other_modes_are_refused():
    with pytest.raises(InputError, match="render_mode is 'ansi'; it must be 'rgb_array'"):
        Env("cart_pole", render_mode="ansi")


def test_videos_are_recorded(tmp_path):
    env = gymnasium.wrappers.RecordVideo(gymnasium.make("kumitate/CartPole-v0", render_mode="rgb_array"), str(tmp_path))
    env.reset(seed=1)
    env.step(1)
    env.close()
    assert next(tmp_path.glob("*.mp4")).stat().st_size > 1000


# --- disturbances ---------------------------------------------------------------------------------------------------------
def gliding(**options):
    """A cart that is pushed by its action, without a pole's weight; observed exactly."""
    return Task(
        mechanism(), actions=1, observation=lambda t, q, v: np.concatenate([q, v]), reward=lambda t, q, v, action: action[0],
        begin=lambda numbers: Start(np.zeros((len(numbers), 2)), np.zeros((len(numbers), 2))), draws=0, steps=2, step=0.01,
        controller=lambda t, q, v, action: np.concatenate([action, 0.0 * action]), integrator="rk4", **options,
    )  # fmt: skip


def run(task, count, steps, seed=3):
    envs = VectorEnv(task, count)
    first, _ = envs.reset(seed=seed)
    seen, states = [first], [np.hstack([envs.batch.q, envs.batch.v])]
    for _ in range(steps):
        seen.append(envs.step(np.zeros((count, 1)))[0])
        states.append(np.hstack([envs.batch.q, envs.batch.v]))
    return envs, np.array(seen), np.array(states)


def test_noise_is_normal_and_differs_by_row_step_and_component():
    envs, seen, states = run(gliding(randomised={"noise": (0.1, 0.2)}), 64, 40)
    drawn = (seen - states) / envs._episodes._disturbed.noise[:, None]
    assert [drawn.mean(), drawn.std(), (drawn**4).mean()] == pytest.approx([0.0, 1.0, 3.0], abs=0.2)
    assert len(np.unique(drawn.round(6))) > 0.99 * drawn.size
    assert ((envs._episodes._disturbed.noise > 0.1) & (envs._episodes._disturbed.noise < 0.2)).all()
    flat = drawn.transpose(1, 2, 0).reshape(-1, drawn.shape[0])
    assert abs(np.mean([np.corrcoef(row[:-1], row[1:])[0, 1] for row in flat])) < 0.05


def test_disturbances_depend_on_the_seed_of_a_row_alone():
    task = gliding(randomised={"noise": (0.1, 0.2), "delay": (0, 3), "push:cart": (0.5, 1.0)}, push_every=0.1)
    _, many, _ = run(task, 5, 20)
    _, one, _ = run(task, 1, 20, seed=5)
    np.testing.assert_array_equal(many[:, 2], one[:, 0])
    assert (many[:, 1] != many[:, 2]).any()


def test_actions_act_late():
    envs = VectorEnv(gliding(randomised={"delay": (0, 2)}), 60)
    envs.reset(seed=1)
    late = envs._episodes._disturbed.delay
    assert set(late) == {0, 1, 2}
    for step in range(1, 6):
        _, rewards, *_ = envs.step(np.full((60, 1), float(step)))
        np.testing.assert_array_equal(rewards, np.maximum(step - late, 0))
    envs.reset()
    assert not envs.batch.inputs["action"].any()


def test_a_push_changes_momentum_by_what_the_table_says():
    """The cart's share along its rails, once every 0.2 s on average; nothing else moves it before the pole leans."""
    envs = VectorEnv(gliding(randomised={"push:cart": (0.002, 0.002)}, push_every=0.2), 400)
    envs.reset(seed=2)
    robot, pushed, sizes = envs.task.robot, 0, []
    for _ in range(5):
        before = robot.momentum(envs.batch.q, envs.batch.v)[:, 3]
        envs.step(np.zeros((400, 1)))
        gained = robot.momentum(envs.batch.q, envs.batch.v)[:, 3] - before
        force = envs.batch.wrenches["cart"]
        sizes += list(np.linalg.norm(force[force.any(axis=1)][:, 3:], axis=1))
        pushed += int(force.any(axis=1).sum())
        np.testing.assert_allclose(gained, 0.02 * force[:, 3], atol=1e-7)
    np.testing.assert_allclose(sizes, 0.1)  # N, for 0.02 s
    assert pushed / 2000 == pytest.approx(0.1, abs=0.03)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"noise": (-0.1, 0.1)}, "'noise' is from -0.1 to 0.1; it must be not negative"),
        ({"delay": (0, 1.5)}, "must be whole and not negative"),
        ({"push:carts": (0, 1)}, "cart"),
    ],
)
def test_disturbances_are_checked(table, message):
    with pytest.raises(InputError, match=message):
        gliding(randomised=table)


def test_the_hash_is_even():
    disturbed = Disturbances(gliding(randomised={"noise": (0.0, 1.0)}), 2000)
    disturbed.begin(np.arange(2000), np.random.default_rng(1).random((2000, 3)))
    counts, _ = np.histogram(disturbed._random(5, 50), bins=20, range=(0.0, 1.0))
    assert ((counts - 5000.0) ** 2 / 5000.0).sum() < 45.0  # χ² of 19 degrees of freedom, one in a thousand


# --- Stable-Baselines3 ----------------------------------------------------------------------------------------------------
class StubVecEnv:
    """The part of Stable-Baselines3's abstract class that its `VecEnv`s inherit, where that is not installed."""

    def __init__(self, num_envs, observation_space, action_space):
        self.num_envs, self.observation_space, self.action_space = num_envs, observation_space, action_space
        self.reset_infos, self._seeds = [{} for _ in range(num_envs)], [None] * num_envs
        self.render_mode = self.get_attr("render_mode")[0]

    def step(self, actions):
        self.step_async(actions)
        return self.step_wait()

    def seed(self, seed):
        self._seeds = [seed + k for k in range(self.num_envs)]

    def _reset_seeds(self):
        self._seeds = [None] * self.num_envs

    def _get_indices(self, indices):
        return range(self.num_envs) if indices is None else [indices] if isinstance(indices, int) else indices


@pytest.fixture
def stable(monkeypatch):
    """The adapter, on the abstract class itself where it is installed."""
    try:
        import stable_baselines3.common.vec_env  # noqa: F401  only to see whether it is there
    except ImportError:
        for name in ("stable_baselines3", "stable_baselines3.common", "stable_baselines3.common.vec_env"):
            monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
        sys.modules["stable_baselines3.common.vec_env"].VecEnv = StubVecEnv
    monkeypatch.delitem(sys.modules, "kumitate.gym.stable_baselines", raising=False)
    return importlib.import_module("kumitate.gym.stable_baselines").StableVecEnv


def test_stable_baselines_sees_single_environments(stable):
    """Each row is an `Env` that is reset where it ends, with the last observation and why it ended."""
    envs = stable("cart_pole", 4, max_episode_steps=25)
    envs.seed(7)
    singles = [gymnasium.wrappers.TimeLimit(Env("cart_pole"), 25) for _ in range(4)]
    np.testing.assert_array_equal(envs.reset(), [env.reset(seed=7 + k)[0] for k, env in enumerate(singles)])
    rng, cut, ended = np.random.default_rng(1), 0, 0
    for _ in range(60):
        actions = rng.integers(2, size=4)
        actions[0] = int(singles[0].unwrapped._episodes.observations[0, 2] > 0.0)  # the first stays up for longer
        seen, rewards, over, infos = envs.step(actions)
        for k, env in enumerate(singles):
            expected, reward, terminated, truncated, _ = env.step(actions[k])
            assert (rewards[k], over[k]) == (reward, terminated or truncated)
            if over[k]:
                np.testing.assert_array_equal(infos[k]["terminal_observation"], expected)
                assert infos[k]["TimeLimit.truncated"] == (truncated and not terminated)
                cut, ended = cut + truncated, ended + terminated
                expected, _ = env.reset()
            else:
                assert "terminal_observation" not in infos[k]
            np.testing.assert_array_equal(seen[k], expected)
    assert cut > 0
    assert ended > 0
    assert envs.get_attr("num_envs", [0, 2]) == [4, 4]
    assert envs.env_is_wrapped(gymnasium.Wrapper, 1) == [False]
    with pytest.raises(InputError, match="no method render of their own"):
        envs.env_method("render")


def test_missing_stable_baselines_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "stable_baselines3.common.vec_env", None)
    monkeypatch.delitem(sys.modules, "kumitate.gym.stable_baselines", raising=False)
    with pytest.raises(InputError, match="pip install stable-baselines3"):
        importlib.import_module("kumitate.gym.stable_baselines").StableVecEnv("cart_pole")


def test_missing_rsl_rl_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "rsl_rl.env", None)
    monkeypatch.delitem(sys.modules, "kumitate.gym.rsl_rl", raising=False)
    with pytest.raises(InputError, match="pip install rsl-rl-lib"):
        importlib.import_module("kumitate.gym.rsl_rl").RslVecEnv("inverted_pendulum")
