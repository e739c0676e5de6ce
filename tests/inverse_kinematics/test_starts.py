"""Where searches begin again: what postures reach, their order, and that one target and many are searched alike."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.inverse_kinematics import CenterOfMassGoal, LookAtGoal, OrientationGoal, PoseGoal, PositionGoal
from kumitate.inverse_kinematics.goals import Posture
from kumitate.inverse_kinematics.search import DRAWN, compared, limits_of, random_postures

ARM = km.load("pa10")
TREE, HAND = ARM.mechanism.tree, ARM.mechanism.bodies[-1].name
GOALS = {
    "pose": PoseGoal(HAND, np.eye(4)),
    "position": PositionGoal(HAND, (0, 0, 0)),
    "orientation": OrientationGoal(HAND, np.eye(3)),
    "center of mass": CenterOfMassGoal((0, 0, 0)),
}


@pytest.mark.parametrize("goal", GOALS.values(), ids=GOALS)
def test_the_target_that_a_posture_reaches_has_no_error_there(goal):
    """Seed 2; half a radian away it has."""
    q = np.random.default_rng(2).uniform(-1.0, 1.0, 7)
    posture = Posture(TREE, q.tolist())
    reached = goal.reached(posture)
    assert len(reached) == len(goal.scales(TREE)) == goal.size(TREE)
    assert np.abs(goal.errors(posture, reached)).max() < 1e-12
    assert np.abs(goal.errors(Posture(TREE, (q + 0.5).tolist()), reached)).max() > 1e-3


def test_starts_are_taken_from_the_nearest_on():
    """Against distances one by one, from float32 within 1e-5 m²; seed 4."""
    rng = np.random.default_rng(4)
    postures = random_postures(ARM.mechanism, 4, 10, True)
    reached = ARM.pose(postures, HAND)[:, :3, 3]
    targets = rng.uniform(-0.8, 0.8, (5, 3))
    starts = compared(ARM.mechanism, [PositionGoal(HAND, targets)], [targets], postures)
    taken = np.concatenate([starts.take(1), starts.take(6)], axis=1)
    for target, chosen in zip(targets, taken, strict=True):
        found = ((ARM.pose(chosen, HAND)[:, :3, 3] - target) ** 2).sum(axis=1)
        np.testing.assert_allclose(found, np.sort(((reached - target) ** 2).sum(axis=1))[:7], atol=1e-5)
        assert len(np.unique(chosen, axis=0)) == 7


def test_postures_keep_their_order_where_goals_cannot_be_compared():
    postures = random_postures(ARM.mechanism, 6, 10, True)
    assert len(postures) == DRAWN
    seen = np.array([[1.0, 0.3, 0.4], [0.0, 1.0, 0.2]])
    starts = compared(ARM.mechanism, [LookAtGoal(HAND, seen)], [seen], postures)
    np.testing.assert_array_equal(starts.take(3), [postures[:3]] * 2)


def test_a_target_alone_is_found_as_among_others():
    """As postures are the same for all targets, so is the search that ends first; seed 7."""
    rng = np.random.default_rng(7)
    low, high = limits_of(ARM.mechanism)
    bounds = [low.get(i, -3.0) for i in range(7)], [high.get(i, 3.0) for i in range(7)]
    there, q0 = rng.uniform(*bounds, (2, 40, 7))
    X = ARM.pose(there, HAND)
    together = ARM.inverse_kinematics(PoseGoal(HAND, X), q0)
    for row in range(40):
        alone = ARM.inverse_kinematics(PoseGoal(HAND, X[row]), q0[row])
        assert alone.solved == together.solved[row]
        np.testing.assert_allclose(alone.q, together.q[row], atol=1e-6)


def test_no_targets_at_all():
    for goal in (PositionGoal(HAND, np.zeros((0, 3))), PoseGoal(HAND, np.zeros((0, 4, 4)))):
        found = ARM.inverse_kinematics(goal, np.zeros(7))
        assert found.q.shape == (0, 7)
        assert found.solved.shape == (0,)
