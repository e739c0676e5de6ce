"""Loops are closed from far postures, where Gauss-Newton steps alone lead nowhere; one that cannot be says how near it came."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import ModelError
from kumitate.kinematics import link_poses, place_pose
from kumitate.spatial import Transform


def chain(seed: int, count: int = 7) -> tuple[km.Mechanism, np.ndarray, Transform]:
    """A chain of revolute joints about any axes, a posture anywhere, and the pose of its tip there."""
    rng = np.random.default_rng(seed)
    names = [f"link{k}" for k in range(count)]
    joints = tuple(
        km.Joint(f"joint{k}", "revolute", parent, child, km.pose(rng.uniform(-0.5, 0.5, 3).tolist()), axis=rng.normal(size=3))
        for k, (parent, child) in enumerate(zip(["world", *names], names, strict=False))
    )
    mechanism = km.Mechanism("chain", tuple(km.Body(name, 1.0, inertia=(0.1, 0.1, 0.1)) for name in names), joints)
    q = rng.uniform(-np.pi, np.pi, count)
    tree = mechanism.tree
    return mechanism, q, place_pose(tree, link_poses(tree, q.tolist()), tree.places[names[-1]]).dense()


@pytest.mark.parametrize("kind", ["fixed", "spherical"])
@pytest.mark.parametrize("seed", [1, 3, 5, 6, 11, 13])
def test_a_chain_that_can_be_closed_is_closed_from_the_neutral_posture(seed, kind):
    """Seeds at which damped Gauss-Newton steps alone left up to 2.6 m between the ends of the fixed loop."""
    mechanism, _, tip = chain(seed)
    loop = km.Loop("closing", kind, "world", "link6", tip)
    robot = km.Robot(replace(mechanism, loops=(loop,)))
    q = robot.assemble(robot.neutral())
    (gap,) = robot.constraint_residual(q)
    assert gap.distance < 1e-12
    assert gap.angle < 1e-12


def test_joints_that_are_held_stay_where_they_are():
    mechanism, closed, tip = chain(1, 8)
    robot = km.Robot(replace(mechanism, loops=(km.Loop("closing", "fixed", "world", "link7", tip),)))
    q, _ = robot.state(q={"joint0": closed[0]})
    assert q[0] == pytest.approx(closed[0], abs=1e-13)
    assert robot.constraint_residual(q)[0].size(1.0) < 1e-12


@pytest.mark.parametrize("reach", [2.5, 3.0])
def test_a_loop_that_cannot_be_closed_says_how_near_it_came(reach):
    """Two links of 1 m do not reach further than 2 m."""
    links = (km.Body("upper", 1.0, inertia=(1, 1, 1)), km.Body("lower", 1.0, inertia=(1, 1, 1)))
    joints = (
        km.Joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0)),
        km.Joint("elbow", "revolute", "upper", "lower", km.pose((0, 0, 1)), axis=(0, 1, 0)),
    )
    loop = km.Loop("hold", "spherical", "world", "lower", km.pose((reach, 0, 0)), km.pose((0, 0, 1)))
    robot = km.Robot(km.Mechanism("arm", links, joints, (loop,)))
    with pytest.raises(ModelError, match=r"arm: loop 'hold' cannot be closed from there: \d") as caught:
        robot.assemble([0.1, 0.2])
    (left,) = re.findall(r"there: ([\d.e-]+) m", str(caught.value))
    assert float(left) == pytest.approx(reach - 2.0, rel=1e-2)


def test_equations_that_contradict_one_another_are_named():
    """A planar arm whose tip is to be 0.1 m above its plane, and a slider that is to be in two places 1 m apart."""
    upper, lower, slide = (km.Body(name, 1.0, inertia=(1, 1, 1)) for name in ("upper", "lower", "slide"))
    shoulder = km.Joint("shoulder", "revolute", "world", "upper", axis=(0, 0, 1))
    elbow = km.Joint("elbow", "revolute", "upper", "lower", km.pose((1, 0, 0)), axis=(0, 0, 1))
    above = km.Loop("above", "spherical", "world", "lower", km.pose((1, 0.5, 0.1)), km.pose((1, 0, 0)))
    arm = km.Robot(km.Mechanism("arm", (upper, lower), (shoulder, elbow), (above,)))
    with pytest.raises(ModelError, match=r"closes 'above' by itself \(no joint closes the last 0\.1 of fz\)"):
        arm.assemble([0.3, 0.4])
    places = tuple(km.Loop(name, "spherical", "world", "slide", km.pose((x, 0, 0))) for name, x in (("one", 1.0), ("two", 2.0)))
    slider = km.Robot(
        km.Mechanism("slider", (slide,), (km.Joint("way", "prismatic", "world", "slide", axis=(1, 0, 0)),), places)
    )
    said = r"closes 'one', 'two' together \(no joint closes the last 0\.707 of one: fx, two: fx\)"
    with pytest.raises(ModelError, match=said):
        slider.assemble([0.2])
    other = km.Joint("other", "prismatic", "world", "upper", axis=(0, 1, 0))
    free = km.Loop("free", "spherical", "world", "upper", km.pose((0, 0.5, 0)))  # is not to blame
    both = km.Mechanism("both", (slide, upper), (*slider.mechanism.joints, other), (free, *places))
    with pytest.raises(ModelError, match=said):
        km.Robot(both).assemble([0.2, 0.1])


def test_loops_that_close_as_points_only_are_said_to():
    """A hand on an arm that cannot turn it as the loop wants: at the right place, turned by 0.3 rad about its own length."""
    bodies = tuple(km.Body(name, 1.0, inertia=(1, 1, 1)) for name in ("upper", "lower"))
    joints = (
        km.Joint("shoulder", "revolute", "world", "upper", axis=(0, 0, 1)),
        km.Joint("elbow", "revolute", "upper", "lower", km.pose((1, 0, 0)), axis=(0, 0, 1)),
    )
    loop = km.Loop("grasp", "fixed", "world", "lower", km.pose((1, 0.5, 0), (0.3, 0, 0)), km.pose((1, 0, 0)))
    robot = km.Robot(km.Mechanism("arm", bodies, joints, (loop,)))
    with pytest.raises(ModelError, match=r"All loops close if these are points \(spherical, or 3d in YAML\)"):
        robot.assemble([0.3, 0.4])
