"""Plans of walking: the linear inverted pendulum, the steps, postures of the whole body."""

import numpy as np
import pytest

from kumitate.analysis import ground_wrench, zero_moment_point
from kumitate.compile import Kernel
from kumitate.control import Spline
from kumitate.dynamics import Wrenches, rnea
from kumitate.errors import InputError
from kumitate.kinematics import center_of_mass, link_poses, place_pose
from kumitate.model.samples import HOAP1_STANDING, hoap1
from kumitate.papers.legged import Gait, Upright, mass_center_plan
from kumitate.scalar import trace

LEFT, RIGHT = np.array([0.0, 0.039, 0.0355]), np.array([0.0, -0.039, 0.0355])


# --- the pendulum -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("height", [0.25, 0.8])
def test_a_step_of_the_zero_moment_point_is_answered_by_exponentials(height):
    # p jumps (within 1 µs) by 0.1 m at t = 3 s; the bounded x is half an exponential before it and after it
    omega = np.sqrt(9.81 / height)
    t = np.sort(np.concatenate([np.linspace(0.0, 6.0, 601), [3.0 - 5e-7, 3.0 + 5e-7]]))
    plan = mass_center_plan(t, np.where(t > 3.0, 0.1, 0.0), height)
    expected = np.where(t < 3.0, 0.05 * np.exp(omega * (t - 3.0)), 0.1 - 0.05 * np.exp(-omega * (t - 3.0)))
    np.testing.assert_allclose(plan.position, expected, atol=1e-6)
    np.testing.assert_allclose(plan.velocity, 0.05 * omega * np.exp(-omega * np.abs(t - 3.0)), atol=1e-6)


@pytest.mark.parametrize("seed", [0, 1])
def test_velocity_and_acceleration_are_the_rates_and_the_pendulum_is_obeyed(seed):
    rng = np.random.default_rng(seed)
    knots = np.cumsum(rng.uniform(0.2, 0.6, 8))
    t = np.linspace(knots[0], knots[-1], 20001)
    p = np.column_stack([np.interp(t, knots, rng.normal(size=8)) for _ in "xy"])
    plan = mass_center_plan(t, p, 0.3, 9.81)
    inner = slice(5, -5)
    h = t[1] - t[0]
    np.testing.assert_allclose(np.gradient(plan.position, h, axis=0)[inner], plan.velocity[inner], atol=1e-5)
    np.testing.assert_allclose(np.gradient(plan.velocity, h, axis=0)[inner], plan.acceleration[inner], atol=2e-2)
    np.testing.assert_allclose(plan.acceleration, 9.81 / 0.3 * (plan.position - p), atol=1e-10)
    assert np.abs(plan.position - p).max() < np.ptp(p)  # it stays with p


def test_bad_pendulums_are_refused():
    with pytest.raises(InputError, match="increasing times"):
        mass_center_plan([0.0, 0.0], [0.0, 1.0], 0.3)
    with pytest.raises(InputError, match="must be positive"):
        mass_center_plan([0.0, 1.0], [0.0, 1.0], 0.0)


# --- the steps --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("steps", [2, 5, 12])
def test_feet_swing_in_turn_and_end_side_by_side(steps):
    gait = Gait(steps=steps, stride=0.03, lift=0.015)
    plan = gait.plan(LEFT, RIGHT, (0.01, 0.002))
    t = np.linspace(0.0, gait.duration, 4001)
    left, right = plan.left(t), plan.right(t)
    up = np.column_stack([left[:, 2], right[:, 2]]) - LEFT[2]
    assert up.min() > -1e-12
    assert up.max() == pytest.approx(gait.lift, rel=1e-3)
    assert not (up > 1e-9).all(axis=1).any()  # never both
    lifts = np.diff((up > 5e-3).astype(int), axis=0) == 1
    assert lifts.sum(axis=0).tolist() == [(steps + 1) // 2, steps // 2]
    np.testing.assert_allclose(left[-1] - right[-1], LEFT - RIGHT, atol=1e-12)
    assert left[-1, 0] == pytest.approx(gait.stride * (steps - 1))
    # a foot in the air carries nothing, and the zero-moment point is under the other one
    loads, zmp = plan.loads_at(t), plan.zmp_at(t)
    np.testing.assert_allclose(loads.sum(axis=1), 1.0, atol=1e-12)
    for swing, stance, inward in ((0, right, 0.002), (1, left, -0.002)):
        flying = up[:, swing] > 1e-9
        np.testing.assert_allclose(loads[flying, swing], 0.0, atol=1e-9)
        np.testing.assert_allclose(zmp[flying], stance[flying, :2] + [0.01, inward], atol=1e-9)


def test_a_gait_without_steps_is_refused():
    with pytest.raises(InputError, match="2 steps or more"):
        Gait(steps=1)


@pytest.mark.parametrize("pieces", [25, 40, 101])
def test_long_splines_are_traced_as_they_are_called(pieces):
    rng = np.random.default_rng(pieces)
    t = np.cumsum(rng.uniform(0.01, 0.1, pieces + 1))
    spline = Spline(t, rng.normal(size=(pieces + 1, 3)), velocities=rng.normal(size=(pieces + 1, 3)))
    some = np.concatenate([rng.uniform(t[0] - 0.3, t[-1] + 0.3, 100), t])
    kernel = Kernel(trace(lambda t: list(spline(t)), {"t": ()}, f"long_spline_{pieces}"))
    called = np.array([spline(float(x)) for x in some])
    np.testing.assert_allclose(kernel(some), called, atol=1e-12)  # several states at a time
    np.testing.assert_allclose([kernel(x) for x in some], called, atol=1e-12)


# --- the whole body ---------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def body():
    return Upright(hoap1(), "trunk", ("left_foot", "right_foot"))


def swaying(n=101):
    t = np.linspace(0.0, 1.0, n)
    start = np.tile(np.array(HOAP1_STANDING), (n, 1))
    for k, name in enumerate(hoap1().q_names):
        start[:, k] += {"hip_pitch": -0.4, "knee": 0.8, "ankle_pitch": -0.4, "elbow": -0.3}.get(name.partition("_")[2], 0.0)
    start[:, hoap1().q_names.index("left_shoulder_pitch")] = 0.2 * np.sin(5.0 * t)
    still = np.zeros(n)
    center = np.column_stack([0.01 + 0.01 * np.sin(3.0 * t), 0.02 * np.sin(4.0 * t), 0.25 + still])
    rate = np.column_stack([0.03 * np.cos(3.0 * t), 0.08 * np.cos(4.0 * t), still])
    left = (LEFT + np.zeros((n, 3)), np.zeros((n, 3)))
    right = (np.column_stack([still, still - 0.039, 0.0355 + 0.02 * t**2]), np.column_stack([still, still, 0.04 * t]))
    return t, start, (center, rate), left, right


def test_postures_are_as_they_were_asked_for(body):
    t, start, center, left, right = swaying()
    motion = body.motion(t, start, center, left, right)
    tree = body.mechanism.tree
    for k in range(0, len(t), 20):
        q = motion.q[k].tolist()
        np.testing.assert_allclose(center_of_mass(tree, q), center[0][k], atol=1e-10)
        poses = link_poses(tree, q)
        for name, place in (("left_foot", left[0][k]), ("right_foot", right[0][k])):
            X = np.array(place_pose(tree, poses, tree.places[name]).matrix(), dtype=float)
            np.testing.assert_allclose(X[:3, 3], place, atol=1e-10)
            np.testing.assert_allclose(X[:3, :3], np.eye(3), atol=1e-10)
    np.testing.assert_allclose(motion.q[:, :4], np.tile([0.0, 0.0, 0.0, 1.0], (len(t), 1)), atol=1e-10)
    joints = np.gradient(motion.q[:, 7:], t, axis=0)
    np.testing.assert_allclose(joints[2:-2], motion.v[2:-2, 6:], atol=2e-3)


def test_efforts_and_the_feets_forces_make_the_motion(body):
    t, start, center, left, right = swaying()
    motion = body.motion(t, start, center, left, right)
    ground = body.ground(motion)
    load = np.linspace(0.2, 0.9, len(t))
    tau = body.efforts(motion, np.column_stack([load, 1.0 - load]))
    m = body.mechanism
    assert not tau[:, :6].any()
    for k in (10, 60):
        # the same by inverse dynamics with the feet's wrenches as external forces: nothing is left for the floating trunk
        wrenches = {}
        places = [left[0][k], right[0][k]]
        moment = ground[k, :3] - sum(
            np.cross(p, share * ground[k, 3:]) for p, share in zip(places, (load[k], 1.0 - load[k]), strict=True)
        )
        for name, share in (("left_foot", load[k]), ("right_foot", 1.0 - load[k])):
            wrenches[name] = [*(share * moment), *(share * ground[k, 3:])]
        arguments = (m.tree, *(part[k].tolist() for part in motion))
        found = rnea(*arguments, gravity=m.gravity, wrenches=Wrenches(m.tree, wrenches))
        np.testing.assert_allclose(found, tau[k], atol=1e-9)
        np.testing.assert_allclose(ground_wrench(*arguments, gravity=m.gravity), ground[k], atol=1e-9)
    # the ground's wrench lets the center of mass accelerate as planned, and has its zero-moment point near it
    assert np.abs(ground[:, 5] - 6.0 * 9.81).max() < 0.5
    assert np.abs(np.array(zero_moment_point(ground.T)[:2]).T - center[0][:, :2]).max() < 0.03


def test_what_is_out_of_reach_is_refused(body):
    t, start, center, left, right = swaying(3)
    with pytest.raises(InputError, match="out of reach"):
        body.motion(t, start, (center[0] + [0.0, 0.0, 0.1], center[1]), left, right)
    with pytest.raises(InputError, match="degrees of freedom, not 18"):
        Upright(hoap1(), "trunk", ("left_foot", "right_forearm"))
