"""Runs side by side: that each is the run that `simulate` makes alone."""

import warnings

import numpy as np
import pytest

from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.errors import InputError, KumitateWarning
from kumitate.model import KINDS, WORLD, Body, Geometry, Joint, Mechanism, Sphere
from kumitate.model.samples import sample
from kumitate.simulate.run import simulate, simulate_batch

GROUND = Contact(surface=Surface(friction=0.4, restitution=0.3))


def ball() -> Mechanism:
    """A ball of 1 kg, its center of mass off the middle, free to move."""
    body = Body("ball", 1.0, (0.02, 0.0, 0.0), np.diag([0.004, 0.005, 0.003]), collisions=(Geometry(Sphere(0.1)),))
    return Mechanism("ball", (body,), (Joint("free", KINDS["floating"], WORLD, "ball"),))


def thrown(count, seed):
    rng = np.random.default_rng(seed)
    turn = rng.normal(size=(count, 4))
    q = np.hstack([turn / np.linalg.norm(turn, axis=1, keepdims=True), np.tile([0.0, 0.0, 0.15], (count, 1))])
    return q, rng.normal(size=(count, 6))


@pytest.mark.parametrize("count", [3, 11, 16])
@pytest.mark.parametrize("seed", [1])
def test_balls_side_by_side_fall_as_alone(count, seed):
    # fewer than the lanes, more with a tail, and whole blocks
    q, v = thrown(count, seed)
    runs = simulate_batch(ball(), q, v, duration=0.4, every=20, contact=GROUND)
    assert runs.q.shape == (count, 21, 7)
    for k in {0, count // 2, count - 1}:
        alone = simulate(ball(), q[k], v[k], duration=0.4, contact=GROUND, side_by_side=True)
        np.testing.assert_allclose(runs.time, alone.time[::20], rtol=0.0, atol=1e-15)
        np.testing.assert_allclose(runs.q[k], alone.q[::20], rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(runs.v[k], alone.v[::20], rtol=0.0, atol=1e-11)
        force = runs.contact(k).on("ball")
        np.testing.assert_allclose(force, alone.contact.on("ball")[::20], rtol=0.0, atol=1e-8)
        assert runs.work[k, -1] <= 0.0
    assert any(runs.contact(k).force.any() for k in range(count))


def test_drives_and_wrenches_act_as_alone():
    mechanism = sample("planar_3r")()
    rng = np.random.default_rng(2)
    q, v = rng.normal(size=(9, 3)), rng.normal(size=(9, 3))

    def controller(t, q, v):
        return -3.0 * q - 0.5 * v * (1.0 + 0.1 * np.sin(5.0 * t))

    push = {mechanism.bodies[-1].name: (0.0, 0.3, 0.0, 1.0, 0.0, 0.0)}
    runs = simulate_batch(mechanism, q, v, duration=0.2, every=10, controller=controller, wrenches=push)
    for k in (0, 8):
        alone = simulate(mechanism, q[k], v[k], duration=0.2, controller=controller, wrenches=push)
        np.testing.assert_allclose(runs.q[k], alone.q[::10], rtol=0.0, atol=1e-13)
    assert not np.isfinite(runs.lost).any()


def test_each_run_may_have_its_own_constant_efforts():
    mechanism = sample("planar_3r")()
    tau = np.arange(12.0).reshape(4, 3)
    runs = simulate_batch(mechanism, np.zeros((4, 3)), duration=0.1, every=100, controller=tau)
    for k in range(4):
        alone = simulate(mechanism, np.zeros(3), duration=0.1, controller=tau[k])
        np.testing.assert_allclose(runs.q[k, -1], alone.q[-1], rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("every", [5, 20])
def test_a_sampled_controller_sees_all_runs_at_once(every):
    mechanism, calls = sample("pa10")(), []

    def policy(t, q, v):
        calls.append((t, q.shape))
        return -20.0 * q - 2.0 * v

    q = np.random.default_rng(4).normal(scale=0.3, size=(9, 7))
    runs = simulate_batch(mechanism, q, duration=0.1, every=every, controller=policy, sample_time=0.01)
    assert [shape for _, shape in calls] == [(9, 7)] * 10
    np.testing.assert_allclose([t for t, _ in calls], np.arange(10) * 0.01, atol=1e-15)
    alone = simulate(mechanism, q[3], duration=0.1, controller=lambda t, q, v: -20.0 * q - 2.0 * v, sample_time=0.01)
    np.testing.assert_allclose(runs.q[3], alone.q[::every], rtol=0.0, atol=1e-12)


def test_loops_are_closed_before_and_after():
    mechanism = sample("planar_4r")()
    q = np.array([sample("planar_4r").q] * 8)
    runs = simulate_batch(mechanism, q, duration=0.1, every=50)
    alone = simulate(mechanism, q[0], duration=0.1)
    np.testing.assert_allclose(runs.q[5], alone.q[::50], rtol=0.0, atol=1e-13)


def test_a_run_that_runs_away_is_named_and_the_others_go_on():
    mechanism = sample("pendulum")()
    with pytest.warns(KumitateWarning, match="1 of 9 runs diverge, run 4 first, after t = "):
        runs = simulate_batch(
            mechanism, np.zeros((9, 1)), np.eye(9)[4][:, None], duration=0.2, every=10, integrator="rk4",
            controller=lambda t, q, v: 1e4 * v,
        )  # fmt: skip
    assert np.flatnonzero(np.isfinite(runs.lost)).tolist() == [4]
    gone = runs.time > runs.lost[4]
    assert np.isnan(runs.q[4, gone]).all()
    assert np.isfinite(runs.q[4, ~gone]).all()
    assert np.isfinite(runs.q[[0, 8]]).all()


def test_wrong_arguments_are_refused():
    mechanism = sample("planar_3r")()
    q = np.zeros((4, 3))
    for options, message in (
        ({"q": np.zeros(3)}, r"q has shape \(3,\); it must be \(N, 3\)"),
        ({"v": np.zeros((3, 3))}, "q has 4 rows and v 3"),
        ({"v": np.full((4, 3), np.nan)}, "v is nan in column 0 of run 0"),
        ({"every": 7}, "every is 7; it must divide the number of steps, 100"),
        ({"every": 20, "sample_time": 0.03, "controller": lambda t, q, v: 0 * v}, "one must be a multiple of the other"),
        ({"controller": lambda t, q, v: v if q[0] > 0 else -v}, "it cannot be traced: .*Give `sample_time`"),
        ({"controller": np.zeros((3, 3))}, r"controller has shape \(3, 3\); it must be \(4, 3\)"),
        ({"controller": lambda t, q, v: v[:2], "sample_time": 0.01}, "one row per run"),
        ({"integrator": "rkf45_adaptive"}, "need a constant step"),
    ):
        with warnings.catch_warnings(), pytest.raises(InputError, match=message):
            simulate_batch(mechanism, **({"q": q, "duration": 0.1} | options))
