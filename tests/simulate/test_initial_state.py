"""`robot.state`: an initial state by names, with loops closed around what is given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError
from kumitate.model.elements import NamedState
from kumitate.spatial import pose


def free_pair() -> km.Robot:
    """A free body, a sensor fixed on it, and an arm on a hinge."""
    bodies = (km.Body("trunk", 1.0, inertia=(1, 1, 1)), km.Body("eye"), km.Body("arm", 1.0, inertia=(1, 1, 1)))
    joints = (
        km.Joint("base", "floating", "world", "trunk", pose((0, 0, 1), (0, 0, 0.3))),
        km.Joint("mount", "fixed", "trunk", "eye", pose((0.1, 0, 0.2), (0.4, 0, 0))),
        km.Joint("elbow", "revolute", "trunk", "arm", pose((0, 0.5, 0)), axis=(0, 1, 0)),
    )
    starts = (NamedState("up", {"elbow": (1.0,)}, {"elbow": (2.0,)}),)
    return km.Robot(km.Mechanism("pair", bodies, joints, starts=starts))


def test_joints_bodies_and_components_are_set_by_name():
    robot = free_pair()
    q, v = robot.state(q={"elbow": 0.4, "base.x": 0.7}, v={"trunk": (0, 0, 0, 1, 0, 0), "elbow": [-0.5]})
    assert dict(zip(robot.mechanism.q_names, q, strict=True))["base.x"] == 0.7
    assert q.tolist() == [0, 0, 0, 1, 0.7, 0, 0, 0.4]
    assert v.tolist() == [0, 0, 0, 1, 0, 0, -0.5]


@pytest.mark.parametrize("body", ["trunk", "eye"])
def test_a_body_is_brought_to_its_pose(body):
    robot, wanted = free_pair(), pose((1, 2, 3), (0.1, 0.2, 0.3))
    for given in (wanted, np.array(wanted.matrix(), dtype=float)):
        q, v = robot.state(pose={body: given})
        np.testing.assert_allclose(robot.pose(q, body), wanted.matrix(), atol=1e-14)
        assert not v.any()
    hinge = np.array(robot.pose(robot.state(q={"elbow": 0.8})[0], "arm"))
    assert robot.state(pose={"arm": hinge})[0][-1] == pytest.approx(0.8, abs=1e-14)


def test_the_rest_is_that_of_a_named_start():
    robot = free_pair()
    q, v = robot.state(start="up")
    assert (q[-1], v[-1]) == (1.0, 2.0)
    assert robot.state(q={"elbow": 0.2}, start="up")[1][-1] == 2.0
    assert not robot.state(q={"elbow": 0.2})[1].any()


def test_loops_close_around_what_is_given():
    """The four-bar linkage of the thesis: with its first joint given, the others follow as in a parallelogram."""
    robot = km.load("planar_4r")
    q, v = robot.state(q={"joint1": np.radians(120)}, v={"joint1": 0.5})
    np.testing.assert_allclose((q[0], v[0]), (np.radians(120), 0.5), rtol=1e-15)  # rounding differs without fused products
    np.testing.assert_allclose(np.degrees(q), [120, -30, 210], atol=1e-9)
    np.testing.assert_allclose(v, [0.5, -0.5, 0.5], atol=1e-12)
    gaps = robot.constraint_residual(q, v)
    assert max(max(gap.distance, gap.angle, gap.speed, gap.turning) for gap in gaps) < 1e-14


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"q": {"elbo": 0.1}}, r"pair: q names 'elbo', which is not a joint, body or component; did you mean 'elbow'\?"),
        ({"q": {"base": 0.1}}, r"q of 'base' is 0\.1; it must be 7 finite numbers \(base\.qx, base\.qy"),
        ({"q": {"elbow": "x"}}, r"q of 'elbow' is 'x'; it must be 1 finite numbers \(elbow\)"),
        ({"q": {"base": (1, 1, 1, 1, 0, 0, 0)}}, r"length"),
        ({"v": {"elbow": np.nan}}, r"v of 'elbow' is nan; it must be 1 finite numbers"),
        ({"pose": {"elbow": pose()}}, r"pose names 'elbow', which is not a body"),
        ({"pose": {"trunk": 3}}, r"the pose of 'trunk' is 3; it must be a pose"),
        (
            {"pose": {"arm": pose((5, 5, 5))}},
            r"body 'arm' cannot be brought to its pose by its joint 'elbow' \(revolute\) alone",
        ),
        ({"start": "upp"}, r"pair: there is no start 'upp'; did you mean 'up'\?"),
    ],
)
def test_what_cannot_be_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        free_pair().state(**given)


def test_loops_that_what_is_given_keeps_open_are_named():
    robot = km.load("planar_4r")
    joints = {name: 0.3 for name in robot.joints if robot.joints[name].kind.nv}
    with pytest.raises(InputError, match=r"cannot be closed.*are left.*held as given: 'joint1', 'joint2', 'joint3'"):
        robot.state(q=joints)


def test_a_start_of_the_mechanism_called_initial_is_where_simulations_begin():
    robot = free_pair()
    named = km.Robot(replace(robot.mechanism, starts=(NamedState("initial", {"elbow": (0.6,)}),)))
    assert named.start[0][-1] == 0.6
    assert km.simulate(named, duration=0.01).q[0, -1] == 0.6
