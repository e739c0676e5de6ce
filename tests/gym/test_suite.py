"""Gymnasium's suite: what is observed, earned and ended at MuJoCo's own states, motions without contact, and starts."""

from __future__ import annotations

import pickle

import gymnasium
import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError
from kumitate.gym import TASKS, Env, VectorEnv, named_task, task_from_mjcf
from kumitate.gym.mjcf import MujocoRobot, gaussian
from kumitate.gym.tasks import suite

#: Where no stop is reached, the motion of these has nothing to do with contact, and the cheetah's has not in the air.
FREE = ("half_cheetah", "reacher", "pusher", "swimmer", "inverted_pendulum", "inverted_double_pendulum")
#: A hopper that feels its floor.
FELT = {
    "contact": "rigid", "step": 2e-3, "integrator": "semi_implicit_euler", "side_by_side": True,
    "outputs": {"all": "contact_wrenches", "foot": "force:foot"},
}  # fmt: skip
WALKS = ("half_cheetah", "hopper", "walker2d", "swimmer", "ant", "humanoid")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """MuJoCo writes its log where it runs."""
    monkeypatch.chdir(tmp_path)


def theirs(name, **options):
    """Gymnasium's own environment."""
    return gymnasium.make(TASKS[name].id.removeprefix("kumitate/"), **options).unwrapped


def seen_of(name):
    return MujocoRobot(suite.ASSETS / suite.SUITE[name].file)


def earned(name, env, action, moved):
    """What they give for an action at the present state, having moved so far."""
    if name in WALKS:
        return env._get_rew(moved / env.dt, action)[0]
    if name == "inverted_pendulum":
        return float(abs(env.data.qpos[1]) <= 0.2)
    if name == "inverted_double_pendulum":
        x, _, y = env.data.site_xpos[0]
        return env._get_rew(x, y, bool(y <= 1))[0]
    return env._get_rew(*((env.data.qpos[2], action) if name == "humanoid_standup" else (action,)))[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if "humanoid" in n else n for n in suite.SUITE])
def test_the_same_is_seen_and_earned_at_their_states(name):
    env, rng = theirs(name), np.random.default_rng(3)
    envs, seen, model = VectorEnv(named_task(name, contact=None), 4), seen_of(name), env.model
    assert envs.single_observation_space == env.observation_space
    assert envs.single_action_space == env.action_space
    assert TASKS[name].max_episode_steps == gymnasium.spec(TASKS[name].id.removeprefix("kumitate/")).max_episode_steps
    assert envs.task.time == pytest.approx(env.dt)
    envs.reset(seed=1)
    batch, start = envs.batch, seen.start(model.qpos0 + 0.4 * rng.normal(size=(4, model.nq)), rng.normal(size=(4, model.nv)))
    actions = rng.uniform(env.action_space.low, env.action_space.high, size=(4, model.nu))
    batch.q[:], batch.v[:] = start.q, start.v
    batch.inputs["action"][:] = actions
    batch.look()
    if name in WALKS:
        batch.inputs["place_before"][:] = batch.outputs["place"] - 0.3
    batch.look()
    for row in range(4):
        qpos, qvel = seen.order.to(start.q[row], start.v[row])
        env.data.ctrl[:] = actions[row]
        env.set_state(qpos, qvel)
        np.testing.assert_allclose(batch.outputs["observation"][row], env._get_obs(), rtol=0.0, atol=1e-9)
        assert batch.outputs["reward"][row] == pytest.approx(earned(name, env, actions[row], 0.3), abs=1e-9)
        if hasattr(env, "is_healthy"):
            assert (batch.outputs["terminated"][row] > 0.5) == (not env.is_healthy)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FREE)
def test_motions_without_contact_are_theirs(name):
    env, rng, single = theirs(name), np.random.default_rng(5), Env(named_task(name, contact=None))
    seen, model = seen_of(name), env.model
    single.reset(seed=2)
    env.reset()
    qpos, qvel = model.qpos0.copy(), 0.2 * rng.normal(size=model.nv)
    if name == "pusher":  # its arm starts at stops
        qpos[:7], qvel[7:] = model.jnt_range[:7].mean(axis=1), 0.0
    if name == "half_cheetah":
        qpos[1] = 1.0
    batch, start = single._episodes.batch, seen.start(qpos[None], qvel[None])
    batch.q[:], batch.v[:] = start.q, start.v
    env.set_state(qpos, qvel)
    for _ in range(6):
        action = (0.1 * rng.uniform(env.action_space.low, env.action_space.high)).astype(np.float32)
        single.step(action)
        env.step(action)
    np.testing.assert_allclose(seen.order.to(batch.q[0], batch.v[0])[0], env.data.qpos, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(seen.order.to(batch.q[0], batch.v[0])[1], env.data.qvel, rtol=0.0, atol=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_springs_that_are_drawn_belong_to_the_robot():
    varied = VectorEnv("half_cheetah", 3, contact=None, randomised={"stiffness:bthigh": (100.0, 300.0)})
    varied.reset(seed=1)
    varied.step(np.zeros((3, 6), dtype=np.float32))
    drawn = varied.batch.parameters["stiffness:bthigh"]
    assert len(set(drawn)) == 3
    assert drawn.min() > 100.0
    assert drawn.max() < 300.0
    plain, seen = named_task("half_cheetah", contact=None), seen_of("half_cheetah")
    q = 0.1 * np.arange(9.0)
    np.testing.assert_allclose(plain.controller(0.0, q, 0.0 * q), -seen.model.jnt_stiffness * q)
    assert not any(any(joint.stiffness) for joint in plain.robot.mechanism.joints)


def test_a_cart_at_the_end_of_its_rail_feels_the_stop():
    env = Env("inverted_double_pendulum")
    env.reset(seed=1)
    env._episodes.batch.v[0] = 3.0, 0.0, 0.0
    felt = [env.step(np.ones(1, dtype=np.float32))[0][-1] for _ in range(5)]
    assert abs(felt[0]) < 1e-9
    assert felt[-1] == -10.0


@pytest.mark.filterwarnings("ignore")
def test_starts_are_drawn_as_theirs():
    for name, spread in (("half_cheetah", 0.1), ("ant", 0.1)):
        task, seen = named_task(name, contact=None), seen_of(name)
        start = task.begin(np.random.default_rng(1).random((4000, task.draws)))
        qpos, qvel = seen.order.to(start.q, start.v)
        away = (qpos - seen.model.qpos0)[:, 7:]
        assert np.abs(away).max() < spread
        assert away.std() == pytest.approx(spread / np.sqrt(3.0), rel=0.02)
        assert qvel.std() == pytest.approx(spread, rel=0.02)
        assert np.abs(qvel).max() > 3.0 * spread
    reach, push = (named_task(name, contact=None) for name in ("reacher", "pusher"))
    goals = reach.begin(np.random.default_rng(1).random((4000, reach.draws))).q[:, 2:]
    assert (np.linalg.norm(goals, axis=1) < 0.2).all()
    assert (np.linalg.norm(goals, axis=1) < 0.1).mean() == pytest.approx(0.25, abs=0.03)
    placed = push.begin(np.random.default_rng(1).random((4000, push.draws))).q[:, 7:9]
    assert (np.linalg.norm(placed, axis=1) > 0.17).all()
    assert placed.min(axis=0) == pytest.approx([-0.3, -0.2], abs=0.01)
    assert placed.max(axis=0) == pytest.approx([0.0, 0.2], abs=0.01)


def test_gaussian_numbers_are_those_of_their_distribution():
    drawn = gaussian(np.random.default_rng(2).random((100_000, 2)))[:, 0]
    assert [np.mean(drawn), np.std(drawn), np.mean(drawn**4)] == pytest.approx([0.0, 1.0, 3.0], abs=0.05)
    assert gaussian(np.zeros((1, 2))).tolist() == [[0.0]]


def test_what_contact_does_to_a_hopper_that_stands_is_its_weight():
    robot = named_task("hopper").robot
    sim = km.Simulation(robot, **FELT)
    batch, names = sim.batch(2), [body.name for body in robot.mechanism.bodies]
    batch.step(300)
    on_foot, on_floor = (batch.outputs["all"][0, names.index(name)] for name in ("foot", "world_link"))
    np.testing.assert_allclose(on_foot[3:], batch.outputs["foot"][0], atol=1e-9)
    np.testing.assert_allclose(on_foot, -on_floor, atol=1e-9)
    assert on_foot[5] == pytest.approx(9.81 * robot.mass, rel=1e-6)
    center = robot.center_of_mass(batch.q[0])
    assert -on_foot[1] / on_foot[5] == pytest.approx(center[0], abs=1e-3)  # below it, as it stands


def test_forces_of_contact_are_those_of_the_step_that_is_over():
    """Found again at the state that it began from they are the same, and with a controller in Python, too."""
    robot = named_task("hopper").robot
    batch, foot = km.Simulation(robot, **FELT).batch(2), [body.name for body in robot.mechanism.bodies].index("foot")
    batch.v[:] = 0.3 * np.random.default_rng(1).normal(size=batch.v.shape)
    assert not batch.outputs["all"].any()
    seen = batch.record(200)
    assert (seen["foot"][:, :, 2] > 0.0).mean() > 0.2
    np.testing.assert_allclose(seen["all"][:, 1:, foot, 3:], seen["foot"][:, :-1], rtol=1e-9, atol=1e-9)
    alone = km.Simulation(robot, controller=lambda t, q, v: np.zeros(robot.nv) * len(str(t)), **FELT)
    state = alone.step(alone.start(), 150)
    after = alone.step(state)
    np.testing.assert_allclose(after.outputs["all"][foot, 3:], state.outputs["foot"], rtol=1e-9, atol=1e-9)
    assert state.outputs["foot"][2] > 0.0


def test_all_contact_needs_points_that_are_known():
    with pytest.raises(InputError, match="side_by_side=True where it goes through lists"):
        km.Simulation(named_task("hopper").robot, contact="rigid", outputs=["contact_wrenches"])


def test_options_are_those_of_gymnasium():
    env = gymnasium.make("kumitate/Hopper-v5", contact=None, healthy_reward=3.0, terminate_when_unhealthy=False)
    env.reset(seed=1)
    *_, info = env.step(np.zeros(3, dtype=np.float32))
    assert info["reward_survive"] == 3.0
    assert Env("ant", contact=None, include_cfrc_ext_in_observation=False).observation_space.shape == (27,)
    with pytest.raises(InputError, match="no option 'healthy_rewards'"):
        Env("hopper", healthy_rewards=1.0)
    copied = pickle.loads(pickle.dumps(env.unwrapped))
    np.testing.assert_array_equal(copied.step(np.ones(3, dtype=np.float32))[0], env.step(np.ones(3, dtype=np.float32))[0])


def test_contact_and_tables_are_options_too():
    """Also where they hold dictionaries: one friction for all, which differs from episode to episode."""
    everywhere = km.Contact(surface=km.Surface(1.0))
    envs = gymnasium.make_vec(
        "kumitate/Hopper-v5",
        num_envs=3,
        contact=everywhere,
        randomised={"friction:floor": (0.5, 1.0), "mass:torso": (3.0, 4.0)},
    )
    envs.reset(seed=1)
    envs.step(envs.action_space.sample())
    frictions = envs.batch.parameters["friction:floor"]
    assert ((frictions >= 0.5) & (frictions <= 1.0)).all()
    assert len(set(frictions)) == 3


def test_a_missing_file_is_named(monkeypatch):
    monkeypatch.setattr(suite, "ASSETS", suite.Path("nowhere"))
    with pytest.raises(InputError, match=r"reacher.xml of Gymnasium is not in nowhere; install Gymnasium again"):
        suite.task("reacher")


@pytest.mark.filterwarnings("ignore")
def test_a_task_of_a_file_is_driven_in_the_files_order():
    file = suite.ASSETS / "ant.xml"
    task = task_from_mjcf(file, reward=lambda t, q, v, qvel: qvel[0], noise=0.1, steps=2, contact=None)
    assert [joint.name for joint in task.robot.mechanism.driven] != [one.joint for one in task.robot.actuators]
    envs, model = VectorEnv(task, 3), theirs("ant").model
    first, _ = envs.reset(seed=1)
    assert np.abs(first[:, :15] - model.qpos0).max() < 0.11
    envs.step(np.eye(3, 8, dtype=np.float32))  # the first actuators are hip_4, ankle_4, hip_1
    moved = [model.joint(int(np.abs(row[6:]).argmax()) + 1).name for row in envs.batch.outputs["qvel"]]
    assert moved == ["hip_4", "ankle_4", "hip_1"]


def turning(t, q, v, qvel):
    return qvel[0]


@pytest.mark.filterwarnings("ignore")
def test_tasks_of_files_are_copied_with_their_disturbances():
    file, table = suite.ASSETS / "reacher.xml", {"noise": (0.0, 0.1), "delay": (0, 2), "mass:body0": (0.01, 0.05)}
    envs = VectorEnv(task_from_mjcf(file, reward=turning, steps=2, noise=0.1, randomised=table), 3)
    envs.reset(seed=1)
    envs.step(np.ones((3, 2), dtype=np.float32))
    copied = pickle.loads(pickle.dumps(envs))
    for _ in range(2):
        (one, *_), (other, *_) = (each.step(np.zeros((3, 2), dtype=np.float32)) for each in (envs, copied))
        np.testing.assert_array_equal(one, other)


# --- with contact ---------------------------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["hopper", "walker2d", "half_cheetah"])
def test_random_actions_look_alike_with_contact(name):
    """Mean heights differ by less than their spread, and speeds by less than a quarter (docs/learning.md)."""
    off = {} if name == "half_cheetah" else {"terminate_when_unhealthy": False}
    env, envs, rng = theirs(name, **off), VectorEnv(name, 128, **off), np.random.default_rng(2)
    low, high = env.action_space.low, env.action_space.high
    envs.reset(seed=1)
    heights, squares = [], []
    for step in range(100):
        envs.step(rng.uniform(low, high, size=(128, len(low))))
        if step >= 50:
            heights.append(envs.batch.outputs["qpos"][:, 1].copy())
            squares.append((envs.batch.outputs["qvel"] ** 2).mean())
    expected, fast = [], []
    for seed in range(64):
        env.reset(seed=seed)
        for step in range(100):
            env.step(rng.uniform(low, high))
            if step >= 50:
                expected.append(env.data.qpos[1])
                fast.append((env.data.qvel**2).mean())
    assert np.mean(heights) == pytest.approx(np.mean(expected), abs=0.7 * np.std(expected))
    assert np.sqrt(np.mean(squares)) == pytest.approx(np.sqrt(np.mean(fast)), rel=0.25)
