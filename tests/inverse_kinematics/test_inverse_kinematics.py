"""Inverse kinematics: postures where goals want them, against closed forms and forward kinematics."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError
from kumitate.inverse_kinematics import CenterOfMassGoal, LookAtGoal, OrientationGoal, PoseGoal, PositionGoal, PostureGoal
from kumitate.inverse_kinematics import search as searches
from kumitate.inverse_kinematics.search import limits_of


def two_links(away: float = 0.0, **limits) -> km.Robot:
    """Two links of 1 m in the plane x, y, with the frame "tip" at the end; the shoulder lies at x = `away`."""
    limit = {"limits": (km.Limits(**limits),)} if limits else {}
    bodies = tuple(km.Body(name, 1.0, (0.5, 0.0, 0.0), (0.1, 0.1, 0.1)) for name in ("upper", "lower"))
    joints = (
        km.Joint("shoulder", "revolute", "world", "upper", km.spatial.pose((away, 0.0, 0.0))),
        km.Joint("elbow", "revolute", "upper", "lower", km.spatial.pose((1.0, 0.0, 0.0)), **limit),
    )
    frames = (km.Frame("tip", "lower", km.spatial.pose((1.0, 0.0, 0.0))),)
    return km.Robot(km.Mechanism("two_links", bodies, joints, frames=frames))


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["elbow up", "elbow down"])
def test_the_law_of_cosines(sign):
    """|tip|² = 2 + 2 cos(elbow); limits decide which of the two solutions is found."""
    robot = two_links(lower=min(0.0, sign * math.pi), upper=max(0.0, sign * math.pi))
    found = robot.inverse_kinematics(PositionGoal("tip", (0.8, 0.9, 0.0)), [0.1, sign * 0.5])
    assert found.solved
    assert found.q[1] == pytest.approx(sign * math.acos((0.8**2 + 0.9**2 - 2.0) / 2.0), abs=1e-7)
    np.testing.assert_allclose(robot.pose(found.q, "tip")[:3, 3], (0.8, 0.9, 0.0), atol=1e-8)


@pytest.mark.parametrize("away", [1e3, 1e5])
def test_an_arm_far_from_the_origin(away):
    """A point that single precision knows to a tenth of a millimetre or a centimetre is reached to 1e-8 m."""
    robot = two_links(away)
    angles = np.random.default_rng(8).uniform(-3.0, 3.0, (40, 2))
    found = robot.inverse_kinematics(PositionGoal("tip", robot.pose(angles, "tip")[:, :3, 3]), [0.1, 0.5])
    assert found.solved.all()
    np.testing.assert_allclose(robot.pose(found.q, "tip")[:, :3, 3], robot.pose(angles, "tip")[:, :3, 3], atol=2e-8)


def test_a_search_from_beyond_the_limits_ends_within_them():
    """Also where the posture that it starts from reaches the goal."""
    robot = two_links(lower=0.0, upper=3.0)
    tip = robot.pose([0.2, -0.7], "tip")[:3, 3]
    found = robot.inverse_kinematics(PositionGoal("tip", tip), [0.2, -0.7])
    assert found.solved
    assert found.q[1] == pytest.approx(0.7, abs=1e-7)


def test_a_point_out_of_reach():
    """The arm is stretched towards it, 1 m short."""
    robot = two_links()
    found = robot.inverse_kinematics(
        PositionGoal("tip", (3.0 * math.cos(0.4), 3.0 * math.sin(0.4), 0.0)), [0.3, 0.2], restarts=2
    )
    assert not found.solved
    tip = robot.pose(found.q, "tip")[:3, 3]
    np.testing.assert_allclose(tip, (2.0 * math.cos(0.4), 2.0 * math.sin(0.4), 0.0), atol=1e-2)


def test_many_poses_of_an_arm_within_its_limits():
    """From random postures to poses that random postures have: seed 5."""
    robot, rng = km.load("pa10"), np.random.default_rng(5)
    low, high = limits_of(robot.mechanism)
    bounds = [low.get(i, -3.0) for i in range(7)], [high.get(i, 3.0) for i in range(7)]
    there, q0 = rng.uniform(*bounds, (2, 200, 7))
    place = robot.mechanism.bodies[-1].name
    X = robot.pose(there, place)
    found = robot.inverse_kinematics(PoseGoal(place, X), q0)
    assert found.solved.mean() >= 0.99
    np.testing.assert_allclose(robot.pose(found.q, place)[found.solved], X[found.solved], atol=3e-8)
    for i in range(7):
        assert found.q[:, i].min() >= low.get(i, -np.inf)
        assert found.q[:, i].max() <= high.get(i, np.inf)
    alone = robot.inverse_kinematics(PoseGoal(place, X[3]), q0[3])
    assert alone.solved
    assert alone.q.shape == (7,)


def test_orientation_and_position_are_the_pose():
    robot = km.load("pa10")
    place, X = robot.mechanism.bodies[-1].name, robot.pose(0.3 * np.arange(1, 8) - 1.0, robot.mechanism.bodies[-1].name)
    found = robot.inverse_kinematics([OrientationGoal(place, X[:3, :3]), PositionGoal(place, X[:3, 3])], np.full(7, 0.2))
    assert found.solved
    np.testing.assert_allclose(robot.pose(found.q, place), X, atol=3e-8)


def test_a_posture_of_low_priority_takes_the_freedom_that_is_left():
    """Three links and a point in the plane leave one degree of freedom: no shorter way to the preferred posture is left."""
    robot, rest = km.load("planar_3r"), np.array([0.9, -0.4, 0.3])
    place = robot.mechanism.bodies[-1].name
    point = robot.pose(np.array([0.4, 0.5, -0.9]), place)[:3, 3]
    found = robot.inverse_kinematics([[PositionGoal(place, point)], [PostureGoal(rest)]], rest)
    assert found.solved
    J = robot.jacobian(found.q, place)[3:]
    null = np.linalg.svd(J)[2][-1]
    assert abs(null @ (found.q - rest)) < 1e-6
    assert np.abs(robot.pose(found.q, place)[:3, 3] - point).max() < 1e-8


@pytest.mark.parametrize("weight", [1e-4, 1.0])
def test_a_posture_in_one_list_with_other_goals_is_a_wish(weight):
    """It decides nothing about what is solved, and no search begins again for it; the posture is nearer to it than without."""
    robot, rng, rest = km.load("pa10"), np.random.default_rng(2), np.array([0.2, 0.6, 0.0, 1.0, 0.0, 0.3, 0.0])
    place = robot.mechanism.bodies[-1].name
    goal = PositionGoal(place, robot.pose(rest + rng.uniform(-0.6, 0.6, (40, 7)), place)[:, :3, 3])
    q0 = rest + rng.uniform(-0.5, 0.5, (40, 7))
    alone, found = (
        robot.inverse_kinematics(goals, q0, restarts=0) for goals in (goal, [goal, PostureGoal(rest, weight=weight)])
    )
    assert found.solved.all()
    np.testing.assert_allclose(robot.pose(found.q, place)[:, :3, 3], goal.point, atol=2e-8)
    assert found.steps.max() <= 12
    away, without = (np.linalg.norm(one.q - rest, axis=1).mean() for one in (found, alone))
    best = robot.inverse_kinematics([[goal], [PostureGoal(rest)]], q0, restarts=0)
    assert away < 0.9 * without
    assert away < 1.05 * np.linalg.norm(best.q - rest, axis=1).mean()
    again = robot.inverse_kinematics([PostureGoal(rest, weight=weight), goal], q0)  # in any order
    np.testing.assert_array_equal(again.q, found.q)
    assert robot.inverse_kinematics([PostureGoal(rest), PostureGoal(rest + 0.1)], q0[0], restarts=0).error > 0.04


def test_looking_and_the_center_of_mass_of_a_humanoid():
    """The foot stays, the center of mass is above a point, the head looks at another; floating base, 26 degrees of freedom."""
    robot = km.load("hoap1")
    q0, names = robot.start[0], [body.name for body in robot.mechanism.bodies]
    foot, head = (next(name for name in names if part in name) for part in ("foot", "head"))
    center, X = robot.center_of_mass(q0), robot.pose(q0, foot)
    wanted, seen = center + np.array([0.01, 0.005, -0.01]), np.array([1.0, 0.3, 0.4])
    found = robot.inverse_kinematics([PoseGoal(foot, X), CenterOfMassGoal(wanted), LookAtGoal(head, seen)], restarts=0)
    assert found.solved
    np.testing.assert_allclose(robot.center_of_mass(found.q), wanted, atol=1e-7)
    np.testing.assert_allclose(robot.pose(found.q, foot), X, atol=1e-7)
    pose = robot.pose(found.q, head)
    towards = seen - pose[:3, 3]
    np.testing.assert_allclose(pose[:3, 0], towards / np.linalg.norm(towards), atol=1e-7)


def test_loops_stay_closed():
    robot = km.load("four_bar")
    q0, place = robot.start[0], robot.mechanism.bodies[0].name
    moved = robot.assemble(q0 + np.array([0.3, 0.0, 0.0]))
    turned = robot.pose(moved, place)[:3, :3]
    assert np.abs(turned - robot.pose(q0, place)[:3, :3]).max() > 0.05
    found = robot.inverse_kinematics(OrientationGoal(place, turned))
    assert found.solved
    assert max(gap.distance for gap in robot.constraint_residual(found.q)) < 1e-12
    np.testing.assert_allclose(robot.pose(found.q, place)[:3, :3], turned, atol=3e-8)


def test_wrong_tasks_are_refused():
    robot = two_links()
    for goals, told in (
        (PositionGoal("tipp", (0, 0, 0)), "did you mean 'tip'"),
        (PositionGoal("tip", (0, 0)), "shape"),
        (OrientationGoal("tip", 2.0 * np.eye(3)), "not turned by a rotation"),
        (OrientationGoal("tip", [np.eye(3), np.diag([1.0, 1.0, -1.0])]), "R mirrors"),
        (LookAtGoal("tip", (1, 0, 0), axis=(0, 0, 0)), "not all zero"),
        ([], "no goals"),
        ("tip", "not a goal"),
    ):
        with pytest.raises(InputError, match=told):
            robot.inverse_kinematics(goals)


class FurtherGoal(PositionGoal):
    """A goal of somebody else, who may change it and leave its key."""


@pytest.mark.parametrize(("goal", "traced"), [(PositionGoal, 0), (FurtherGoal, 1)])
def test_searches_for_goals_that_are_known_are_traced_once_for_all_processes(tmp_path, monkeypatch, goal, traced):
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path))
    monkeypatch.setenv("KUMITATE_VERIFY", "0")
    arm, program, calls = km.load("planar_3r"), searches.search_program, []
    monkeypatch.setattr(searches, "search_program", lambda *given, **more: calls.append(given) or program(*given, **more))
    found = []
    for _ in range(2):
        searches._search.cache_clear()  # as in another process
        found.append(arm.inverse_kinematics(goal("link3", [0.3, 0.4, 0.0]), [0.1, 0.2, 0.3]).q)
    assert len(calls) == 1 + traced
    np.testing.assert_array_equal(*found)
