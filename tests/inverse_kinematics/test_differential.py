"""Inverse kinematics in time: least squares within bounds by a second solver, limits that hold, motions that arrive."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize

import kumitate as km
from kumitate.errors import InputError
from kumitate.inverse_kinematics import CenterOfMassGoal, PoseGoal, PositionGoal, PostureGoal
from kumitate.inverse_kinematics.differential import (
    AccelerationLimit,
    CollisionLimit,
    DifferentialIK,
    JointLimit,
    SupportLimit,
    VelocityLimit,
)

LOWER, UPPER = np.linspace(-1.4, -0.8, 7), np.linspace(1.5, 0.6, 7)


def limited():
    """An arm whose joints have ends."""
    arm = km.load("pa10").mechanism
    ends = iter(zip(LOWER, UPPER, strict=True))
    joints = [replace(joint, limits=(km.Limits(*next(ends)),)) if joint.kind.nv else joint for joint in arm.joints]
    return km.Robot(replace(arm, joints=tuple(joints)))


ARM = limited()
HAND = ARM.mechanism.bodies[-1].name


@pytest.mark.parametrize("seed", range(6))
def test_a_step_is_the_least_squares_within_its_bounds(seed):
    """By SciPy's solver, on errors and Jacobians of the robot's own functions."""
    rng = np.random.default_rng(seed)
    q, dt, fast = rng.uniform(-1.0, 1.0, 7), 0.2, tuple(rng.uniform(0.2, 3.0, 7))
    X, rest = ARM.pose(rng.uniform(-1.0, 1.0, 7), HAND), rng.uniform(-1.0, 1.0, 7)
    goals = [PositionGoal(HAND, X[:3, 3], weight=2.0), CenterOfMassGoal((0.1, 0.2, 0.5)), PostureGoal(rest, weight=0.01)]
    moved = DifferentialIK(ARM, goals, limits=[VelocityLimit(fast)], gain=0.7, damping=1e-4).step(q, dt)
    J = np.vstack([ARM.jacobian(q, HAND)[3:] * 2.0**0.5, _center_slopes(q), 0.1 * np.eye(7), 1e-2 * np.eye(7)])
    errors = [2.0**0.5 * (X[:3, 3] - ARM.pose(q, HAND)[:3, 3]), np.array([0.1, 0.2, 0.5]) - ARM.center_of_mass(q)]
    b = 0.7 * np.concatenate([*errors, 0.1 * (rest - q), np.zeros(7)])
    bound = np.array(fast) * dt
    expected = lsq_linear(J, b, (-bound, bound), tol=1e-14).x
    np.testing.assert_allclose(moved.v * dt, expected, rtol=0.0, atol=1e-7)
    np.testing.assert_allclose(moved.q, q + expected, rtol=0.0, atol=1e-7)
    assert moved.error == pytest.approx(max(np.abs(errors[0]).max() / 2.0**0.5, np.abs(errors[1]).max()))
    assert 0 < (np.abs(moved.v) > 0.999 * np.array(fast)).sum() < 7


def _center_slopes(q, h=1e-6):
    return np.array([(ARM.center_of_mass(q + h * way) - ARM.center_of_mass(q - h * way)) / (2.0 * h) for way in np.eye(7)]).T


def test_all_limits_hold_in_every_step():
    """Also where the target jumps while it moves towards a joint's end, at which it must have braked."""
    rng, dt = np.random.default_rng(2), 0.02
    moving = DifferentialIK(
        ARM, PostureGoal(np.zeros(7)), limits=[JointLimit(), VelocityLimit(2.0), AccelerationLimit(8.0)]
    )  # fmt: skip
    q, v, nearest = np.zeros(7), np.zeros(7), np.inf
    for k in range(400):
        far = PostureGoal(np.where(rng.random(7) < 0.5, LOWER - 1.0, UPPER + 1.0)) if k % 80 == 0 else None
        moved = moving.step(q, dt, far)
        assert (moved.q >= LOWER - 1e-12).all()
        assert (moved.q <= UPPER + 1e-12).all()
        assert np.abs(moved.v).max() <= 2.0 + 1e-12
        assert np.abs(moved.v - v).max() <= 8.0 * dt + 1e-10
        nearest = min(nearest, np.min(UPPER - moved.q))
        q, v = moved.q, moved.v
    assert nearest < 1e-3  # it did get there


def test_it_arrives_where_the_search_does():
    target = ARM.pose(np.full(7, 0.5), HAND)
    moving, q = DifferentialIK(ARM, [PoseGoal(HAND, target), PostureGoal(np.zeros(7), weight=1e-6)]), np.full(7, 0.1)
    for _ in range(300):
        q, _, error = moving.step(q, 0.02)
    assert error < 1e-5
    np.testing.assert_allclose(ARM.pose(q, HAND), target, atol=1e-5)
    assert ARM.inverse_kinematics(PoseGoal(HAND, target), q0=q).steps <= 2


def test_rows_are_steps_by_themselves():
    rng = np.random.default_rng(4)
    q, points = rng.uniform(-1.0, 1.0, (5, 7)), rng.uniform(-0.5, 0.5, (5, 3))
    rows = DifferentialIK(ARM, PositionGoal(HAND, points), limits=[VelocityLimit(1.0), AccelerationLimit(30.0)])
    first, second = rows.step(q, 0.01), None
    second = rows.step(first.q, 0.01)
    for k in range(5):
        alone = DifferentialIK(ARM, PositionGoal(HAND, points[k]), limits=[VelocityLimit(1.0), AccelerationLimit(30.0)])
        for whole in (first, second):
            moved = alone.step(q[k] if whole is first else first.q[k], 0.01)
            np.testing.assert_allclose(moved.q, whole.q[k], rtol=0.0, atol=1e-12)
            np.testing.assert_allclose(moved.v, whole.v[k], rtol=0.0, atol=1e-9)


def test_loops_stay_closed():
    bars = km.load("four_bar")
    place = bars.mechanism.bodies[-1].name
    q = bars.start[0]
    moving = DifferentialIK(bars, PositionGoal(place, bars.pose(q, place)[:3, 3] + 0.02), limits=[VelocityLimit(0.5)])
    for _ in range(20):
        q, v, _ = moving.step(q, 0.01)
        assert max(gap.distance for gap in bars.constraint_residual(q)) < 1e-9
    assert np.abs(v).max() <= 0.5 + 1e-9


def test_mistakes_are_named():
    goal = PositionGoal(HAND, (0.1, 0.2, 0.3))
    with pytest.raises(InputError, match="is not a limit; give JointLimit"):
        DifferentialIK(ARM, goal, limits=[2.0])
    with pytest.raises(InputError, match="must be a positive number, or 7 of them"):
        DifferentialIK(ARM, goal, limits=[VelocityLimit((1.0, 2.0))])
    with pytest.raises(InputError, match="must be a positive number"):
        DifferentialIK(ARM, goal, limits=[AccelerationLimit(0.0)])
    with pytest.raises(InputError, match=r"2\.0 is not a goal\. Give goals"):
        DifferentialIK(ARM, [[goal], [2.0]])
    with pytest.raises(InputError, match=r"the corners are not those of a convex polygon. Give at least three"):
        DifferentialIK(ARM, goal, limits=[SupportLimit([(0, 0), (1, 0), (0, 1), (0.2, 0.2)])])
    with pytest.raises(InputError, match="is not the name of a body or of a shape"):
        DifferentialIK(ARM, goal, limits=[CollisionLimit([("hnad", HAND)])])
    with pytest.raises(InputError, match="make another DifferentialIK"):
        DifferentialIK(ARM, goal).step(np.zeros(7), 0.01, PostureGoal(np.zeros(7)))
    with pytest.raises(InputError, match="'hnad'"):
        DifferentialIK(ARM, PositionGoal("hnad", (0, 0, 0)))


def guarded():
    """A planar arm of three rods, upwards, and a ball beside it."""
    ball = km.Body("ball", 1.0, inertia=(0.1,) * 3, collisions=(km.Geometry(km.Sphere(0.15)),))
    arm = km.load("planar_3r").mechanism
    rods = (km.Geometry(km.Capsule(0.04, 0.8), X) for X in (km.pose((0.0, 0.0, 0.5)),) * 3)
    bodies = tuple(replace(body, collisions=(next(rods),)) for body in arm.bodies)
    fixed = km.Joint("held", "fixed", "world", "ball", km.pose((0.9, 0.0, 1.2)))
    return km.Robot(replace(arm, bodies=(*bodies, ball), joints=(*arm.joints, fixed)))


def test_a_step_beside_an_obstacle_is_that_of_a_quadratic_program():
    """By SciPy, on distances that differences of the robot's own give; three pairs, one of which is near."""
    robot, dt = guarded(), 0.1
    q, bodies, h = np.array([0.35, 0.1, -0.2]), [body.name for body in robot.mechanism.bodies[:3]], 1e-6
    hand = PositionGoal(bodies[-1], robot.pose(q, bodies[-1])[:3, 3] + [0.3, 0.0, -0.2])
    limits = [CollisionLimit([(name, "ball") for name in bodies], distance=0.02), VelocityLimit(1.5)]
    moved = DifferentialIK(robot, hand, limits=limits, damping=1e-4).step(q, dt).v * dt

    def gaps(q):
        return np.array([float(robot.distance(q, name, "ball").distance) for name in bodies])

    J, e = robot.jacobian(q, bodies[-1])[3:], hand.point - robot.pose(q, bodies[-1])[:3, 3]
    slopes = np.array([(gaps(q + h * way) - gaps(q - h * way)) / (2.0 * h) for way in np.eye(3)]).T
    wanted = minimize(
        lambda x: 100.0 * (np.sum((J @ x - e) ** 2) + 1e-4 * x @ x), np.zeros(3), method="SLSQP", tol=1e-14,
        bounds=[(-0.15, 0.15)] * 3, constraints={"type": "ineq", "fun": lambda x: gaps(q) - 0.02 + slopes @ x},
    )  # fmt: skip
    free = DifferentialIK(robot, hand, limits=limits[1:], damping=1e-4).step(q, dt).v * dt
    assert (gaps(q) - 0.02 + slopes @ free).min() < -0.02  # it would collide
    np.testing.assert_allclose(moved, wanted.x, atol=2e-5)
    assert (gaps(q) - 0.02 + slopes @ moved).min() > -1e-5


def test_an_arm_goes_to_a_ball_and_no_nearer():
    robot = guarded()
    bodies, q = [body.name for body in robot.mechanism.bodies[:3]], np.array([-0.2, 0.3, 0.3])
    moving = DifferentialIK(
        robot, PositionGoal(bodies[-1], (1.3, 0.0, 1.1)), gain=0.1,
        limits=[CollisionLimit([(name, "ball") for name in bodies], distance=0.03), VelocityLimit(1.0)],
    )  # fmt: skip
    least = np.inf
    for _ in range(200):
        q = moving.step(q, 0.02).q
        least = min(least, *(float(robot.distance(q, name, "ball").distance) for name in bodies))
    assert least == pytest.approx(0.03, abs=1e-3)


def test_the_center_of_mass_stays_over_its_support():
    corners = [(-0.3, -0.2), (0.3, 0.2), (0.3, -0.2), (-0.3, 0.2)]
    robot, q, furthest = km.load("planar_3r"), np.array([0.2, 0.1, -0.2]), []
    moving = DifferentialIK(
        robot,
        PositionGoal("link3", (1.2, 0.0, 1.3)),
        gain=0.2,
        limits=[SupportLimit(corners, margin=0.02), VelocityLimit(1.0)],
    )
    for _ in range(100):
        q = moving.step(q, 0.02).q
        furthest.append(robot.center_of_mass(q)[0])
    assert max(furthest[1:]) < 0.28 + 1e-4  # it begins outside
    assert furthest[-1] == pytest.approx(0.28, abs=1e-4)  # at the edge


def test_goals_of_later_lists_move_only_what_the_first_leave():
    """The first list's step is that without the others; theirs is the least within its null space."""
    rng = np.random.default_rng(1)
    q = rng.uniform(-0.5, 0.5, 7)
    place = ARM.pose(q, HAND)[:3, 3] + 0.05 * rng.normal(size=3)
    first, second = PositionGoal(HAND, place), PostureGoal(q + 0.3 * rng.normal(size=7))
    limits, damping = [VelocityLimit(30.0)], 1e-9
    alone = DifferentialIK(ARM, first, limits=limits, damping=damping).step(q, 0.1)
    both = DifferentialIK(ARM, [[first], [second]], limits=limits, damping=damping).step(q, 0.1)
    J = ARM.jacobian(q, HAND)[3:]
    np.testing.assert_allclose(J @ both.v, J @ alone.v, atol=1e-3)
    e = place - ARM.pose(q, HAND)[:3, 3]
    null = np.eye(7) - np.linalg.pinv(J) @ J
    np.testing.assert_allclose(both.v * 0.1, np.linalg.pinv(J) @ e - null @ (q - second.q + np.linalg.pinv(J) @ e), atol=1e-3)
