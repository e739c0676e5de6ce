"""`VectorEnv` against Gymnasium's `SyncVectorEnv` of as many `Env`s, in all modes of automatic resets; seeds, masks."""

from __future__ import annotations

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import kumitate as km
from kumitate.errors import InputError
from kumitate.gym import Env, Start, Task, VectorEnv

MODES = list(AutoresetMode)


def swinging(**options):
    """A pendulum whose episodes end at random times, with infos of a number and an array, and a command."""

    def observation(t, q, v, height, command, last_action):
        return np.concatenate([q, v, height, command, last_action])

    def begin(numbers):
        return Start(6.0 * numbers[:, :1], 4.0 * numbers[:, 1:2] - 2.0, {"command": numbers[:, 2:]})

    given = {
        "actions": 1, "observation": observation, "terminated": lambda t, q, v: np.sin(q[0]) > 0.95, "steps": 5,
        "reward": lambda t, q, v, command, action: command[1] * q[0] - action[0] ** 2, "begin": begin, "draws": 4,
        "inputs": {"command": 2}, "outputs": {"height": lambda t, q, v: np.stack([np.cos(q[0]), t]), "speed": speed},
        "info": ("speed", "height"), "controller": lambda t, q, v, action: 3.0 * action, "step": 0.01, "integrator": "rk4",
    }  # fmt: skip
    return Task(km.load("pendulum"), **{**given, **options})


def speed(t, q, v):
    return np.abs(v[0])


def running_away(**options):
    """A task some of whose rows run away: where the pendulum passes an angle, its damping is negative without bounds."""
    return swinging(
        terminated=None, controller=lambda t, q, v, action: 3.0 * action + 1e7 * km.where(q > 5.0, v, 0.0), **options
    )


def same(one, other, path="infos"):
    """Infos of two vector environments hold the same."""
    assert set(one) == set(other), f"{path}: {sorted(one)} and {sorted(other)}"
    for name, value in one.items():
        if isinstance(value, dict):
            same(value, other[name], f"{path}.{name}")
        elif value.dtype == object:
            assert [part is None for part in value] == [part is None for part in other[name]]
            for a, b in zip(value, other[name], strict=True):
                np.testing.assert_array_equal(a, b, err_msg=f"{path}.{name}")
        else:
            assert value.dtype == other[name].dtype, f"{path}.{name}: {value.dtype} and {other[name].dtype}"
            np.testing.assert_array_equal(value, other[name], err_msg=f"{path}.{name}")


def compare(task, mode, *, count=6, most=None, steps=60, seed=5):
    """Both step the same, and some episodes end. Gives how many."""

    def single():
        env = Env(task)
        return env if most is None else gymnasium.wrappers.TimeLimit(env, most)

    ours = VectorEnv(task, count, max_episode_steps=most, autoreset_mode=mode)
    theirs = SyncVectorEnv([single] * count, autoreset_mode=mode)
    assert ours.metadata["autoreset_mode"] is mode
    for name in ("observation_space", "action_space", "single_observation_space", "single_action_space", "num_envs"):
        assert getattr(ours, name) == getattr(theirs, name)
    (seen, infos), (expected, known) = ours.reset(seed=seed), theirs.reset(seed=seed)
    np.testing.assert_array_equal(seen, expected)
    same(infos, known)
    assert ours.np_random_seed == theirs.np_random_seed
    theirs.action_space.seed(seed)
    ends = 0
    for _ in range(steps):
        action = theirs.action_space.sample()
        *arrays, infos = ours.step(action)
        *others, known = theirs.step(action)
        for a, b in zip(arrays, others, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
        same(infos, known)
        over = arrays[2] | arrays[3]
        ends += int(over.sum())
        if mode is AutoresetMode.DISABLED and over.any():
            (seen, infos), (expected, known) = (envs.reset(options={"reset_mask": over.copy()}) for envs in (ours, theirs))
            np.testing.assert_array_equal(seen, expected)
            same(infos, known)
    return ends


@pytest.mark.parametrize("mode", MODES)
def test_it_steps_as_a_sync_vector_env_does(mode):
    assert compare(swinging(), mode, most=11) > 20


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["cart_pole", "acrobot"])
def test_what_ships_steps_as_a_sync_vector_env_does(name, mode):
    task = Env(name).task
    assert compare(task, mode, most=25) > 5


@pytest.mark.parametrize("mode", MODES)
def test_rows_that_run_away_end_and_say_so(mode):
    with np.errstate(all="ignore"):
        assert compare(running_away(), mode, steps=20) > 1
        envs = VectorEnv(running_away(), 3, autoreset_mode=AutoresetMode.DISABLED)
        envs.reset(seed=1)
        envs.batch.q[1] = 5.5
        seen, rewards, terminated, _, infos = envs.step(np.zeros((3, 1), dtype=np.float32))
    assert terminated.tolist() == [False, True, False] == infos["diverged"].tolist()
    assert not seen[1].any()
    assert rewards[1] == 0.0


def test_a_row_depends_on_its_own_seed_alone():
    task, rng = swinging(), np.random.default_rng(2)
    few, many = VectorEnv(task, 3, max_episode_steps=9), VectorEnv(task, 17, max_episode_steps=9)
    seeds = [41, 7, 23]
    one, _ = few.reset(seed=seeds)
    other, _ = many.reset(seed=[100 + k for k in range(14)] + seeds)
    np.testing.assert_array_equal(one, other[14:])
    for _ in range(50):
        actions = rng.uniform(-1.0, 1.0, (17, 1)).astype(np.float32)
        one, *_ = few.step(actions[14:])
        other, *_ = many.step(actions)
        np.testing.assert_array_equal(one, other[14:])


def test_resets_with_a_mask_leave_the_other_rows():
    envs = VectorEnv(swinging(), 5)
    envs.reset(seed=3)
    before, *_ = envs.step(np.zeros((5, 1), dtype=np.float32))
    mask = np.array([False, True, False, False, True])
    after, infos = envs.reset(seed=9, options={"reset_mask": mask})
    np.testing.assert_array_equal(after[~mask], before[~mask])
    fresh, _ = VectorEnv(swinging(), 5).reset(seed=9)
    np.testing.assert_array_equal(after[mask], fresh[mask])
    assert infos["_speed"].tolist() == mask.tolist()


def test_observations_are_copied_unless_told_otherwise():
    action = np.zeros((4, 1), dtype=np.float32)
    envs = VectorEnv(swinging(), 4)
    first, _ = envs.reset(seed=1)
    kept = first.copy()
    second = envs.step(action)[0]
    np.testing.assert_array_equal(first, kept)
    assert not np.shares_memory(first, second)
    reused = VectorEnv(swinging(), 4, copy=False)
    first, _ = reused.reset(seed=1)
    assert reused.step(action)[0] is first
    np.testing.assert_array_equal(first, second)
    assert first.dtype == np.float32


def test_seeds_make_episodes_again():
    envs = VectorEnv(swinging(), 3)
    first, _ = envs.reset(seed=4)
    second, _ = envs.reset()
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(envs.reset(seed=4)[0], first)
    np.testing.assert_array_equal(envs.reset()[0], second)
    assert not np.array_equal(VectorEnv(swinging(), 3).reset()[0], VectorEnv(swinging(), 3).reset()[0])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda envs: envs.reset(seed=[1, 2]), "2 seeds are given for 3 environments"),
        (lambda envs: envs.reset(options={"reset_mask": np.zeros(3, dtype=bool)}), r"\['reset_mask'\] is of shape \(3,\)"),
        (lambda envs: envs.reset(options={"reset_mask": [True] * 3}), r"\['reset_mask'\] is \[True, True, True\]"),
        (lambda envs: envs.step(np.zeros(3)), r"the actions are of the shape \(3,\)"),
        (lambda envs: envs.step(np.array([[0.0], [np.nan], [0.0]])), "the action of row 1 is .*nan.*it must be finite"),
        (lambda envs: VectorEnv(envs.task, 3).step(np.zeros((3, 1))), "no episode has started; call reset"),
        (lambda envs: VectorEnv(envs.task, 2).reset(options={"reset_mask": np.array([True, False])}), "reset without a mask"),
        (lambda envs: VectorEnv("cart_pol", 3), "no task 'cart_pol', did you mean 'cart_pole'"),
        (lambda envs: VectorEnv(envs.task, 3, steps=2), "steps are options of a task that is made already"),
        (lambda envs: swinging(reward=lambda t, q, v: q), r"reward gives an array of shape \(1,\); it must give one number"),
        (
            lambda envs: swinging(observation=lambda t, q, v: q[0]),
            "observation gives an array of shape .*; it must give one array",
        ),
        (lambda envs: swinging(reward=lambda t, q, v: 1.0 if q[0] > 0 else 0.0), "the output 'reward' cannot be compiled"),
        (lambda envs: swinging(info=("spede",)), "info names 'spede', which is not an output"),
        (lambda envs: swinging(actions=[1.0, 2.0]), r"actions has shape \(2,\)"),
        (lambda envs: swinging(action_space=None), "a simulation has no option 'action_space'"),
        (lambda envs: swinging(controller=None), "nothing that drives the robot reads the action. Give a controller"),
        (lambda envs: swinging(controller=lambda t, q, v, command: command[:1]), "nothing that drives the robot reads"),
        (lambda envs: setattr(envs.task, "step", 2), "Task has no attribute 'step', did you mean 'steps'"),
    ],
)
def test_mistakes_are_named(call, words):
    envs = VectorEnv(swinging(), 3)
    envs.reset(seed=0)
    with pytest.raises(InputError, match=words):
        call(envs)


def test_choices_are_checked():
    env = Env("cart_pole")
    env.reset(seed=0)
    with pytest.raises(InputError, match="the action of row 0 is 2; it must be one of the choices 0 to 1"):
        env.step(2)
    with pytest.raises(InputError, match="whole numbers of the shape"):
        env.step(0.5)


def test_without_resets_a_row_that_has_ended_is_not_stepped():
    envs = VectorEnv(swinging(terminated=None), 3, max_episode_steps=2, autoreset_mode="Disabled")
    envs.reset(seed=0)
    action = np.zeros((3, 1))
    envs.step(action)
    envs.step(action)
    with pytest.raises(InputError, match=r"the episode in row 0 has ended; call reset\(options"):
        envs.step(action)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))], ids=["deepcopy", "pickle"])
def test_a_copy_of_environments_goes_on_as_they_do(copied):
    envs, env = VectorEnv("cart_pole", 4, max_episode_steps=9), Env("cart_pole")
    if copied is copy.deepcopy:  # what has functions without names cannot be pickled
        envs = VectorEnv(swinging(), 4)
    envs.reset(seed=5)
    env.reset(seed=5)
    rng = np.random.default_rng(5)
    actions = rng.integers(0, 2, (30, 4)) if copied is not copy.deepcopy else rng.uniform(-1.0, 1.0, (30, 4, 1))
    for step in actions[:10]:
        envs.step(step)
    others, other = copied(envs), copied(env)
    for step in actions[10:]:  # episodes end and begin with the generators of the copies
        for mine, its in zip(envs.step(step)[:4], others.step(step)[:4], strict=True):
            np.testing.assert_array_equal(its, mine)
    np.testing.assert_array_equal(other.step(1)[0], env.step(1)[0])


def test_who_reads_only_the_last_action_is_driven_by_it():
    assert swinging(controller=lambda t, q, v, last_action: last_action).action_size == 1
