"""The small humanoid of paper S, section 4: it walks, falls down and jumps."""

import numpy as np
import pytest

from kumitate.compile import Kernel
from kumitate.kinematics import center_of_mass
from kumitate.model.samples import hoap1
from kumitate.papers.legged import Gait
from kumitate.scalar import trace
from studies.papers import all_examples
from studies.papers.humanoid import FEET, Servos, jumping, standing, walking
from studies.papers.humanoid_runs import flight, followed, read

WEIGHT = 6.0 * 9.81


@pytest.fixture(scope="module", params=["rigid", "multipoint"])
def walk(request):
    return followed(walking(), name="hoap1_walk", model=request.param)


@pytest.fixture(scope="module")
def fall():
    return all_examples()["hoap1_fall"].run()


@pytest.fixture(scope="module")
def jump():
    return all_examples()["hoap1_jump"].run()


def on_the_floor(result):
    return {name for name, _ in result.contact.bodies}


def unbalanced(result):
    """How far the linear momentum is from what weight and floor gave it, at any time [N·s]."""
    h = result.settings["step"]
    given = h * np.cumsum(result.contact.force.sum(axis=1)[:-1] - np.array([0.0, 0.0, WEIGHT]), axis=0)
    return np.abs(result.momentum[1:, 3:] - result.momentum[0, 3:] - given).max()


# --- the plans: quick -------------------------------------------------------------------------------------------------
@pytest.mark.row("S-5")
def test_the_planned_walk_keeps_within_what_the_robot_can():
    plan, robot = walking(Gait(steps=3)), hoap1()
    limits = [limit for joint in robot.joints if joint.kind.nv == 1 for limit in joint.limits]
    angles, rates, torques = plan.motion.q[:, 7:], plan.motion.v[:, 6:], plan.efforts[:, 6:]
    for k, limit in enumerate(limits):
        assert limit.lower <= angles[:, k].min()
        assert angles[:, k].max() <= limit.upper
        assert np.abs(rates[:, k]).max() < limit.velocity
        assert np.abs(torques[:, k]).max() < 0.5 * limit.effort
    assert np.abs(plan.motion.q[-1, 4] - plan.motion.q[0, 4] - 0.08) < 1e-4


@pytest.mark.row("S-5")
def test_the_controller_is_a_function_of_time_that_leaves_the_trunk_alone():
    plan = standing()
    robot = plan.servos.on(hoap1())
    u = plan.controller(robot)(0.5, None, None)
    assert not u[:6].any()
    # standing still, servos do what holds the weight: springs at their angles, and the planned efforts
    torques = plan.torques(robot, plan.motion.q[:1], np.zeros((1, robot.nv)), u[None])
    np.testing.assert_allclose(torques, plan.efforts[:1], atol=1e-9)


def test_in_the_planned_flight_the_center_of_mass_is_in_free_fall():
    plan, robot = jumping(flight=0.14), hoap1()
    height = Kernel(trace(lambda q: center_of_mass(robot.tree, q)[2], {"q": robot.nq}, "height_hoap1"))(plan.motion.q)
    h = plan.times[1]
    falling = np.abs(np.diff(height, n=2) / h**2 + 9.81) < 1e-3
    assert falling.sum() * h == pytest.approx(0.14, abs=2.0 * h)


# --- walking ----------------------------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.row("S-5")
def test_it_walks(walk):
    readings = read(walk)
    way = walk.center_of_mass[-1] - walk.center_of_mass[0]
    np.testing.assert_allclose(way, [0.44, 0.0, 0.0], atol=5e-3)
    assert readings.lifts == (6, 6)
    assert on_the_floor(walk) == set(FEET)
    assert readings.tilt.max() < np.radians(1.0)
    assert walk.contact.penetration.max() < 1e-4


@pytest.mark.slow
@pytest.mark.row("S-5")
def test_nothing_holds_the_walking_robot_but_the_floor(walk):
    assert not walk.tau[:, :6].any()
    assert walk.settings["forcing"] == "compiled"
    assert unbalanced(walk) < 5e-3  # of a momentum of up to 0.9 N·s; steps of 1 ms
    # on a level floor the center of pressure is the plan's zero-moment point
    plan = walking()
    away = read(walk).pressure[:, :2] - plan.zmp_at(walk.time)
    assert np.sqrt(np.nanmean(away**2)) < 2e-3
    assert not walk.audit.limits_passed
    assert np.abs(plan.torques(walk.mechanism, walk.q, walk.v, walk.tau)).max() < 9.0  # what the drives can


# --- falling down -----------------------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.row("S-5")
def test_it_falls_down_and_comes_to_rest(fall):
    readings = read(fall)
    assert np.degrees(readings.tilt[0]) < 1e-3
    assert np.degrees(readings.tilt[-1]) > 80.0
    assert {"trunk", "left_forearm", "right_forearm"} <= on_the_floor(fall)
    assert np.abs(fall.v[-1]).max() < 1e-3
    assert fall.contact.penetration.max() < 1e-4
    assert fall.contact.force[-1].sum(axis=0) == pytest.approx([0.0, 0.0, WEIGHT], abs=1e-2)  # the floor carries it
    # and hardly ever drives: what rolls gains by the error of steps of order one
    assert fall.contact.gained.clip(min=0.0).sum() < 1e-4 * abs(fall.audit.contact.work)


# --- jumping ----------------------------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.row("S-5")
def test_it_jumps_and_lands_on_its_feet(jump):
    flown, readings = flight(jump), read(jump)
    assert flown.end - flown.start > 0.05
    assert flown.error < 1e-6  # in flight the steps are Runge-Kutta's
    during = (jump.time > flown.start) & (jump.time < flown.end)
    assert readings.soles[during].max() > 0.015
    assert on_the_floor(jump) == set(FEET)
    assert readings.tilt[-1] < np.radians(3.0)
    assert not jump.tau[:, :6].any()
    # angular momentum about the center of mass is kept while it flies
    about = jump.momentum[:, :3] - np.cross(jump.center_of_mass, jump.momentum[:, 3:])
    assert np.ptp(about[during], axis=0).max() < 1e-6


@pytest.mark.slow
def test_softer_servos_walk_too():
    servos = Servos(legs=(60.0, 0.6))
    plan = walking(Gait(steps=2, stride=0.05), servos=servos)
    result = followed(plan, name="hoap1_walk", model="multipoint", duration=3.0)
    assert read(result).lifts == (1, 1)
    assert read(result).tilt.max() < np.radians(2.0)
