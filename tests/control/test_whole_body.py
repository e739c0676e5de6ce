"""Whole-body control: laws of the solution by other routes, limits that hold, and a pushed tripod that keeps its balance."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.compile import Kernel
from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.control.whole_body import StandingPoint, Tracked, WholeBodyController, whole_body_program
from kumitate.errors import InputError
from kumitate.inverse_kinematics import CenterOfMassGoal, OrientationGoal, PositionGoal, PostureGoal
from kumitate.model import Body, Geometry, Joint, Limits, Mechanism, Sphere
from kumitate.spatial import pose

LEGS = {"front": (0.3, 0.0), "left": (-0.2, 0.25), "right": (-0.2, -0.25)}
LONG, SOLE, MOST = 0.4, 0.02, 150.0


def tripod(most: float = MOST) -> Mechanism:
    """A floating body on three legs, each with a hinge that swings it sideways, one that swings it ahead, and a slide."""
    bodies = [Body("trunk", 10.0, inertia=(0.2, 0.3, 0.4))]
    joints = [Joint("floating", "floating", "world", "trunk")]
    for leg, (x, y) in LEGS.items():
        small = {"inertia": (0.01, 0.01, 0.01)}
        sole = Geometry(Sphere(SOLE), pose((0.0, 0.0, 0.0)))
        bodies += [Body(f"{leg}_hip", 0.5, **small), Body(f"{leg}_thigh", 0.5, **small)]
        bodies += [Body(f"{leg}_foot", 0.3, **small, collisions=(sole,))]
        limits = (Limits(-1.0, 1.0, effort=most),)
        joints += [
            Joint(f"{leg}_side", "revolute", "trunk", f"{leg}_hip", pose((x, y, 0.0)), axis=(1.0, 0.0, 0.0), limits=limits),
            Joint(f"{leg}_ahead", "revolute", f"{leg}_hip", f"{leg}_thigh", axis=(0.0, 1.0, 0.0), limits=limits),
            Joint(
                f"{leg}_slide", "prismatic", f"{leg}_thigh", f"{leg}_foot", axis=(0.0, 0.0, -1.0),
                limits=(Limits(0.2, 0.6, effort=most),),
            ),
        ]  # fmt: skip
    return Mechanism("tripod", tuple(bodies), tuple(joints))


def standing() -> np.ndarray:
    return np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, LONG + SOLE, *[0.0, 0.0, LONG] * 3])


CONTACTS = [StandingPoint(f"{leg}_foot", (0.0, 0.0, -SOLE), friction=0.5) for leg in LEGS]


def controller(mechanism: Mechanism, q: np.ndarray, **options) -> WholeBodyController:
    center = km.Robot(mechanism).center_of_mass(q)
    goals = [
        Tracked(CenterOfMassGoal(center, weight=10.0)), Tracked(OrientationGoal("trunk", np.eye(3))),
        Tracked(PostureGoal(q, weight=0.01)),
    ]  # fmt: skip
    return WholeBodyController(mechanism, goals, CONTACTS, **options)


def disturbed(rng: np.random.Generator, mechanism: Mechanism) -> tuple[np.ndarray, np.ndarray]:
    robot = km.Robot(mechanism)
    return robot.integrate(standing(), 0.1 * rng.normal(size=mechanism.nv)), 0.3 * rng.normal(size=mechanism.nv)


def test_efforts_and_forces_make_the_acceleration_that_was_chosen():
    """Forward dynamics with the contact forces as wrenches gives v̇, for states that move."""
    mechanism, rng = tripod(), np.random.default_rng(2)
    robot, law = km.Robot(mechanism), controller(tripod(), standing())
    for _ in range(5):
        q, v = disturbed(rng, mechanism)
        tau = law(0.0, q, v)
        assert np.array_equal(tau[:6], np.zeros(6))
        wrenches = {}
        for contact, force in zip(CONTACTS, law.forces, strict=True):
            X = robot.pose(q, contact.body)
            arm = X[:3, :3] @ np.asarray(contact.point)
            wrenches[contact.body] = np.concatenate([np.cross(arm, force), force])
        made = robot.forward_dynamics(q, v, tau, wrenches=wrenches)
        np.testing.assert_allclose(made, law.acceleration, atol=2e-4 * np.abs(made).max())


def test_the_drift_is_what_the_rate_of_the_jacobian_makes():
    mechanism, rng = tripod(), np.random.default_rng(5)
    goals = [PositionGoal("front_foot", np.zeros(3)), CenterOfMassGoal(np.zeros(3)), OrientationGoal("trunk", np.eye(3))]
    kernel, robot = Kernel(whole_body_program(mechanism, goals, CONTACTS)), km.Robot(mechanism)
    targets = np.concatenate([goal.target(mechanism.tree) for goal in goals])
    q, v = disturbed(rng, mechanism)
    _, J, _, _, drift = kernel(q, v, targets)
    h = 1e-5
    ahead, behind = (kernel(robot.integrate(q, s * h * v), v, targets)[1] @ v for s in (1.0, -1.0))
    np.testing.assert_allclose(drift, (ahead - behind) / (2.0 * h), atol=1e-8)
    np.testing.assert_allclose(drift[9:12], robot.jacobian_rate(q, v, "front_foot")[3:] @ v, atol=1e-12)
    assert J.shape == (18, mechanism.nv)


def test_a_posture_alone_is_computed_torque():
    """Of a fixed arm: tau = M (kp e − kd v) + h."""
    robot = km.load("pa10")
    q, v = robot.start[0], 0.3 * np.random.default_rng(1).normal(size=7)
    law = WholeBodyController(robot, [Tracked(PostureGoal(q + 0.1), kp=64.0)], effort_limits=False, stop_rate=0.0)
    expected = robot.inverse_dynamics(q, v, 64.0 * 0.1 - 16.0 * v)
    np.testing.assert_allclose(law(0.0, q, v), expected, atol=1e-4 * np.abs(expected).max())


def test_forces_stay_in_their_cones_and_efforts_within_limits():
    mechanism, rng = tripod(most=60.0), np.random.default_rng(7)
    law = controller(mechanism, standing())
    reached = 0
    for _ in range(40):
        q, v = disturbed(rng, mechanism)
        tau = law(0.0, q, 2.0 * v)
        across = np.hypot(law.forces[:, 0], law.forces[:, 1])
        assert (across <= 0.5 * law.forces[:, 2] + 1e-4).all()
        assert (np.abs(tau) <= 60.0 + 1e-4).all()
        reached += int((across > 0.34 * law.forces[:, 2]).any())
    assert reached > 5  # the pyramid did bind


def test_joints_stop_before_their_stops():
    """A slide that is sent beyond its stop comes to it and not further: d̈ + 2 r ḋ + r² d ≥ 0."""
    body = Body("mass", 1.0, inertia=(0.1, 0.1, 0.1))
    slide = Joint("slide", "prismatic", "world", "mass", axis=(1.0, 0.0, 0.0), limits=(Limits(-1.0, 0.5),))
    mechanism = Mechanism("slide", (body,), (slide,))
    runs = {}
    for rate in (0.0, 20.0):
        law = WholeBodyController(mechanism, [Tracked(PostureGoal([0.8]), kp=100.0)], stop_rate=rate)
        runs[rate] = km.simulate(mechanism, duration=2.0, step=1e-3, controller=law, sample_time=1e-3, limits=False)
    assert runs[0.0].q[:, 0].max() > 0.79
    assert 0.49 < runs[20.0].q[:, 0].max() < 0.5 + 1e-4


def test_a_tripod_that_is_pushed_comes_back():
    mechanism, q = tripod(), standing()
    law = controller(mechanism, q)
    push = {"trunk": lambda t, q, v: [0.0, 0.0, 0.0, 60.0 if 0.1 < t < 0.25 else 0.0, 30.0 if 0.1 < t < 0.25 else 0.0, 0.0]}
    run = km.simulate(
        mechanism, q, duration=1.5, step=2.5e-3, contact=Contact(surface=Surface(friction=0.8)), controller=law,
        sample_time=5e-3, wrenches=push,
    )  # fmt: skip
    assert np.abs(run.q[:, 4:6]).max() > 0.01
    np.testing.assert_allclose(run.q[-1, :7], q[:7], atol=1e-3)
    np.testing.assert_allclose(run.q[-1, 7:], q[7:], atol=2e-2)  # where a sole has slipped
    np.testing.assert_allclose(run.v[-1], 0.0, atol=1e-2)


def test_mistakes_are_named():
    with pytest.raises(InputError, match="did you mean 'left_foot'"):
        WholeBodyController(tripod(), [], [StandingPoint("left_fot")])
    with pytest.raises(InputError, match="is for trees"):
        WholeBodyController(km.load("four_bar"), [])
    with pytest.raises(InputError, match="friction -1"):
        StandingPoint("left_foot", friction=-1.0)


def test_weak_drives_let_it_sink_and_still_have_a_solution():
    law = controller(tripod(most=10.0), standing())
    law(0.0, standing(), np.zeros(15))
    assert law.acceleration[5] < -5.0
    assert law.forces[:, 2].min() >= -1e-4
