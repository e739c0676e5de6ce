"""A pose is given as `kumitate.pose` makes it or as the 4×4 matrix that `Robot.pose` returns, wherever one is given."""

import numpy as np
import pytest

import kumitate as km
from kumitate.inverse_kinematics import PoseGoal
from kumitate.model.edits import attach, weld

X = km.pose((0.1, 0.2, 0.3), (0.3, -0.2, 0.5))
MATRIX = np.array(X.matrix())
BODY = km.Body("link", 1.0, inertia=(1.0, 1.0, 1.0))
CART = km.Mechanism("cart", (BODY,), (km.Joint("free", "floating", "world", "link"),))


def bound(pose):
    other = km.Body("other", 1.0, inertia=(1.0, 1.0, 1.0))
    joints = (*CART.joints, km.Joint("two", "floating", "world", "other"))
    robot = km.load(weld(km.Mechanism("two", (BODY, other), joints), "link", "other", pose=pose))
    link, there = (robot.pose(robot.start[0], name) for name in ("link", "other"))
    X_AB = np.linalg.inv(link) @ there
    return km.pose(X_AB[:3, 3], matrix=X_AB[:3, :3])


TAKEN = {
    "Joint": lambda pose: km.Joint("hinge", "revolute", "world", "link", pose).pose,
    "Loop": lambda pose: km.Loop("rod", "revolute", "world", "link", pose).pose_a,
    "Frame": lambda pose: km.Frame("tool", "link", pose).pose,
    "Geometry": lambda pose: km.Geometry(km.Sphere(0.1), pose).pose,
    "Sensor": lambda pose: km.Sensor("accelerometer", "link", pose).pose,
    "attach": lambda pose: attach(CART, CART, "link", pose, prefix="second_").joint("second_free").pose,
    "weld": bound,
}


@pytest.mark.parametrize("name", TAKEN)
def test_a_mechanism_takes_both(name):
    made, given = TAKEN[name](X), TAKEN[name](MATRIX)
    assert given.almost_equal(X)
    assert made.almost_equal(given, 0.0)
    assert TAKEN[name](MATRIX.tolist()).almost_equal(X)


@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.parametrize("wrong", [MATRIX[:3], 2.0 * MATRIX, MATRIX.T, "here", np.full((4, 4), np.nan)])
def test_what_is_no_pose_is_refused(name, wrong):
    with pytest.raises(km.ModelError, match=r"pose.*(4×4|not a rotation|rotation)"):
        TAKEN[name](wrong)


def test_states_and_goals_take_both():
    cart = km.load(CART)
    assert cart.state(pose={"link": X})[0] == pytest.approx(cart.state(pose={"link": MATRIX})[0])
    arm = km.load("pa10")
    hand = arm.pose(arm.start[0], list(arm.bodies)[-1])
    goal = km.pose(hand[:3, 3], matrix=hand[:3, :3])
    targets = [PoseGoal(list(arm.bodies)[-1], given).target(arm.mechanism.tree) for given in (hand, goal, [goal, goal])]
    assert targets[0].tolist() == targets[1].tolist() == targets[2][1].tolist()
    assert np.asarray(goal) == pytest.approx(hand)
