"""Joints that follow a function of time: closed forms, inverse dynamics, the work of their efforts, and what cannot follow."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.analysis.loop_motion import loops_at
from kumitate.dynamics import Acting, prescribed_dynamics
from kumitate.model import recut
from kumitate.scalar import directional, evaluate, trace

from ..mechanisms import closed_cases, random_mechanism, random_ring, random_state, seeds

FIXED_STEP = ("rk4", "midpoint", "rkf45", "semi_implicit_euler")
EXACT = ("rk4", "rkf45_adaptive", "extrapolated_euler")
RATE = 1.3


def swing(t):
    return 0.3 + 0.5 * np.sin(3.0 * t)


@pytest.mark.parametrize("integrator", [*FIXED_STEP, *EXACT[1:]])
def test_a_driven_pendulum_takes_the_torque_of_its_closed_form(integrator):
    run = km.simulate(km.load("pendulum"), duration=0.6, step=0.01, integrator=integrator, motions={"hinge": swing})
    q, v, a = 0.3 + 0.5 * np.sin(3 * run.time), 1.5 * np.cos(3 * run.time), -4.5 * np.sin(3 * run.time)
    for found, expected in ((run.q, q), (run.v, v), (run.a, a), (run.tau, a + 9.81 * np.sin(q))):
        np.testing.assert_allclose(found[:, 0], expected, atol=1e-13)


@pytest.mark.parametrize("integrator", EXACT)
def test_the_reported_effort_is_that_of_inverse_dynamics_and_its_work_the_energy(integrator):
    robot = km.load("planar_3r")
    run = km.simulate(robot, [0.0, 0.3, 0.2], duration=0.3, step=2e-3, integrator=integrator, motions={"joint2": swing})
    needed = np.array([robot.inverse_dynamics(*state) for state in zip(run.q, run.v, run.a, strict=True)])
    np.testing.assert_allclose(run.tau, needed, atol=1e-12)
    assert np.abs(run.tau[:, 1]).max() > 2.0
    assert run.audit.energy_drift < 1e-7 < abs(run.audit.work)


@pytest.mark.parametrize(**seeds(4))
def test_the_acceleration_given_and_the_effort_found_belong_together(seed):
    """With the effort found, forward dynamics without prescription gives the acceleration that was prescribed."""
    ring = ["prismatic", "revolute", "spherical", "universal", "revolute", "revolute"]
    rng = np.random.default_rng(seed)
    tree = random_state(random_mechanism(rng, ["revolute", "spherical", "prismatic", "universal"]), rng)
    case = closed_cases(seed, random_ring(seed, ring), ["h0"])[0][0] if seed % 2 else tree
    tree, given = case.mechanism.tree, list(case.tau)
    k = [link.v_start for link in tree.links if link.kind.nv == 1][-1]
    vdot, (effort,) = prescribed_dynamics(tree, case.q, case.v, given, Acting((0.3, 0.1, -9.81), prescribed={k: 0.7}))
    assert vdot[k] == 0.7
    given[k] += effort
    again, none = prescribed_dynamics(tree, case.q, case.v, given, Acting((0.3, 0.1, -9.81)))
    assert none == []
    np.testing.assert_allclose(again, vdot, atol=1e-8 * np.abs(vdot).max())


def cranked(t):
    return RATE * t


def four_bar() -> km.Mechanism:
    """Crank 1, coupler 3, rocker 2.5 and ground 2.8 m in the plane x-z."""

    def rod(name, length):
        return km.Body(name, length, (length / 2, 0, 0), (0.0, length**3 / 12, length**3 / 12))

    joints = [
        km.Joint("crank", "revolute", "world", "crank", axis=(0, -1, 0)),
        km.Joint("elbow", "revolute", "crank", "coupler", km.pose(xyz=(1.0, 0, 0)), (0, -1, 0)),
        km.Joint("rocker", "revolute", "world", "rocker", km.pose(xyz=(2.8, 0, 0)), (0, -1, 0)),
    ]
    tip = km.Loop("tip", "revolute", "coupler", "rocker", km.pose(xyz=(3.0, 0, 0)), km.pose(xyz=(2.5, 0, 0)), (0, 1, 0))
    return km.Mechanism("crank_rocker", (rod("crank", 1.0), rod("coupler", 3.0), rod("rocker", 2.5)), tuple(joints), (tip,))


@pytest.mark.parametrize("integrator", ["rk4", "midpoint", "semi_implicit_euler"])
def test_a_four_bar_with_a_steady_crank_has_the_angles_of_its_triangles(integrator):
    robot = km.Robot(four_bar())
    start = robot.assemble([0.0, 0.9, 2.0])
    run = km.simulate(robot, start, duration=4.0, step=0.01, integrator=integrator, motions={"crank": cranked})
    angle = RATE * run.time
    x, z = 2.8 - np.cos(angle), -np.sin(angle)  # from the crank's end to the rocker's pivot
    far = np.hypot(x, z)
    # the triangle of that distance, the coupler and the rocker, with the tip above it
    rocker = np.arctan2(z, x) + np.pi - np.arccos((far**2 + 2.5**2 - 3.0**2) / (5.0 * far))
    np.testing.assert_allclose(np.exp(1j * run.q[:, 2]), np.exp(1j * rocker), atol=1e-12)
    np.testing.assert_allclose(run.v[:, 0], RATE, atol=1e-13)
    power = run.tau[:, 0] * RATE  # the only effort there is
    rate = np.gradient(run.energy.total, run.time, edge_order=2)
    np.testing.assert_allclose(power[2:-2], rate[2:-2], atol=2e-3 * np.abs(power).max())


@pytest.mark.parametrize("motion", [cranked, km.PrescribedMotion(velocity=lambda t: RATE + 0.2 * np.sin(t))])
def test_a_loop_joint_that_follows_a_motion_moves_and_resists_as_one_of_the_tree(motion):
    """The loop cut at the crank: the coordinates are others, the motion of all bodies and the crank's effort are the same."""
    options = {"duration": 1.0, "step": 0.01, "integrator": "rk4", "motions": {"crank": motion}}
    tree, loop = four_bar(), recut(four_bar(), "tip", "crank")
    start = km.Robot(tree).assemble([0.0, 0.9, 2.0])
    known = dict(zip(tree.q_names, start, strict=True)) | {"tip": float(loops_at(tree, start, np.zeros(3))["loop_q"][0])}
    far = km.Robot(loop).assemble([known[name] for name in loop.q_names])
    np.testing.assert_allclose(far, [known[name] for name in loop.q_names], atol=1e-12)
    one, other = km.simulate(tree, start, **options), km.simulate(loop, far, **options)
    assert "crank" not in loop.q_names
    k, m = tree.q_names.index("crank"), other.mechanism.q_names.index("crank")
    np.testing.assert_allclose(np.exp(1j * other.q[:, m]), np.exp(1j * one.q[:, k]), atol=1e-9)
    bodies = [[body.name for body in run.mechanism.bodies] for run in (one, other)]
    for name in ("coupler", "rocker"):
        np.testing.assert_allclose(other.poses()[:, bodies[1].index(name)], one.poses()[:, bodies[0].index(name)], atol=1e-7)
    np.testing.assert_allclose(other.tau[:, m], one.tau[:, k], rtol=0.0, atol=1e-6 * np.abs(one.tau[:, k]).max())


def test_steps_batches_and_files_have_the_coordinate_of_a_loop_joint_that_follows_a_motion(tmp_path):
    robot = km.Robot(four_bar())
    start = robot.assemble([1.2, 0.2, 2.2])
    first = float(loops_at(robot.mechanism, start, np.zeros(3))["loop_q"][0])
    options = {"motions": {"tip": lambda t: first + 0.2 * np.sin(t)}, "integrator": "rk4", "step": 0.01}
    simulation = km.Simulation(robot, start=(start, np.zeros(3)), outputs=["energy"], **options)
    run = simulation.run(duration=0.2)
    k = run.mechanism.q_names.index("tip")
    np.testing.assert_allclose(run.q[:, k], first + 0.2 * np.sin(run.time), atol=1e-14)
    batch = simulation.batch(3)
    batch.step(20)
    np.testing.assert_allclose(batch.q, np.tile(run.q[-1], (3, 1)), atol=1e-12)
    again = km.open(run.save(tmp_path / "run.h5"))
    np.testing.assert_array_equal(again.q, run.q)
    # the motion does what the tip's effort does: the wrench that ties its body, about its axis
    assert list(run.loops) == ["tip"]
    tip = run.loops["tip"]
    assert np.isfinite(tip.wrench).all()
    np.testing.assert_allclose(np.abs(run.tau[:, k]), np.abs(tip.wrench[:, 1]), rtol=1e-6)
    np.testing.assert_allclose(tip.effort[:, 0], run.tau[:, k], rtol=1e-6)
    for seen, own in ((tip.q, run.q), (tip.v, run.v), (tip.a, run.a), (tip.tau, run.tau)):
        np.testing.assert_array_equal(seen, own[:, [k]])
    free = km.simulate(robot, start, duration=0.2, step=0.01, integrator="rk4").loops["tip"]
    assert (free.q.shape, free.effort.shape, free.wrench.shape) == (tip.q.shape, tip.effort.shape, tip.wrench.shape)


def test_motions_of_loop_joints_that_fight_a_loop_are_refused_by_their_names():
    with pytest.raises(km.InputError, match="joints 'crank', 'tip' and loop 'tip_closed' determine each other"):
        km.simulate(four_bar(), [0.0, 0.9, 2.0], duration=0.1, motions={"crank": cranked, "tip": lambda t: 2.0 + t})


def test_motions_that_fight_a_loop_are_refused_before_the_run():
    with pytest.raises(km.InputError, match="joints 'crank', 'rocker' and loop 'tip' determine each other"):
        km.simulate(four_bar(), [0.0, 0.9, 2.0], duration=0.1, motions={"crank": cranked, "rocker": lambda t: 2.0 + t})


@pytest.mark.parametrize(
    ("motions", "told"),
    [
        ({"hing": swing}, "'hing', which is not a joint, did you mean 'hinge'?"),
        ({"hinge": 0.3}, "a prescribed motion is 0.3; it must be a function of time"),
        ({"hinge": lambda t: float(t)}, "must be a function of time that can be compiled"),
    ],
)
def test_what_is_not_a_motion_is_refused(motions, told):
    with pytest.raises(km.InputError, match=re.escape(told)):
        km.simulate(km.load("pendulum"), duration=0.1, motions=motions)


def test_loops_drives_and_joints_of_several_freedoms_are_refused():
    held = km.load("pendulum").with_drives({"hinge": km.PositionDrive(kp=1.0)})
    with pytest.raises(km.InputError, match="follows a prescribed motion and has a drive"):
        km.simulate(held, duration=0.1, motions={"hinge": swing})
    rod = replace(four_bar(), loops=(km.Loop("rod", km.Distance(1.0), "world", "rocker"),))
    with pytest.raises(km.InputError, match="'rod', which is a loop of kind distance: a motion is of one degree of freedom"):
        km.simulate(rod, duration=0.1, motions={"rod": swing})
    with pytest.raises(km.InputError, match="a floating joint, cannot be prescribed"):
        km.simulate(km.load("free_rod"), duration=0.1, motions={km.load("free_rod").mechanism.joints[0].name: swing})


def test_a_foot_drawn_over_the_floor_takes_inertia_and_friction():
    foot = km.Body("foot", 2.0, inertia=(0.01,) * 3, collisions=(km.Geometry(km.Sphere(0.1)),))
    joints = (
        km.Joint("along", "prismatic", "world", "car", axis=(1, 0, 0)),
        km.Joint("up", "prismatic", "car", "foot", km.pose(xyz=(0, 0, 0.1)), (0, 0, 1)),
    )
    mechanism = km.Mechanism("drawn", (km.Body("car", 1.0, inertia=(0.01,) * 3), foot), joints)
    motion = km.PrescribedMotion(velocity=lambda t: 0.5 + 0.3 * t)
    run = km.simulate(mechanism, duration=0.2, contact="rigid", motions={"along": motion})
    np.testing.assert_allclose(run.tau[:-1, 0], 3.0 * 0.3 + 0.5 * 2.0 * 9.81, rtol=1e-6)
    np.testing.assert_allclose(run.v[:, 0], 0.5 + 0.3 * run.time, atol=1e-14)
    assert run.audit.energy_drift < 1e-6


def test_batches_and_single_steps_are_those_of_a_run():
    robot = km.load("planar_3r")
    sim = km.Simulation(robot, integrator="rk4", step=5e-3, motions={"joint2": swing}, outputs=["tau"])
    run = sim.run(duration=0.2)
    one, many = sim.step(sim.start(), 40), sim.batch(3)
    many.step(40)
    for found in (one.q, *many.q):
        np.testing.assert_allclose(found, run.q[-1], atol=1e-14)
    np.testing.assert_allclose(many.outputs["tau"], np.tile(run.tau[-1], (3, 1)), atol=1e-11)
    assert run.q[0, 1] == swing(0.0)  # where the motion begins, whatever the start says
    assert any("joint 'joint2' begins where its prescribed motion does" in note for note in run.audit.notes)


def test_derivatives_of_derivatives_have_names_of_their_own():
    twice = directional(directional(trace(lambda x: [x[0] * x[0] * x[0]], {"x": 1}, "cube")))
    value, rate, other, second = evaluate(twice, [2.0, 1.0, 1.0, 0.0])
    assert (value, rate, other, second) == (8.0, 12.0, 12.0, 12.0)
