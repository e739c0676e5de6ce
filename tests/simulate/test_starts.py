"""Many starts at once: closed as they are alone, and refused as they are alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.analysis import closed_state, loop_equations
from kumitate.errors import InputError

ROWS = 24


@pytest.mark.parametrize("name", ["four_bars_2", "bricard", "planar_4r"])
@pytest.mark.parametrize("moving", [False, True])
def test_rows_that_are_nearly_closed_are_closed_and_hardly_moved(name, moving):
    robot = km.load(name)
    sim, loops, rng = km.Simulation(robot, integrator="rk4"), loop_equations(robot.mechanism), np.random.default_rng(5)
    q0, _ = robot.start
    v0 = robot.assemble(q0, rng.normal(size=robot.nv))[1] if moving else np.zeros(robot.nv)
    q = q0 + 1e-9 * rng.normal(size=(ROWS, robot.nq))
    v = np.tile(v0, (ROWS, 1)) + (1e-9 * rng.normal(size=(ROWS, robot.nv)) if moving else 0.0)
    closed_q, closed_v = sim.starts(q, v, ROWS)
    assert max(gap.distance for gap in loops.gaps(closed_q, closed_v)) < 1e-12
    assert max(gap.speed for gap in loops.gaps(closed_q, closed_v)) < 1e-11
    np.testing.assert_allclose(closed_q, q, rtol=0.0, atol=1e-7)
    for k in (0, ROWS - 1):
        alone_q, alone_v = closed_state(loops, q[k], v[k])
        np.testing.assert_allclose(closed_q[k], alone_q, rtol=0.0, atol=1e-7)
        np.testing.assert_allclose(closed_v[k], alone_v, rtol=0.0, atol=1e-6)


def test_rows_that_are_closed_stay_as_they_are():
    robot = km.load("four_bars_2")
    q = np.tile(robot.start[0], (ROWS, 1))
    closed, _ = km.Simulation(robot).starts(q, None, ROWS)
    np.testing.assert_array_equal(closed, q)


@pytest.mark.parametrize("count", [1, ROWS])
def test_moving_rows_that_are_closed_stay_as_they_are(count):
    robot, rng = km.load("bricard"), np.random.default_rng(6)
    states = [robot.assemble(robot.start[0], rng.normal(size=robot.nv)) for _ in range(ROWS)]
    q, v = (np.array(part) for part in zip(*states, strict=True))
    sim = km.Simulation(robot)
    for k in range(0, ROWS, count):
        closed_q, closed_v = sim.starts(q[k : k + count], v[k : k + count], count)
        np.testing.assert_array_equal(closed_q, q[k : k + count])
        np.testing.assert_array_equal(closed_v, v[k : k + count])


def test_an_open_row_among_many_is_refused():
    robot = km.load("four_bars_2")
    q = np.tile(robot.start[0], (ROWS, 1))
    q[17, 0] += 0.1
    with pytest.raises(InputError, match="is open by"):
        km.Simulation(robot).batch(q)


def test_a_velocity_of_no_branch_is_refused_among_many():
    # stretched out flat, the four-bar may leave along two branches; the sum of them is neither
    robot = km.load("planar_4r_singular")
    q, v = np.tile([np.pi / 2, 0.0, np.pi], (ROWS, 1)), np.zeros((ROWS, 3))
    sim = km.Simulation(robot)
    assert sim.batch(q).q.shape == (ROWS, 3)
    v[11] = [0.5, 0.3, 0.5]
    with pytest.raises(InputError, match="not the velocity of any motion through the initial q"):
        sim.batch(q, v)


def four_bar_with(limits):
    """The four-bar with other limits of its first joint, without a start of its own; and that joint's index in q."""
    mechanism = km.load("four_bar").mechanism
    first = mechanism.joints[0]
    joints = (replace(first, limits=(limits,)), *mechanism.joints[1:])
    return replace(mechanism, joints=joints, starts=()), mechanism.q_names.index(first.name)


@pytest.mark.parametrize("limits", [km.Limits(0.7, 1.4), km.Limits(-1.4, -0.7)])
def test_the_default_start_is_within_the_limits_and_closed(limits):
    mechanism, k = four_bar_with(limits)
    robot = km.load(mechanism)
    q = robot.start[0]
    assert limits.lower <= q[k] <= limits.upper
    (gap,) = loop_equations(mechanism).gaps(q, np.zeros(mechanism.nv))
    assert gap.distance < 1e-12
    run = km.simulate(robot, duration=0.2)
    assert limits.lower - 1e-6 <= run.q[:, k].min() <= run.q[:, k].max() <= limits.upper + 1e-6


def test_a_start_of_loops_outside_the_limits_is_refused_with_joint_value_and_remedy():
    closed = km.load("four_bar").start[0]
    mechanism, k = four_bar_with(km.Limits(closed[0] + 0.25, closed[0] + 0.5))
    name = mechanism.joints[0].name
    told = rf"joint '{name}' starts at {closed[k]:.6g}, outside its lower limit {closed[k] + 0.25:.6g} .*robot\.state.*limits=F"
    with pytest.raises(InputError, match=told):
        km.simulate(mechanism, closed, duration=0.1)
    free = km.simulate(mechanism, closed, duration=0.1, limits=False)
    np.testing.assert_array_equal(free.q[0], closed)
