"""Stops of joints that close loops: closed forms, other cuts of the same mechanism, contact, batches, and what is no stop."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.analysis import loop_equations
from kumitate.errors import InputError
from kumitate.model import bounds_of
from kumitate.records.audit import limits_passed

from ..mechanisms import closed_cases, random_ring

G = 9.81
#: How far joints may be outside their limits [rad, m].
INSIDE = 1e-9
INTEGRATORS = ["semi_implicit_euler", "rk4", "rkf45", "rkf45_adaptive", "extrapolated_euler"]
CRANK, ROD = 0.5, 1.2


def slider_crank(**slider):
    """A crank about y, a rod, and a block on a rail along x that closes the loop; neutral is level, the block outside."""
    crank = km.Body("crank", 2.0, (0.5 * CRANK, 0.0, 0.0), (0.01, 0.05, 0.05))
    rod = km.Body("rod", 1.0, (0.5 * ROD, 0.0, 0.0), (0.01, 0.12, 0.12))
    block = km.Body("block", 0.7, inertia=(0.001,) * 3)
    joints = (
        km.Joint("crank", "revolute", "world", "crank", axis=(0, 1, 0)),
        km.Joint("pin", "revolute", "crank", "rod", km.pose((CRANK, 0, 0)), axis=(0, 1, 0)),
        km.Joint("wrist", "revolute", "rod", "block", km.pose((ROD, 0, 0)), axis=(0, 1, 0)),
    )
    rail = km.Loop("rail", "prismatic", "world", "block", axis=(1, 0, 0), **slider)
    return km.Mechanism("slider_crank", (crank, rod, block), joints, (rail,))


def crank_at(angle):
    """q with the crank raised by an angle, and where the block is then."""
    rod = math.asin(CRANK / ROD * math.sin(angle))
    return [-angle, angle + rod, -rod], CRANK * math.cos(angle) + ROD * math.cos(rod)


def limited(mechanism, name, limits, k=0):
    """The mechanism with these limits of one degree of freedom of a joint, of the tree or a loop."""

    def changed(item):
        own = [limits if i == k else one for i, one in enumerate(item.limits)]
        return replace(item, limits=tuple(own)) if item.name == name else item

    return replace(mechanism, joints=tuple(map(changed, mechanism.joints)), loops=tuple(map(changed, mechanism.loops)))


def coordinate(run, name, k=0):
    """One coordinate of a joint of the tree or a loop along a run."""
    if name in run.loops:
        return run.loops[name].q[:, k]
    names = [joint.name for joint in run.mechanism.joints]
    return run.q[:, sum(joint.kind.nq for joint in run.mechanism.joints[: names.index(name)]) + k]


# --- closed forms -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_slider_stops_where_geometry_says_and_its_crank_with_it(integrator):
    """The crank falls from 60° until the block, moving outwards, is at its stop; the arrival speed is that of the energy."""
    stop_angle = math.radians(35.0)
    q, _ = crank_at(math.radians(60.0))
    _, at = crank_at(stop_angle)
    free = km.simulate(slider_crank(), q, duration=0.5, integrator=integrator)
    run = km.simulate(slider_crank(limits=(km.Limits(upper=at),)), q, duration=0.5, integrator=integrator)
    before = free.loops["rail"].q[:, 0] < at - 1e-5
    arrival = int(np.argmin(before))
    assert 50 < arrival < 450
    np.testing.assert_array_equal(run.q[:arrival], free.q[:arrival])
    assert (run.loops["rail"].q[:, 0] - at).max() < INSIDE
    np.testing.assert_allclose(run.q[arrival + 1 :, 0], -stop_angle, rtol=0.0, atol=INSIDE)
    assert np.abs(run.v[arrival + 2 :]).max() < 1e-6
    assert (run.energy.total - run.energy.total[0]).max() < 1e-6 * run.energy.kinetic.max()
    assert run.audit.work == pytest.approx(run.energy.total[-1] - run.energy.total[0], rel=2e-2)
    assert run.audit.loop_gaps[0].distance < 1e-12
    assert run.audit.limits_passed == ()


def test_a_slider_stops_there_where_gaps_of_its_loop_decay():
    """Without a projection, `baumgarte` keeps the loop closed to a part of a millimetre, and the stop is where it was."""
    _, at = crank_at(math.radians(35.0))
    q, _ = crank_at(math.radians(60.0))
    run = km.simulate(
        slider_crank(limits=(km.Limits(upper=at),)), q, duration=0.5, integrator="semi_implicit_euler", baumgarte=50.0
    )
    np.testing.assert_allclose(run.q[-1, 0], -math.radians(35.0), atol=1e-3)
    assert np.abs(run.v[-1]).max() < 1e-3


@pytest.mark.parametrize("part", [0.999, 1.001])
def test_the_force_of_a_stop_is_that_of_virtual_work(part):
    """At rest on the stop F dx = −dU: a drive that pushes the block back by a little less leaves it there, by more frees it."""
    angle, move = math.radians(35.0), 1e-6
    (q, at), (_, next_at) = crank_at(angle), crank_at(angle + move)
    heights = [1.0 * 0.5 * CRANK * 2.0 * math.sin(x) + 0.5 * CRANK * math.sin(x) for x in (angle, angle + move)]
    force = G * (heights[1] - heights[0]) / (next_at - at)  # both masses rise where the block moves inwards
    run = km.simulate(
        slider_crank(limits=(km.Limits(upper=at),)), q, duration=0.2, integrator="semi_implicit_euler",
        loop_tau={"rail": [part * force]},
    )  # fmt: skip
    moved = run.loops["rail"].q[-1, 0] - at
    assert abs(moved) < INSIDE if part < 1.0 else moved < -1e-6


def test_a_rope_is_a_line_with_a_longest_length():
    """A mass falls until its rope is taut, keeps the velocity at right angles to it, and is a pendulum from then on."""
    length, offset = 1.0, 0.6
    bodies = (km.Body("carrier"), km.Body("mass", 2.0, inertia=(0.001,) * 3))
    rails = (
        km.Joint("along", "prismatic", "world", "carrier", axis=(1, 0, 0)),
        km.Joint("up", "prismatic", "carrier", "mass", axis=(0, 0, 1)),
    )
    rope = km.Loop("rope", km.Line(), "world", "mass", limits=(km.Limits(upper=length),))
    run = km.simulate(km.Mechanism("roped", bodies, rails, (rope,)), [offset, 0.0], duration=1.0, step=1e-4, integrator="rk4")
    assert (run.loops["rope"].q[:, 0] - length).max() < INSIDE
    depth = math.sqrt(length**2 - offset**2)
    taut = run.time > math.sqrt(2.0 * depth / G) + 3e-4
    np.testing.assert_allclose(run.loops["rope"].q[taut & (run.time < 0.8), 0], length, rtol=0.0, atol=1e-7)
    kept = 0.5 * 2.0 * (2.0 * G * depth) * (offset / length) ** 2  # of the kinetic energy when the rope becomes taut
    lowest = int(np.argmin(run.q[:, 1]))
    assert run.energy.kinetic[lowest] == pytest.approx(kept + 2.0 * G * (length - depth), rel=2e-3)
    assert (np.diff(run.energy.total) < 1e-6).all()


# --- laws -------------------------------------------------------------------------------------------------------------
RINGS = {
    "planar": (["revolute", "revolute", "prismatic", "revolute"], {"planar": True}, "h3", "h0", 0),
    "slider": (["revolute", "revolute", "prismatic", "revolute"], {"planar": True}, "h3", "h2", 0),
    "cylindrical": (["revolute", "cylindrical", "spherical", "cylindrical"], {}, "h2", "h3", 1),
}


def two_cuts(ring, step, integrator):
    """Runs of a random ring cut at a joint without limits and at the one that has one, which the motion reaches."""
    kinds, options, cut, joint, k = RINGS[ring]
    cases = [case for case, _ in closed_cases(4, random_ring(4, kinds, **options), [cut], [joint])]
    options = {"duration": 0.12, "integrator": integrator, "step": step}
    free = coordinate(km.simulate(cases[0].mechanism, cases[0].q, cases[0].v, **options), joint, k)
    at = free[len(free) // 2]
    limits = km.Limits(lower=at) if free[0] > at else km.Limits(upper=at)
    runs = [km.simulate(limited(case.mechanism, joint, limits, k), case.q, case.v, **options) for case in cases]
    sign = 1.0 if free[0] > at else -1.0
    assert (sign * (at - free)).max() > 1e-3
    return runs, [coordinate(run, joint, k) for run in runs], sign, at


@pytest.mark.parametrize("ring", RINGS)
def test_a_loop_joint_stops_as_where_it_is_of_the_tree(ring):
    """Both cuts arrive in the same step, at the stop itself, though its coordinate is linear in those of one cut only."""
    runs, cuts, sign, at = two_cuts(ring, 1e-3, "rk4")
    np.testing.assert_allclose(*cuts, rtol=0.0, atol=INSIDE)
    assert runs[1].audit.work == pytest.approx(runs[0].audit.work, rel=1e-4)
    for run, own in zip(runs, cuts, strict=True):
        assert (sign * (at - own)).max() < INSIDE
        assert np.diff(run.energy.total).max() < 1e-9 * run.energy.kinetic.max()
        assert run.audit.limits_passed == ()


def two_legs():
    """A leg whose knee is of the tree, and one whose foot has a rail of its own, so that the knee closes a loop."""
    limits = km.Limits(lower=-0.2, upper=0.1)
    foot = km.Body("foot", 0.5, inertia=(0.01,) * 3, collisions=(km.Geometry(km.Sphere(0.05)),))
    block = km.Body("block", 3.0, inertia=(0.01,) * 3)
    rail = km.Joint("rail", "prismatic", "world", "block", km.pose((0.0, 0.0, 0.5)))
    knee = km.Joint("knee", "prismatic", "block", "foot", km.pose((0.0, 0.0, -0.3)), limits=(limits,))
    own = km.Joint("own", "prismatic", "world", "foot", km.pose((0.0, 0.0, 0.2)))
    closing = km.Loop("knee", "prismatic", "block", "foot", km.pose((0.0, 0.0, -0.3)), limits=(limits,))
    return km.Mechanism("leg", (block, foot), (rail, knee)), km.Mechanism("leg", (block, foot), (rail, own), (closing,))


@pytest.mark.parametrize("integrator", ["auto", "semi_implicit_euler"])
def test_a_stop_in_a_loop_and_the_floor_act_together(integrator):
    """The leg lands on its foot and sinks until the knee's stop holds the block: the floor then bears the whole weight."""
    options = {"duration": 1.0, "contact": "rigid", "integrator": integrator}
    tree, loop = (km.simulate(mechanism, [0.0, 0.0], **options) for mechanism in two_legs())
    np.testing.assert_allclose(loop.loops["knee"].q[:, 0], tree.q[:, 1], rtol=0.0, atol=INSIDE)
    np.testing.assert_allclose(loop.q[:, 0], tree.q[:, 0], rtol=0.0, atol=INSIDE)
    assert (loop.loops["knee"].q[:, 0] - 0.1).max() < INSIDE
    np.testing.assert_allclose(loop.contact.force[-50:, 0, 2], 3.5 * G, rtol=1e-6)
    assert np.diff(loop.energy.total).max() < 1e-9


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_two_bodies_that_a_stop_joins_go_on_with_their_common_momentum(integrator):
    """A plastic impact between bodies on rails of their own: 0.5 kg at 1 m/s takes 3 kg along at 1/7 m/s."""
    weightless = replace(two_legs()[1], gravity=(0.0, 0.0, 0.0))
    run = km.simulate(weightless, [0.0, 0.0], [0.0, 1.0], duration=0.2, integrator=integrator)
    np.testing.assert_allclose(run.momentum[:, 5], 0.5, rtol=1e-9)
    np.testing.assert_allclose(run.v[-1], 1.0 / 7.0, rtol=0.0, atol=2e-7)  # twice the tolerance of stops
    assert run.audit.work == pytest.approx(-0.5 * (3.0 * 0.5 / 3.5) * 1.0**2, rel=1e-5)  # the reduced mass


def test_a_drive_in_a_loop_joint_is_at_its_limit_against_the_stop():
    q, at = crank_at(1.0)
    drive = km.PositionDrive(kp=1e5, kd=100.0, limit=60.0)
    mechanism = slider_crank(drive=drive, limits=(km.Limits(upper=at + 0.05),))
    run = km.simulate(mechanism, q, duration=0.3, integrator="semi_implicit_euler", inputs={"target": at + 1.0})
    assert run.loops["rail"].q[-1, 0] == pytest.approx(at + 0.05, abs=INSIDE)
    assert (run.loop_tau["rail"] == 60.0).all()
    assert list(run.loop_tau) == ["rail"]
    assert run.audit.limits_passed == ()


# --- batches, derivatives, reports ------------------------------------------------------------------------------------
def stopping_crank():
    """The slider-crank with a stop that it reaches when the crank has fallen from 60° to 35°."""
    return slider_crank(limits=(km.Limits(upper=crank_at(math.radians(35.0))[1]),))


def test_a_row_of_a_batch_stops_as_a_single_run_does():
    sim = km.Simulation(stopping_crank(), integrator="rk4")
    starts = np.array([crank_at(angle)[0] for angle in np.linspace(0.7, 1.2, 9)])
    batch = sim.batch(starts)
    batch.step(300)
    for k in (0, 5, 8):
        alone = sim.step(sim.start(starts[k]), 300)
        np.testing.assert_allclose(batch.q[k], alone.q, rtol=0.0, atol=1e-11)
        np.testing.assert_allclose(batch.v[k], alone.v, rtol=0.0, atol=1e-8)
    assert np.ptp(np.abs(batch.v).max(axis=1)) > 1.0  # some are at the stop, and some still fall


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_where_a_step_ends_at_a_stop_does_not_depend_on_where_it_began(integrator):
    """One degree of freedom: the derivatives of q after the step are zero, and those of v are −1/h of those of q before it."""
    sim = km.Simulation(stopping_crank(), integrator=integrator, start=(crank_at(math.radians(60.0))[0], None))
    run = sim.run(duration=0.4)
    arrival = int(np.argmax(run.loops["rail"].q[:, 0] > sim.bounds[0].at - 1e-6))
    for k in (arrival - 1, arrival + 20):
        slopes = sim.slopes(sim.start(run.q[k], run.v[k]))
        assert slopes.active.lines() == [f"'rail' at {sim.bounds[0].at:g}: holding"]
        along = np.linalg.svd(loop_equations(sim.mechanism).state(run.q[k], run.v[k]).J)[2][-1]  # which keeps the loop closed
        assert np.abs(slopes.A[:, 3:] @ along).max() < 1e-4
        assert np.abs(slopes.A[:3, :3] @ along).max() < 1e-4
        np.testing.assert_allclose(slopes.A[3:, :3] @ along, -along / 1e-3, rtol=0.0, atol=20.0)
    assert sim.slopes(sim.start(run.q[arrival - 9], run.v[arrival - 9])).active.lines() == []


def test_the_audit_names_loop_joints_beyond_their_limits():
    q, at = crank_at(math.radians(60.0))
    mechanism = slider_crank(limits=(km.Limits(upper=at + 0.1, velocity=0.5),))
    run = km.simulate(mechanism, q, duration=0.4, integrator="rk4", limits=False)
    place, speed = run.loops["rail"].q[:, 0], run.loops["rail"].v[:, 0]
    position, velocity = run.audit.limits_passed
    assert position == ("rail", run.time[np.argmax(place > at + 0.1)], pytest.approx(place.max() - at - 0.1), "position")
    assert velocity == ("rail", run.time[np.argmax(speed > 0.5)], pytest.approx(speed.max() - 0.5), "velocity")
    assert any("limits passed at rail" in line for line in run.audit.lines())


def test_the_limits_of_a_loop_joint_in_a_file_are_stops(tmp_path):
    """A URDF whose loop joint has a <limit>: the crank falls until it is reached."""
    q, at = crank_at(math.radians(60.0))
    made = slider_crank(limits=(km.Limits(upper=at + 0.2, effort=50.0),))
    robot = km.load(km.Robot(made).save(tmp_path / "crank.urdf"))
    assert robot.mechanism.loops[0].limits == made.loops[0].limits
    run = km.simulate(robot, q, duration=0.4, integrator="rk4")
    assert run.loops["rail"].q[-1, 0] == pytest.approx(at + 0.2, abs=INSIDE)
    np.testing.assert_allclose(run.q, km.simulate(made, q, duration=0.4, integrator="rk4").q, rtol=0.0, atol=1e-9)
    assert not any("stops" in note for note in run.audit.notes)


# --- angles and turns -------------------------------------------------------------------------------------------------
def test_angles_of_loop_joints_are_taken_near_the_middle_of_their_range():
    def gaps(angle, **limits):
        bounds = bounds_of(slider_crank_by("revolute", **limits))
        return [float(bound.gap([0.0, 0.0, 0.0, angle])) for bound in bounds]

    np.testing.assert_allclose(gaps(-3.1, lower=2.5, upper=3.5), [math.tau - 5.6, 6.6 - math.tau], atol=1e-12)
    np.testing.assert_allclose(gaps(3.1, lower=-3.5, upper=-2.5), [6.6 - math.tau, math.tau - 5.6], atol=1e-12)
    np.testing.assert_allclose(gaps(-3.1, lower=6.0, upper=7.0), [2.0 * math.tau - 9.1, 10.1 - 2.0 * math.tau], atol=1e-12)
    np.testing.assert_allclose(gaps(-3.1, lower=0.0), [math.tau - 3.1], atol=1e-12)  # half a turn, and a quarter beyond it
    np.testing.assert_allclose(gaps(-0.1, lower=0.0), [-0.1], atol=1e-12)
    assert gaps(0.0, lower=-3.1, upper=3.1) == []


@pytest.mark.parametrize(
    ("lower", "upper", "excess"), [(2.5, 3.5, None), (-3.5, -2.5, None), (6.0, 7.0, 2.0 * math.tau - 10.1)]
)
def test_the_audit_takes_angles_of_loop_joints_near_the_middle_of_their_range(lower, upper, excess):
    """From −3.1 on, through half a turn: within half a radian of ±π, and two turns on in the last range."""
    mechanism = slider_crank_by("revolute", lower=lower, upper=upper)
    q = np.array([[0.0, 3.1, 0.0], [0.0, 3.2, 0.0]])
    passed = limits_passed(mechanism, np.array([0.0, 1.0]), q, np.zeros((2, 3)), np.zeros((2, 3)))
    assert passed == (() if excess is None else (("wrist", 0.0, pytest.approx(excess), "position"),))


def test_no_limit_is_overlooked():
    """Cosines tell that an angle is far from its limits; narrow ranges, in which they cannot, are looked at closely."""
    rng = np.random.default_rng(3)
    for width in (1e-6, 1e-3, 0.3, 3.0, 6.0):
        middle = rng.uniform(-7.0, 7.0)
        lower, upper = middle - 0.5 * width, middle + 0.5 * width
        bounds = bounds_of(slider_crank_by("revolute", lower=lower, upper=upper))
        for angle in (lower - 1e-9, upper + 1e-9, upper + 0.1, lower - 0.1, middle):
            q, facing = [math.remainder(angle, math.tau)] * 4, {3: (2.0 * math.sin(angle), 2.0 * math.cos(angle))}
            assert any(bool(bound.near(q, facing)) for bound in bounds) == (angle != middle), (width, angle)


def slider_crank_by(kind, **limits):
    """The slider-crank with its wrist as the joint that closes the loop, or another kind in its place."""
    plain = slider_crank()
    joints = (*plain.joints[:2], km.Joint("rail", "prismatic", "world", "block", axis=(1, 0, 0)))
    wrist = km.Loop("wrist", kind, "rod", "block", km.pose((ROD, 0, 0)), axis=(0, 1, 0), limits=(km.Limits(**limits),))
    return km.Mechanism("slider_crank", plain.bodies, joints, (wrist,))


def test_limits_that_are_no_stops_are_said_and_starts_outside_are_refused():
    q, at = crank_at(1.0)
    wide = slider_crank_by("revolute", lower=-3.1, upper=3.1)
    assert any("limits of loop joints ('wrist'): not all are stops" in note for note in km.Simulation(wide).notes)
    assert not km.Simulation(wide, limits=False).notes
    outside = slider_crank(limits=(km.Limits(lower=at + 0.1),))
    with pytest.raises(InputError, match=rf"joint 'rail' starts at {at:.6g}, outside its lower limit {at + 0.1:.6g}"):
        km.simulate(outside, q, duration=0.01)
    free = km.simulate(outside, q, duration=0.01, limits=False)
    np.testing.assert_array_equal(free.q, km.simulate(slider_crank(), q, duration=0.01).q)
