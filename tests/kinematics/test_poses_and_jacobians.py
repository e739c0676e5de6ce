"""Where things are and how fast, by the tree's pages against the joints as written, finite differences, and each other."""

import numpy as np
import pytest

from kumitate import Robot
from kumitate.kinematics import (
    center_of_mass,
    integrate,
    jacobian,
    jacobian_rate,
    link_poses,
    link_twists,
    place_pose,
    place_twist,
    support_function,
    total_mass,
    world_velocity,
)

from ..mechanisms import agree, body_poses, near, places, random_case, seeds, slope


def names(case) -> list[str]:
    return ["world", *(body.name for body in case.mechanism.bodies), *(frame.name for frame in case.mechanism.frames)]


def moved(case, t: float) -> list[float]:
    return integrate(case.mechanism.tree, case.q, [rate * t for rate in case.v])


def spatial_velocity(case, name: str) -> list[float]:
    """[ω; v] of a place in the axes of the world, from the rate of its pose."""
    (X,) = places(case.mechanism, case.q, [name])
    rate = slope(lambda t: places(case.mechanism, moved(case, t), [name])[0])
    W = rate[:3, :3] @ X[:3, :3].T
    return [W[2, 1], W[0, 2], W[1, 0], *rate[:3, 3]]


@pytest.mark.parametrize(**seeds(30))
def test_poses_are_those_of_the_joints_as_written(seed):
    case = random_case(seed)
    expected = body_poses(case.mechanism, case.q)
    for frame in case.mechanism.frames:
        expected[frame.name] = expected[frame.body] @ np.array(frame.pose.matrix())
    for name, X in zip(names(case), places(case.mechanism, case.q, names(case)), strict=True):
        agree(X, expected[name], case.n, scale=10.0)


@pytest.mark.parametrize(**seeds(12))
def test_velocities_are_the_rates_of_poses(seed):
    case = random_case(seed)
    tree = case.mechanism.tree
    for name in names(case)[-3:]:
        near(world_velocity(tree, case.q, case.v, tree.places[name]), spatial_velocity(case, name))


@pytest.mark.parametrize(**seeds(20))
def test_the_jacobian_times_the_velocities_is_the_velocity(seed):
    case = random_case(seed)
    tree = case.mechanism.tree
    poses, twists = link_poses(tree, case.q), link_twists(tree, case.q, case.v)
    for name in names(case):
        place = tree.places[name]
        J = np.array(jacobian(tree, case.q, place), dtype=float)
        assert J.shape == (6, tree.nv)
        velocity = world_velocity(tree, case.q, case.v, place)
        agree(J @ case.v, velocity, case.n, scale=10.0)
        twist, R = place_twist(tree, twists, place), place_pose(tree, poses, place).rotation
        agree([*R.rotate(twist.angular), *R.rotate(twist.linear)], velocity, case.n)


@pytest.mark.parametrize(**seeds(12))
def test_the_rate_of_the_jacobian(seed):
    case = random_case(seed)
    tree = case.mechanism.tree
    for name in names(case)[-2:]:
        place = tree.places[name]
        rate = slope(lambda t, place=place: jacobian(tree, moved(case, t), place))
        near(jacobian_rate(tree, case.q, case.v, place), rate)


def test_the_world_does_not_move():
    case = random_case(3)
    tree = case.mechanism.tree
    assert not np.any(jacobian(tree, case.q, tree.places["world"]))
    assert not np.any(jacobian_rate(tree, case.q, case.v, tree.places["world"]))
    agree(places(case.mechanism, case.q, ["world"])[0], np.eye(4), 1)


@pytest.mark.parametrize(**seeds(20))
def test_the_mass_center_is_the_mean_of_the_bodies(seed):
    case = random_case(seed)
    poses = body_poses(case.mechanism, case.q)
    moving = {case.mechanism.joints[i].child for i in range(len(case.mechanism.joints))} - fixed_to_world(case)
    bodies = [body for body in case.mechanism.bodies if body.name in moving]
    mass = sum(body.mass for body in bodies)
    mean = sum(body.mass * (poses[body.name] @ [*body.center_of_mass, 1.0])[:3] for body in bodies) / mass
    agree(total_mass(case.mechanism.tree), mass, case.n)
    agree(center_of_mass(case.mechanism.tree, case.q), mean, case.n, scale=10.0)


def fixed_to_world(case) -> set[str]:
    held = {"world"}
    for joint in case.mechanism.joints:
        if joint.parent in held and joint.kind.nv == 0:
            held.add(joint.child)
    return held


@pytest.mark.parametrize("compiled", [False, True])
def test_a_body_reaches_as_far_as_its_farthest_point(compiled):
    """max d·p over points fixed on a body or frame, from the poses of the joints as written."""
    case, rng = random_case(4), np.random.default_rng(4)
    tree, robot = case.mechanism.tree, Robot(case.mechanism)
    for name in names(case) if not compiled else names(case)[-1:]:
        points = rng.normal(size=(int(rng.integers(1, 9)), 3))
        (X,) = places(case.mechanism, case.q, [name])
        for direction in rng.normal(size=(3, 3)):
            expected = (points @ X[:3, :3].T + X[:3, 3]) @ direction
            by_page = support_function(tree, case.q, tree.places[name], points.tolist(), direction.tolist())
            found = robot.reach(case.q, name, points, direction) if compiled else by_page
            agree(found, expected.max(), case.n, scale=20.0)
