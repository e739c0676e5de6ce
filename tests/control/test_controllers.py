"""Controllers: their closed-loop laws by simulation, compiled and called alike; limits, sampling, delay and noise."""

import numpy as np
import pytest

import kumitate as km
from kumitate.control import (
    Delayed,
    Noisy,
    PoseSpline,
    Sampled,
    Spline,
    Trapezoid,
    computed_torque,
    gravity_compensation,
    inverse_dynamics,
    joint_stops,
    limited,
    operational_space,
    pd,
    scheduled,
    smooth_trapezoid,
    speed_limited,
    total,
    undriven,
)
from kumitate.errors import InputError
from kumitate.model import KINDS, Body, Joint, Limits, Mechanism

START = np.array([0.4, -0.3, 0.8])


@pytest.fixture(scope="module")
def chain() -> km.Robot:
    return km.load("planar_3r")


def both_ways(robot, q, v, controller, **options) -> km.Run:
    """Compiled into the step and called from Python: the same motion."""
    options = {"duration": 0.2, "step": 1e-3, "integrator": "rk4", "controller": controller, **options}
    compiled, called = km.simulate(robot, q, v, **options), km.simulate(robot, q, v, traced=False, **options)
    assert compiled.settings["forcing"] == "compiled"
    assert called.settings["forcing"] == "called"
    np.testing.assert_allclose(compiled.q, called.q, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(compiled.tau, called.tau, rtol=0.0, atol=1e-7)
    return compiled


def test_gravity_compensation_keeps_a_robot_where_it_is(chain):
    run = both_ways(chain, START, np.zeros(3), gravity_compensation(chain))
    np.testing.assert_allclose(run.q, np.tile(START, (len(run), 1)), atol=1e-12)


def test_pd_with_gravity_compensation_takes_out_energy_and_arrives(chain):
    goal = [0.1, 0.5, -0.4]
    law = total(pd(chain, goal, kp=60.0, kd=np.array([25.0, 15.0, 8.0])), gravity_compensation(chain.mechanism))
    both_ways(chain, START, np.zeros(3), law)
    run = km.simulate(chain, START, np.zeros(3), duration=12.0, step=2e-3, controller=law)
    error = np.array(goal) - run.q
    stored = run.energy.kinetic + 0.5 * 60.0 * (error**2).sum(axis=1)
    assert (np.diff(stored) <= 1e-9).all()  # Lyapunov: kinetic energy and springs
    np.testing.assert_allclose(run.q[-1], goal, atol=1e-3)


def test_computed_torque_makes_the_error_a_damped_oscillator(chain):
    """ë + 6 ė + 25 e = 0 in every joint, whatever the reference does."""
    reference = Spline([0.0, 0.7, 1.5], [[0.0, 0.0, 0.0], [1.0, -0.5, 0.6], [0.3, 0.9, 0.0]])
    law = computed_torque(chain, reference, kp=25.0, kd=6.0)
    run = both_ways(chain, START, np.zeros(3), law, duration=1.0)
    t = run.time[:, None]
    e = np.exp(-3.0 * t) * START * (np.cos(4.0 * t) + 0.75 * np.sin(4.0 * t))
    np.testing.assert_allclose(run.q - reference(run.time), e, atol=1e-8)


def test_inverse_dynamics_gives_the_accelerations_wished(chain):
    run = both_ways(chain, START, np.zeros(3), inverse_dynamics(chain, lambda t, q, v: np.array([1.0, -2.0, 0.5])))
    np.testing.assert_allclose(run.a, np.tile([1.0, -2.0, 0.5], (len(run), 1)), atol=1e-9)


def test_a_trapezoid_can_be_followed(chain):
    reference = Trapezoid(START, [0.0, 0.0, 0.0], velocity=1.0, acceleration=3.0)
    run = km.simulate(
        chain, START, np.zeros(3), duration=1.5, step=1e-3, controller=computed_torque(chain, reference, kp=0.0, kd=0.0)
    )
    assert run.settings["forcing"] == "compiled"
    np.testing.assert_allclose(run.q, reference(run.time), atol=2e-3)  # the corners fall between steps


def test_operational_space_makes_the_frame_a_damped_oscillator():
    """The position of the hand obeys ë + 8 ė + 25 e = 0 along a spline; the posture's forces do not disturb it."""
    arm = km.load("pa10")
    q = np.array([0.3, 0.5, -0.2, 1.0, 0.4, 0.6, 0.1])
    X = arm.pose(q, "link7")
    times, turn = [0.0, 1.0], [[0.0, 0.0, 0.0, 1.0]] * 2
    shift = np.array([0.05, -0.02, 0.03])
    reference = PoseSpline(times, turn, [X[:3, 3] - shift, X[:3, 3] + [0.0, 0.1, 0.05]])
    posture = pd(arm, q, kp=5.0, kd=5.0)
    law = operational_space(arm, "link7", reference, kp=25.0, kd=8.0, posture=posture)
    run = km.simulate(arm, q, np.zeros(7), duration=0.6, step=1e-3, integrator="rk4", controller=law)
    assert run.settings["forcing"] == "compiled"
    t = run.time[:, None]
    e = np.exp(-4.0 * t) * shift * (np.cos(3.0 * t) + 4.0 / 3.0 * np.sin(3.0 * t))
    found = run.poses()[:, list(arm.bodies).index("link7"), :3, 3] - reference(run.time)[:, 4:]
    np.testing.assert_allclose(found, e, atol=1e-8)


def test_operational_space_holds_a_pose_and_refuses_nonsense():
    arm = km.load("pa10")
    q = np.array([0.3, 0.5, -0.2, 1.0, 0.4, 0.6, 0.1])
    x = arm.pose(q, "link7")
    R = x[:3, :3]
    w = 0.5 * np.sqrt(1.0 + np.trace(R))
    pose = [*(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4.0 * w)), w, *x[:3, 3]]
    law = operational_space(arm, "link7", pose, kp=100.0, kd=20.0, rows=range(6), posture=pd(arm, q, kp=0.0, kd=10.0))
    away = q + 0.05 * np.cos(np.arange(7.0))
    run = both_ways(arm, away, np.zeros(7), law, duration=0.02)
    run = km.simulate(arm, away, np.zeros(7), duration=3.0, step=2e-3, controller=law)
    np.testing.assert_allclose(arm.pose(run.q[-1], "link7"), x, atol=1e-6)
    alone = operational_space(arm, "link7", pose, kp=100.0, kd=20.0, rows=range(6))
    free = operational_space(arm, "link7", pose, kp=100.0, kd=20.0, rows=range(6), posture=lambda t, q, v: np.zeros(7))
    np.testing.assert_array_equal(alone(0.0, away, away), free(0.0, away, away))
    with pytest.raises(InputError, match="hand"):
        operational_space(arm, "hand", pose, kp=1.0, kd=1.0)
    with pytest.raises(InputError, match="rows"):
        operational_space(arm, "link7", pose, kp=1.0, kd=1.0, rows=[3, 3])


@pytest.mark.row("T-6.3")
def test_gains_may_be_splines_of_the_posture(chain):
    """Eq. 6.6 with k_d a spline of an angle: along a run, tau is what the formula says."""
    growth = Spline([0.0, 0.2], [0.0, 3.5])
    damping = scheduled(chain, {"joint1": growth, "joint3": 0.7}, lambda q: q[0], otherwise=0.03)
    law = pd(chain, START, kp=0.3, kd=damping)
    run = both_ways(chain, START, np.array([-1.0, 0.0, 0.3]), law)
    d = np.column_stack([growth(run.q[:, 0]), np.full(len(run), 0.03), np.full(len(run), 0.7)])
    np.testing.assert_allclose(run.tau, 0.3 * (START - run.q) - d * run.v, atol=1e-10)
    with pytest.raises(InputError, match="joint9"):
        scheduled(chain, {"joint9": 1.0}, lambda q: q[0])


@pytest.mark.row("Y-fall")
def test_a_controller_can_be_cut_off_by_a_trapezoid(chain):
    inner = pd(chain, np.zeros(3), kp=10.0, kd=1.0)
    run = both_ways(chain, START, np.zeros(3), lambda t, q, v: smooth_trapezoid(q[1], 0.0, 0.29, 100.0) * inner(t, q, v))
    gate = smooth_trapezoid(run.q[:, 1], 0.0, 0.29, 100.0)
    np.testing.assert_allclose(run.tau, gate[:, None] * (-10.0 * run.q - run.v), atol=1e-10)


# --- limits -----------------------------------------------------------------------------------------------------------------
@pytest.mark.row("T-f4")
@pytest.mark.parametrize("smooth", [False, True])
def test_limits_of_torque(chain, smooth):
    strong = pd(chain, np.zeros(3), kp=300.0, kd=1.0)
    law = limited(chain, strong, limits=[5.0, 4.0, np.inf], smooth=smooth)
    run = both_ways(chain, START, np.zeros(3), law)
    free = np.array([strong(t, q, v) for t, q, v in zip(run.time, run.q, run.v, strict=True)])
    bound = np.array([5.0, 4.0])
    assert (np.abs(run.tau[:, :2]) <= bound).all()
    assert (np.abs(run.tau[:, :2]) > 0.9 * bound).any()
    np.testing.assert_allclose(run.tau[:, 2], free[:, 2], atol=1e-9)
    if not smooth:
        np.testing.assert_allclose(run.tau[:, :2], np.clip(free[:, :2], -bound, bound), atol=1e-9)
    with pytest.raises(InputError, match="positive"):
        limited(chain, strong, limits=0.0)


def slider() -> km.Robot:
    limits = (Limits(lower=-0.1, upper=0.5, velocity=2.0, effort=3.0),)
    joint = Joint("rail", KINDS["prismatic"], "world", "block", axis=(1.0, 0.0, 0.0), limits=limits)
    return km.Robot(Mechanism("slider", (Body("block", 1.0),), (joint,)))


@pytest.mark.row("T-f4")
def test_limits_of_velocity_and_position_come_from_the_model():
    robot = slider()
    push = lambda t, q, v: np.array([10.0]) + 0.0 * q  # noqa: E731
    law = speed_limited(robot, limited(robot, push))
    run = both_ways(robot, [-0.05], [0.0], law, duration=3.0, limits=False)
    assert run.tau[0, 0] == pytest.approx(3.0)
    assert 1.9 < run.v[:, 0].max() < 2.0
    assert (np.diff(run.v[:, 0]) >= 0.0).all()
    braking = lambda t, q, v: np.array([-1.0]) + 0.0 * q  # noqa: E731
    assert speed_limited(robot, braking)(0.0, np.zeros(1), np.array([5.0]))[0] == -1.0  # against the motion it stays
    near = speed_limited(robot, push, margin=0.2)  # full to 1.6 m/s, none from 2 m/s on
    assert [near(0.0, np.zeros(1), np.array([speed]))[0] for speed in (-3.0, 1.6, 1.8, 2.0)] == pytest.approx([10, 10, 5, 0])
    stops = total(push, joint_stops(robot, stiffness=1e4, damping=200.0, width=1e-4))
    run = both_ways(robot, [0.4], [0.0], stops, duration=1.0, limits=False)
    assert run.q[-1, 0] == pytest.approx(0.5 + 10.0 / 1e4, abs=1e-5)
    run = both_ways(robot, [0.0], [-1.0], joint_stops(robot, stiffness=1e4), duration=0.3, limits=False)
    assert run.q[:, 0].min() == pytest.approx(-0.1 - 1.0 / np.sqrt(1e4), abs=1e-4)
    assert run.v[-1, 0] == pytest.approx(1.0, abs=1e-3)  # what entering and leaving the stop within a step costs


def test_what_has_no_drive_is_not_driven():
    free = km.load("free_rod")
    law = undriven(free, ["free"] if "free" in free.joints else list(free.joints)[:1], lambda t, q, v: v + 1.0)
    np.testing.assert_array_equal(law(0.0, free.start[0], free.start[1])[:6], np.zeros(6))
    with pytest.raises(InputError, match="wing"):
        undriven(free, ["wing"], lambda t, q, v: v)


# --- sampling, delay, noise -------------------------------------------------------------------------------------------------
@pytest.mark.row("T-f4")
def test_a_slower_controller_is_a_sampled_run(chain):
    """Drives at 1 kHz, control at 200 Hz: the same as simulating with the slower sample time alone."""
    law = total(pd(chain, np.zeros(3), kp=30.0, kd=3.0), gravity_compensation(chain))
    options = {"duration": 0.3, "step": 1e-3, "integrator": "rk4"}
    slow = km.simulate(chain, START, np.zeros(3), controller=Sampled(law, 5e-3), sample_time=1e-3, **options)
    plain = km.simulate(chain, START, np.zeros(3), controller=law, sample_time=5e-3, **options)
    np.testing.assert_array_equal(slow.q, plain.q)
    stages = km.simulate(chain, START, np.zeros(3), controller=Sampled(law, 5e-3), sample_time=0, **options)
    assert stages.settings["forcing"] == "called"
    assert np.abs(np.diff(stages.tau, axis=0)).max(axis=1).astype(bool).sum() == 300 // 5
    np.testing.assert_allclose(stages.q, plain.q, atol=1e-3)


@pytest.mark.row("T-f4")
@pytest.mark.parametrize("where", ["sensing", "acting"])
def test_delays_shift_what_is_seen_and_done(chain, where):
    def law(t, q, v):
        return 30.0 * (0.1 - q) - 3.0 * v

    options = {"duration": 0.2, "step": 1e-3, "integrator": "rk4", "sample_time": 1e-3}
    run = km.simulate(chain, START, np.zeros(3), controller=Delayed(law, **{where: 4e-3}), **options)
    late = [law(0.0, run.q[max(k - 4, 0)], run.v[max(k - 4, 0)]) for k in range(len(run) - 1)]
    np.testing.assert_allclose(run.tau[:-1], late, atol=1e-9)
    every = {"duration": 0.2, "step": 1e-3, "sample_time": 0}  # at every stage of the integrator
    stages = km.simulate(chain, START, np.zeros(3), controller=Delayed(law, **{where: 4e-3}), **every)
    assert stages.settings["forcing"] == "called"
    np.testing.assert_allclose(
        stages.tau[5:], [law(0.0, q, v) for q, v in zip(stages.q[1:-4], stages.v[1:-4], strict=True)], atol=1e-2
    )
    plain = km.simulate(chain, START, np.zeros(3), controller=law, duration=0.2, step=1e-3)
    none = km.simulate(chain, START, np.zeros(3), controller=Delayed(law), **every)
    np.testing.assert_allclose(none.q, plain.q, atol=1e-12)


@pytest.mark.row("T-f4")
def test_noise_is_repeatable_and_of_its_size(chain):
    seen = []

    def watch(t, q, v):
        seen.append((q.copy(), v.copy()))
        return np.zeros(3)

    noisy = Noisy(watch, q=0.01, v=[0.1, 0.2, 0.0], period=1e-3, seed=4)
    q, v = np.zeros(3), np.ones(3)
    for k in range(4000):
        noisy(1e-3 * k + 3e-4, q, v)
    drawn = np.array([np.concatenate(item) for item in seen])
    np.testing.assert_allclose(drawn.std(axis=0), [0.01, 0.01, 0.01, 0.1, 0.2, 0.0], rtol=0.05, atol=1e-12)
    np.testing.assert_allclose(drawn.mean(axis=0), [0, 0, 0, 1, 1, 1], atol=0.01)
    again = Noisy(lambda t, q, v: np.concatenate([q, v]), q=0.01, v=[0.1, 0.2, 0.0], period=1e-3, seed=4)
    np.testing.assert_array_equal(again(7e-4 + 5e-3, q, v), drawn[5])
    law = pd(chain, np.zeros(3), kp=30.0, kd=3.0)
    runs = [
        km.simulate(chain, START, np.zeros(3), duration=0.05, controller=Noisy(law, q=1e-3, period=1e-3, seed=s))
        for s in (1, 1, 2)
    ]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    assert np.abs(runs[0].q - runs[2].q).max() > 0.0


def test_wrong_references_and_periods_are_refused(chain):
    with pytest.raises(InputError, match="3 components"):
        pd(chain, [0.0, 0.0], kp=1.0, kd=1.0)
    with pytest.raises(InputError, match="3 components"):
        computed_torque(chain, Spline([0.0, 1.0], [[0.0], [1.0]]), kp=1.0, kd=1.0)
    for build in (lambda: Sampled(None, 0.0), lambda: Delayed(None, sensing=-1.0), lambda: Noisy(None, period=-1.0, seed=0)):
        with pytest.raises(InputError):
            build()
