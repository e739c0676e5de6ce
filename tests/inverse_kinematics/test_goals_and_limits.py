"""The parts of a step of inverse kinematics over floats: the slopes of goals, and what is held at limits."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.inverse_kinematics import CenterOfMassGoal, LookAtGoal, OrientationGoal, PoseGoal, PositionGoal, PostureGoal
from kumitate.inverse_kinematics.goals import Posture
from kumitate.inverse_kinematics.search import Level, free_at_limits, limits_of
from kumitate.kinematics import integrate

from ..mechanisms import cases, near, slope

GOALS = {
    "position": lambda place, X, q, center: PositionGoal(place, X[:3, 3]),
    "orientation": lambda place, X, q, center: OrientationGoal(place, X[:3, :3]),
    "pose": lambda place, X, q, center: PoseGoal(place, X),
    "look at": lambda place, X, q, center: LookAtGoal(place, X[:3, 3] + X[:3, :3] @ np.array([0.9, 0.0, 0.0])),
    "look elsewhere": lambda place, X, q, center: LookAtGoal(place, X[:3, 3] + np.array([0.3, -0.7, 0.4]), axis=(1, -2, 0.5)),
    "center of mass": lambda place, X, q, center: CenterOfMassGoal(center),
    "posture": lambda place, X, q, center: PostureGoal(q),
}


@pytest.mark.parametrize("goal", GOALS.values(), ids=GOALS)
@pytest.mark.parametrize(**cases(3, every=1))
def test_errors_fall_by_their_slopes(make, goal):
    """At the goal, and for what looks anywhere: δe = −S δξ."""
    case = make()
    mechanism, q = case.mechanism, case.q
    robot, tree, place = km.Robot(mechanism), mechanism.tree, mechanism.bodies[-1].name
    one = goal(place, robot.pose(q, place), np.array(q), robot.center_of_mass(q))
    target = one.target(tree).tolist()
    slopes = np.array(one.slopes(Posture(tree, list(q)), target), dtype=float)
    for k in range(tree.nv):

        def errors(h, k=k):
            moved = integrate(tree, list(q), [h if i == k else 0.0 for i in range(tree.nv)])
            return one.errors(Posture(tree, moved), target)

        near(-slopes[:, k], slope(errors))


@pytest.mark.parametrize("seed", range(20))
def test_what_the_first_priority_pulls_against_its_limit_is_held(seed):
    """By the sign of the gradient Jᵀ W e, at either limit; within limits and without them all is free."""
    rng = np.random.default_rng(seed)
    bodies = tuple(km.Body(f"b{k}", 1.0, inertia=(0.1, 0.1, 0.1)) for k in range(4))
    ranges = [(-0.3, 0.7), (-0.5, None), (None, 0.4), (None, None)]
    joints = tuple(
        km.Joint(f"j{k}", "revolute", f"b{k - 1}" if k else "world", f"b{k}", limits=(km.Limits(lower=low, upper=high),))
        for k, (low, high) in enumerate(ranges)
    )
    mechanism = km.Mechanism("arm", bodies, joints)
    q = [float(rng.choice([x for x in (low, high, 0.1) if x is not None])) for low, high in ranges]
    level = Level(*(rng.normal(size=size).tolist() for size in (3, (3, 4))), rng.uniform(0.1, 2.0, 3).tolist())
    pull = np.array(level.slopes).T @ (np.array(level.weights) * level.errors)
    beyond = [
        (low is not None and x <= low and rate < 0.0) or (high is not None and x >= high and rate > 0.0)
        for x, rate, (low, high) in zip(q, pull, ranges, strict=True)
    ]
    assert free_at_limits(mechanism.tree, q, level, *limits_of(mechanism)) == [0.0 if held else 1.0 for held in beyond]
