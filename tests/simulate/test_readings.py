"""What a result says: zero-moment point, momenta about the center of mass, powers; by slopes and by other routes."""

from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.analysis import support_polygon
from kumitate.control import gravity_compensation, pd, total
from kumitate.errors import InputError
from kumitate.kinematics import total_mass
from kumitate.records.readings import balance_of, momenta_of, powers_of


@pytest.fixture(scope="module")
def arm() -> km.Run:
    robot = km.load("pa10")
    q = np.radians([0.0, 30.0, 10.0, -40.0, 0.0, 20.0, 0.0])
    law = total(pd(robot, q + 0.3, kp=400.0, kd=60.0), gravity_compensation(robot))
    return km.simulate(robot, q, duration=0.5, step=5e-4, controller=law)


@pytest.fixture(scope="module")
def pushed() -> tuple[km.Run, dict]:
    """A double pendulum with damping and springs, pushed at its lower end."""
    spring = {"stiffness": 2.0, "rest": 0.3, "damping": 0.4, "friction": 0.1}
    bodies = [km.Body(name, 1.0, (0.0, 0.0, 0.4), (0.02, 0.02, 0.001)) for name in ("upper", "lower")]
    joints = (
        km.Joint("shoulder", "spherical_euler", "world", "upper"),
        km.Joint("elbow", "revolute", "upper", "lower", km.pose((0.0, 0.0, 0.8)), axis=(0.0, 1.0, 0.0), **spring),
    )
    hand = km.Frame("hand", "lower", km.pose((0.0, 0.0, 0.8)))
    robot = km.Robot(km.Mechanism("pushed", tuple(bodies), joints, frames=(hand,)))
    wrenches = {"hand": lambda t, q, v: np.array([0.1, 0.0, 0.2 * t, 1.0 + t, -2.0, 0.5])}
    run = km.simulate(robot, [0.3, 0.8, 0.2, -0.5], duration=0.5, step=5e-4, wrenches=wrenches)
    return run, wrenches


def slopes(run: km.Run, values: np.ndarray) -> np.ndarray:
    """Central differences of fourth order, the ends left out."""
    h = run.time[1] - run.time[0]
    return (8.0 * (values[3:-1] - values[1:-3]) - (values[4:] - values[:-4])) / (12.0 * h)


@pytest.mark.row("T-5.3")
def test_rates_of_momenta_are_slopes(arm):
    found = momenta_of(arm)
    c = arm.center_of_mass
    np.testing.assert_allclose(found.linear, arm.momentum[:, 3:], atol=1e-12)
    np.testing.assert_allclose(found.angular, arm.momentum[:, :3] - np.cross(c, arm.momentum[:, 3:]), atol=1e-12)
    for values, rates in ((found.angular, found.angular_rate), (found.linear, found.linear_rate)):
        np.testing.assert_allclose(rates[2:-2], slopes(arm, values), atol=1e-5 * np.abs(rates).max())


@pytest.mark.row("T-5.3")
def test_the_balance_is_that_of_the_first_joint(arm):
    """The joint to the world holds all: its wrench gives the zero-moment point by hand."""
    found = balance_of(arm, height=0.1)
    first = arm.joint_wrenches(in_world=True)["joint1"]
    pose = arm.robot.pose(arm.q, arm.mechanism.joint("joint1").child)[:, :3, 3]
    force, moment = first[:, 3:], first[:, :3] + np.cross(pose - [0.0, 0.0, 0.1], first[:, 3:])
    np.testing.assert_allclose(found.force, force, atol=1e-9)
    by_hand = np.column_stack([-moment[:, 1] / force[:, 2], moment[:, 0] / force[:, 2], np.full(len(arm), 0.1)])
    np.testing.assert_allclose(found.zmp, by_hand, atol=1e-10)
    np.testing.assert_allclose(found.moment[:, :2], 0.0, atol=1e-9)
    assert support_polygon(0.01 * np.array([(1, 1), (1, -1), (-1, 0)])).margin(found.zmp).min() < 0.0


@pytest.mark.row("T-5.3")
def test_powers_are_the_rate_of_the_kinetic_energy(pushed):
    run, wrenches = pushed
    found = powers_of(run, wrenches=wrenches)
    assert found.names == run.mechanism.v_names
    np.testing.assert_allclose(found.total[2:-2], slopes(run, run.energy.kinetic), atol=1e-7 * np.abs(found.total).max())
    np.testing.assert_allclose(
        found.gravity[2:-2] + found.springs[2:-2].sum(axis=1), -slopes(run, run.energy.potential), atol=1e-5
    )
    assert (found.damping <= 0.0).all()
    assert found.damping.min() < -1e-3
    assert np.abs(found.wrenches["hand"]).max() > 0.1
    assert not found.drives.any()


def test_a_known_push_is_not_the_ground_s(pushed):
    run, wrenches = pushed
    at_all_times = np.array([wrenches["hand"](t, None, None) for t in run.time])
    found, without = balance_of(run, wrenches={"hand": at_all_times}), balance_of(run, wrenches={"hand": np.zeros(6)})
    np.testing.assert_allclose(found.force, without.force - at_all_times[:, 3:], atol=1e-10)
    weight = total_mass(run.mechanism.tree) * np.array(run.mechanism.gravity)
    np.testing.assert_allclose(without.force + weight, momenta_of(run).linear_rate, atol=1e-9)


def test_in_free_flight_there_is_no_zero_moment_point():
    robot = km.Robot(
        km.Mechanism("ball", (km.Body("ball", 1.0, inertia=(0.1, 0.1, 0.1)),), (km.Joint("free", "floating", "world", "ball"),))
    )
    run = km.simulate(robot, robot.neutral(), np.array([1.0, 2.0, 0.0, 1.0, 0.0, 3.0]), duration=0.2)
    found = balance_of(run)
    assert np.isnan(found.zmp).all()
    assert np.abs(found.force).max() < 1e-12


def test_what_acted_counts_unless_others_are_given(pushed):
    run, wrenches = pushed
    np.testing.assert_allclose(balance_of(run).zmp, balance_of(run, wrenches=wrenches).zmp, atol=1e-12)
    np.testing.assert_allclose(powers_of(run).total, powers_of(run, wrenches=wrenches).total, atol=1e-12)
    for reading in (balance_of, powers_of):
        with pytest.raises(InputError, match="give them again"):
            reading(replace(run, wrenches={}))
        with pytest.raises(InputError, match="not a body or frame"):
            reading(run, wrenches={"hand": np.zeros(6), "foot": np.zeros(6)})
        with pytest.raises(InputError, match="has 3 rows"):
            reading(run, wrenches={"hand": np.zeros((3, 6))})
    with pytest.raises(InputError, match="not a loop"):
        powers_of(run, wrenches={"hand": np.zeros(6)}, loop_tau={"hinge": [0.0]})
