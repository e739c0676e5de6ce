"""Joints that stop at their limits: closed forms, random trees and loops, contact and drives beside them, and energy."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.model import bounds_of, least_gap, without_friction

from ..mechanisms import random_mechanism, random_state

G = 9.81
#: How far joints may be outside their limits [rad, m].
INSIDE = 1e-9
INTEGRATORS = ["semi_implicit_euler", "rk4", "midpoint", "rkf45", "rkf45_adaptive", "extrapolated_euler"]


def pendulum(lower=None, upper=None, *, arm=0.5, **joint):
    """A point mass on a massless arm that turns about y and hangs down at q = 0."""
    bob = km.Body("bob", 2.0, (0.0, 0.0, -arm))
    limits = (km.Limits(lower, upper),)
    return km.Mechanism(
        "pendulum", (bob,), (km.Joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0), limits=limits, **joint),)
    )


def slider(lower=None, upper=None, mass=1.0, **joint):
    """A mass that slides along z."""
    body = km.Body("block", mass, inertia=(0.01,) * 3)
    limits = (km.Limits(lower, upper),)
    return km.Mechanism("slider", (body,), (km.Joint("lift", "prismatic", "world", "block", limits=limits, **joint),))


def narrow(mechanism, q, rng, room=0.2):
    """The mechanism with limits around q on every coordinate that can have them."""
    joints, k = [], 0
    for joint in mechanism.joints:
        own = q[k : k + joint.kind.nq]
        k += joint.kind.nq
        below, above = rng.uniform(0.0, room, (2, len(own)))
        limits = tuple(km.Limits(x - a, x + b) for x, a, b in zip(own, below, above, strict=True))
        joints.append(replace(joint, limits=limits if joint.kind.nq == joint.kind.nv else ()))
    return replace(mechanism, joints=tuple(joints))


def tree(seed, kinds=("revolute", "prismatic", "universal", "cylindrical", "spherical_euler", "spherical")):
    rng = np.random.default_rng(seed)
    chosen = ["revolute", *rng.choice(kinds, 4).tolist()]
    case = random_state(random_mechanism(rng, chosen, chain=seed % 2 == 1, passive=seed % 3 != 0), rng)
    return narrow(case.mechanism, case.q, rng), np.array(case.q), np.array(case.v)


def outside(mechanism, q):
    """How far any joint is outside its limits along q (n, nq)."""
    return max(-least_gap(bounds_of(mechanism), row) for row in q)


# --- closed forms -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_pendulum_that_falls_on_a_stop_stays_there(integrator):
    """Up to the stop it swings as without one; it arrives with √(2 g (cos q₁ − cos q₀)/l), all of which the stop takes."""
    start, stop = 1.2, 0.4
    mechanism = pendulum(lower=stop)
    options = {"duration": 1.0, "integrator": integrator}
    run = km.simulate(mechanism, [start], **options)
    free = km.simulate(mechanism, [start], limits=False, **options)
    before = free.q[:, 0] > stop
    arrival = int(np.argmin(before))
    np.testing.assert_array_equal(run.q[:arrival], free.q[:arrival])
    assert np.abs(run.q[arrival:, 0] - stop).max() < INSIDE
    assert np.abs(run.v[arrival + 1 :]).max() < 1e-6
    arrives = math.sqrt(2.0 * G * (math.cos(stop) - math.cos(start)) / 0.5)
    tolerance = 2e-2 if integrator == "semi_implicit_euler" else 5e-3  # of the last step before the stop
    assert -free.v[arrival - 1, 0] == pytest.approx(arrives, rel=tolerance)
    assert run.audit.work == pytest.approx(-0.5 * 2.0 * 0.25 * arrives**2, rel=2.0 * tolerance)
    assert run.audit.limits_passed == ()
    np.testing.assert_allclose(run.a[arrival + 1 :], 0.0, atol=1e-3)


def test_a_stop_holds_and_lets_go():
    """A mass is pushed up against a stop and falls from it as soon as the push ends."""
    push, end = 30.0, 0.3

    def force(t, q, v):
        return np.stack([km.where(t < end - 5e-4, push, 0.0)])

    run = km.simulate(slider(upper=0.1), duration=0.6, integrator="rk4", controller=force)
    reached = math.sqrt(2.0 * 0.1 / (push - G))
    held = (run.time > reached + 2e-3) & (run.time < end)
    np.testing.assert_allclose(run.q[held, 0], 0.1, rtol=0.0, atol=INSIDE)
    falling = run.time >= end + 1e-3
    fallen = run.time[falling] - end
    np.testing.assert_allclose(run.q[falling, 0], 0.1 - 0.5 * G * fallen**2, rtol=0.0, atol=2e-2 * fallen[-1])


def test_a_joint_between_two_stops_that_coincide_does_not_move():
    run = km.simulate(pendulum(0.3, 0.3), [0.3], [2.0], duration=0.1, integrator="rk4")
    assert np.abs(run.q - 0.3).max() < INSIDE


def test_a_joint_that_starts_outside_is_brought_back_slowly():
    run = km.simulate(slider(lower=0.0), [-0.02], duration=0.3, integrator="semi_implicit_euler")
    assert np.abs(run.v).max() <= 0.5 + 1e-6  # the velocity of recovery, as of bodies that overlap
    assert abs(run.q[-1, 0]) < INSIDE  # it is thrown up a little and falls back
    assert run.audit.limits_passed[0][:3] == ("lift", 0.0, pytest.approx(0.02))


def test_limits_can_be_switched_off_and_without_any_nothing_changes():
    with_them = pendulum(lower=0.4)
    off, none = km.Simulation(with_them, limits=False), km.Simulation(pendulum())
    assert off.bounds == none.bounds == ()
    np.testing.assert_array_equal(off.run([1.2], duration=0.5).q, none.run([1.2], duration=0.5).q)
    assert off.run([1.2], duration=0.5).audit.limits_passed[0].joint == "hinge"


# --- laws -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4", "midpoint"])
@pytest.mark.parametrize("seed", range(3))
def test_all_random_trees_stay_within_their_limits_and_gain_no_energy(seed, integrator):
    mechanism, q, v = tree(seed)
    run = km.simulate(mechanism, q, v, duration=0.3, integrator=integrator)
    assert outside(mechanism, run.q) < INSIDE
    assert outside(mechanism, km.simulate(mechanism, q, v, duration=0.3, integrator=integrator, limits=False).q) > 1e-3
    allowed = 2e-3 * run.energy.kinetic.max()  # of order one while joints are at stops
    assert (run.energy.total - run.energy.total[0]).max() < allowed


@pytest.mark.parametrize("seed", range(5, 8))
def test_the_impulses_of_stops_are_those_of_the_complementarity_problem(seed):
    """λ ≥ 0, u ≥ t and λ (u − t) = 0 for M (v₁ − v_free) = Jᵀλ, solved by projected Gauss-Seidel on the dense matrices."""
    mechanism, q, v = tree(seed, kinds=("revolute", "prismatic", "universal"))
    mechanism, v = without_friction(mechanism), 3.0 * v
    h, bounds = 1e-3, bounds_of(mechanism)
    near = np.array(q)
    for bound in bounds[::2]:  # half of the joints are at one of their stops
        near[bound.q] = bound.at
    sim = km.Simulation(mechanism, step=h, integrator="semi_implicit_euler")
    after = sim.step(sim.start(near, v)).v
    robot = km.Robot(mechanism)
    M = robot.mass_matrix(near)
    free = v + h * robot.forward_dynamics(near, v, np.zeros(mechanism.nv))
    J = np.zeros((len(bounds), mechanism.nv))
    for row, bound in zip(J, bounds, strict=True):
        row[bound.v] = bound.sign
    target = np.array([-bound.gap(near) / h for bound in bounds])
    W, b = J @ np.linalg.solve(M, J.T), J @ free - target
    impulses = np.zeros(len(bounds))
    for _ in range(20000):
        for k in range(len(bounds)):
            impulses[k] = max(0.0, impulses[k] - (W[k] @ impulses + b[k]) / W[k, k])
    assert (impulses > 1e-6).sum() >= 2
    expected = free + np.linalg.solve(M, J.T @ impulses)
    np.testing.assert_allclose(after, expected, rtol=0.0, atol=1e-6 * (1.0 + np.abs(expected).max()))
    energy = [0.5 * rates @ M @ rates for rates in (free, after)]
    assert energy[1] <= energy[0] * (1.0 + 1e-9)


def test_loops_stop_at_their_limits():
    robot = km.load("four_bar")
    free = km.simulate(robot, duration=1.0, integrator="rk4")
    name = next(joint.name for joint in robot.mechanism.joints if joint.kind.nv)
    column = free.mechanism.v_names.index(name)
    lowest, highest = free.q[:, column].min(), free.q[:, column].max()
    stop = 0.5 * (lowest + highest)
    rising = free.q[0, column] < stop
    limits = km.Limits(upper=stop) if rising else km.Limits(lower=stop)
    joints = (replace(joint, limits=(limits,)) if joint.name == name else joint for joint in robot.mechanism.joints)
    stopping = replace(robot.mechanism, joints=tuple(joints))
    for integrator in ("semi_implicit_euler", "rk4"):
        run = km.simulate(stopping, *robot.start, duration=1.0, integrator=integrator)
        over = run.q[:, column] - stop
        assert (over if rising else -over).max() < INSIDE
        assert abs(over).min() < 1e-6
        assert run.audit.loop_gaps[0].distance < 1e-9
        assert (run.energy.total - run.energy.total[0]).max() < 1e-3 * run.energy.kinetic.max()


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rkf45_adaptive"])
def test_loops_with_limits_that_are_not_reached_move_as_without(integrator):
    robot = km.load("andrews")
    wide = tuple(replace(joint, limits=(km.Limits(-50.0, 50.0),) * joint.kind.nv) for joint in robot.mechanism.joints)
    options = {"duration": 0.02, "integrator": integrator}
    free = km.simulate(robot, **options)
    limited = km.simulate(replace(robot.mechanism, joints=wide), *robot.start, **options)
    np.testing.assert_array_equal(limited.q, free.q)
    np.testing.assert_array_equal(limited.v, free.v)


# --- with contact and drives ------------------------------------------------------------------------------------------
def leg(limits):
    """A block on a vertical rail that carries a foot on a second slider below it."""
    foot = km.Body("foot", 0.5, inertia=(0.01,) * 3, collisions=(km.Geometry(km.Sphere(0.05)),))
    block = km.Body("block", 3.0, inertia=(0.01,) * 3)
    rail = km.Joint("rail", "prismatic", "world", "block", km.pose((0.0, 0.0, 0.5)))
    knee = km.Joint("knee", "prismatic", "block", "foot", km.pose((0.0, 0.0, -0.3)), limits=(limits,))
    return km.Mechanism("leg", (block, foot), (rail, knee))


@pytest.mark.parametrize("integrator", ["auto", "semi_implicit_euler"])
def test_a_stop_carries_what_the_floor_does_not_see(integrator):
    """The leg falls, its foot lands, the block sinks until the knee's stop holds it: the floor then bears the whole weight."""
    mechanism = leg(km.Limits(lower=-0.2, upper=0.1))
    run = km.simulate(mechanism, [0.0, 0.0], duration=1.0, contact="rigid", integrator=integrator)
    assert outside(mechanism, run.q) < INSIDE
    assert run.q[-1, 1] == pytest.approx(0.1, abs=INSIDE)
    assert run.q[-1, 0] + 0.5 - 0.3 + 0.1 == pytest.approx(0.05, abs=1e-6)  # the foot is on the floor
    np.testing.assert_allclose(run.contact.force[-50:, 0, 2], 3.5 * G, rtol=1e-5)
    assert run.audit.contact.penetration < 1e-6
    assert (run.energy.total - run.energy.total[0]).max() < 1e-9


def test_a_stop_and_the_floor_are_hit_in_one_step():
    """The knee is at its stop when the foot lands: block and foot stop together, their momentum going into the floor."""
    mechanism = leg(km.Limits(lower=-0.2, upper=0.0))
    run = km.simulate(mechanism, [0.0, 0.0], duration=0.5, contact="rigid", integrator="semi_implicit_euler")
    first = int(np.argmax(run.contact.force[:, 0, 2] > 0.0))
    fallen = run.v[first, 0]
    assert run.contact.force[first, 0, 2] * 1e-3 == pytest.approx(3.5 * (run.v[first + 1, 0] - fallen + G * 1e-3), rel=1e-6)
    assert np.abs(run.v[first + 2 :]).max() < 1e-6


def test_a_drive_is_at_its_limit_against_a_stop():
    drive = km.PositionDrive(kp=1e5, kd=100.0, limit=40.0)
    run = km.simulate(slider(upper=0.05, drive=drive), duration=0.3, integrator="semi_implicit_euler", inputs={"target": 1.0})
    assert run.q[-1, 0] == pytest.approx(0.05, abs=INSIDE)
    assert (run.tau[:, 0] == 40.0).all()
    assert run.audit.work == pytest.approx(40.0 * 0.05 - 0.5 * run.v[:, 0].max() ** 2, abs=0.05)


@pytest.mark.parametrize("contact", ["penalty", "multipoint"])
def test_other_models_of_contact_have_stops_too(contact):
    mechanism = leg(km.Limits(lower=-0.2, upper=0.1))
    run = km.simulate(mechanism, [0.0, 0.0], duration=0.4, contact=contact)
    assert outside(mechanism, run.q) < INSIDE
    assert run.q[-1, 1] == pytest.approx(0.1, abs=1e-3)


@pytest.mark.parametrize("integrator", ["auto", "semi_implicit_euler"])
def test_drives_stops_and_floor_act_with_the_parameters_of_a_row(integrator):
    """The knee is pushed against its stop while the leg lands, with numbers that are parameters or built into the leg."""

    def built(mass, armature, damping):
        plain = leg(km.Limits(lower=-0.2, upper=0.1))
        drive = km.PositionDrive(kp=2e3, kd=20.0, limit=30.0, armature=0.3)
        knee = replace(plain.joint("knee"), drive=drive, armature=armature, damping=damping)
        return km.Mechanism("leg", (plain.body("block"), replace(plain.body("foot"), mass=mass)), (plain.joint("rail"), knee))

    options = {"contact": "rigid", "integrator": integrator, "inputs": {"target": 0.3}, "outputs": ["tau", "a"]}
    varied = km.Simulation(built(0.5, 0.0, 0.0), parameters=["mass:foot", "armature:knee", "damping:knee"], **options)
    given = {"mass:foot": [0.5, 0.9], "armature:knee": [0.0, 0.2], "damping:knee": [0.0, 3.0]}
    batch = varied.batch(2, parameters=given)
    seen = batch.record(30, every=10)
    for row, numbers in enumerate(zip(*given.values(), strict=True)):
        alone = km.Simulation(built(*numbers), **options).batch(1)
        for name, values in alone.record(30, every=10).items():
            np.testing.assert_allclose(seen[name][row], values[0], rtol=1e-6, atol=1e-6, err_msg=f"{name} {row}")
    assert np.ptp(seen["q"][:, :, 1], axis=1).min() > 0.05


# --- batches ----------------------------------------------------------------------------------------------------------
def test_a_row_of_a_batch_stops_as_a_single_run_does(tmp_path):
    mechanism, q, v = tree(1)
    sim = km.Simulation(mechanism, integrator="rk4")
    batch = sim.batch(np.tile(q, (9, 1)), np.linspace(0.2, 2.0, 9)[:, None] * v)
    batch.step(60)
    for k in (0, 5, 8):
        alone = sim.step(sim.start(q, np.linspace(0.2, 2.0, 9)[k] * v), 60)
        np.testing.assert_allclose(batch.q[k], alone.q, rtol=0.0, atol=1e-12)
    state = sim.step(sim.start(q, v), 30)
    restored = sim.restore(sim.save(state, tmp_path / "state.npz"))
    np.testing.assert_array_equal(sim.step(restored, 30).q, sim.step(state, 30).q)


def test_accelerations_of_outputs_are_means_over_steps_that_stop():
    sim = km.Simulation(slider(upper=0.1), integrator="rk4", outputs=["a"])
    resting = sim.start([0.1], [0.0])
    assert resting.outputs["a"] == pytest.approx(-G)  # it falls off the stop
    moving = sim.start([0.1], [1.0])
    assert moving.outputs["a"] == pytest.approx(-1.0 / 1e-3)
