"""Position drives: their law, and that a damper in the joint is stable where a controller's is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError
from kumitate.gym import PositionDrives


def arm():
    mechanism = km.load("planar_3r").mechanism
    joints = (replace(joint, limits=(km.Limits(effort=2.0),)) for joint in mechanism.joints)
    return replace(mechanism, joints=tuple(joints))


def names(mechanism):
    return [link.name for link in mechanism.tree.links]


def test_springs_pull_towards_targets_within_the_limit_of_effort():
    mechanism = arm()
    first, _, last = names(mechanism)
    drives = PositionDrives(mechanism, {last: 10.0, first: 30.0}, {last: 1.0, first: 3.0})
    q, target = np.array([0.1, 0.2, 0.3]), np.array([0.45, -0.5])
    np.testing.assert_allclose(drives.efforts(q, target), [-2.0, 0.0, 10.0 * (0.45 - 0.3)])
    damping = {joint.name: joint.damping[0] for joint in drives.mechanism.joints}
    before = {joint.name: joint.damping[0] for joint in mechanism.joints}
    assert {name: damping[name] - before[name] for name in damping} == pytest.approx(
        {first: 3.0, names(mechanism)[1]: 0.0, last: 1.0}
    )


def test_drives_move_as_a_pd_controller_does():
    """Small Runge-Kutta steps do not care where the damping is."""
    mechanism = km.load("planar_3r").mechanism
    kp, kd = dict.fromkeys(names(mechanism), 20.0), dict.fromkeys(names(mechanism), 2.0)
    drives, target = PositionDrives(mechanism, kp, kd), np.array([0.3, -0.1, 0.4])
    start = np.zeros(3), np.zeros(3)
    driven = km.Simulation(
        drives.mechanism, controller=lambda t, q, v, target: drives.efforts(q, target), inputs={"target": target}, start=start,
        integrator="rk4",
    ).run(duration=0.3)  # fmt: skip
    pd = km.control.pd(mechanism, target, kp=20.0, kd=2.0)
    expected = km.Simulation(mechanism, controller=pd, start=start, integrator="rk4").run(duration=0.3)
    np.testing.assert_allclose(driven.q, expected.q, rtol=1e-9, atol=1e-9)


def test_a_damper_in_the_joint_is_stable_where_a_controllers_is_not():
    mechanism = km.load("planar_3r").mechanism
    kp, kd = dict.fromkeys(names(mechanism), 20.0), dict.fromkeys(names(mechanism), 200.0)
    drives = PositionDrives(mechanism, kp, kd)
    start, options = (np.zeros(3), np.ones(3)), {"step": 0.02, "integrator": "semi_implicit_euler"}
    driven = km.Simulation(drives.mechanism, controller=lambda t, q, v: drives.efforts(q, 0.0), start=start, **options).batch(1)
    driven.step(100)
    assert np.abs(driven.v).max() < 1.0
    pd = km.control.pd(mechanism, np.zeros(3), kp=20.0, kd=200.0)
    explicit = km.Simulation(mechanism, controller=pd, start=start, **options).batch(1)
    with np.errstate(all="ignore"):
        explicit.step(100)
    assert not np.abs(explicit.v).max() < 1e3


@pytest.mark.parametrize(
    ("kp", "kd", "words"),
    [
        ({"nowhere": 1.0}, {"nowhere": 1.0}, "'nowhere' is not a moving joint"),
        ({"free": 1.0}, {"free": 1.0}, "joint 'free' has 7 coordinates; drives need one"),
        ({"free": 1.0}, {}, "kp and kd name different joints: free"),
    ],
)
def test_mistakes_are_named(kp, kd, words):
    body = km.Body("ball", 1.0, inertia=(0.1, 0.1, 0.1))
    mechanism = km.Mechanism("ball", (body,), (km.Joint("free", "floating", "world", "ball"),))
    with pytest.raises(InputError, match=words):
        PositionDrives(mechanism, kp, kd)
