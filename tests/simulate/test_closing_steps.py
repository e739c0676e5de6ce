"""Steps that begin by closing what the last one left open: one linearised projection with the factors of the accelerations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.analysis import LoopEquations
from kumitate.dynamics import (
    Acting,
    aba_with_loops,
    chord_closings,
    closing_step,
    constraint_rows,
    crba,
    link_motions,
    loop_jacobian,
    projected,
)  # fmt: skip
from kumitate.examples.gallery import cassie
from kumitate.kinematics import difference, integrate
from kumitate.model.samples import bricard, four_bars, four_bars_start, planar_4r
from kumitate.simulate.stepping.equations import RESOLVED, usual_shares

from ..mechanisms import closed_cases, near, random_ring, seeds
from ..references.test_singular_passages import leaning, posture

RINGS = {
    "spatial": (["revolute", "universal", "spherical", "revolute", "revolute", "prismatic"], {}),
    "floating": (["spherical", "revolute", "universal", "revolute", "revolute", "prismatic"], {"base": "floating"}),
}


def four_bar() -> km.Mechanism:
    chain = km.load("planar_3r").mechanism
    tip = km.Loop("joint4", "revolute", "world", "link3", km.pose((1.3, 0, 0)), km.pose((0, 0, 1)), axis=(0, 1, 0))
    return replace(chain, name="four_bar", loops=(tip,))


def fast(mechanism: km.Mechanism, q, speed: float, **options) -> km.Simulation:
    """A simulation that starts from the closed posture next to q, with joints at about this speed [rad/s]."""
    robot = km.Robot(mechanism)
    start = robot.assemble(np.array(q), speed * np.random.default_rng(0).normal(size=mechanism.nv))
    return km.Simulation(robot, start=start, **options)


def swinging(*, driven: bool = False, **options) -> km.Simulation:
    drives = {"joint1": km.PositionDrive(kp=60.0, kd=2.0, limit=20.0), "joint2": km.VelocityDrive(kd=0.5)}
    return fast(four_bar().with_drives(drives if driven else {}), [1.0, 0.5, 2.7], 5.0, **options)


# --- the page: what a step begins with ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("implicit", [False, True], ids=["explicit", "implicit"])
@pytest.mark.parametrize("ring", RINGS)
@pytest.mark.parametrize(**seeds(2))
def test_the_beginning_of_a_step_is_a_newton_step_in_the_metric_of_the_mass_matrix(seed, ring, implicit):
    kinds, options = RINGS[ring]
    case, _ = closed_cases(seed, random_ring(seed, kinds, passive=False, **options), ["h2"])[0]
    mechanism, rng, h = case.mechanism, np.random.default_rng(seed), 1e-3
    tree, equations, tau = mechanism.tree, LoopEquations(mechanism), rng.normal(size=mechanism.nv).tolist()
    away, kick = rng.normal(size=(2, mechanism.nv))
    gaps = []
    for size in (1e-3, 1e-4):
        q = integrate(tree, case.q, (size * away).tolist())
        v = (np.array(case.v) + size * kick).tolist()
        begun = closing_step(tree, q, v, tau, Acting(mechanism.gravity, implicit_step=h if implicit else 0.0))
        free = np.array(aba_with_loops(tree, q, v, tau, Acting(mechanism.gravity)))
        change = (np.array(begun.acceleration) - free) * h if implicit else np.array(begun.change)
        if implicit:
            assert begun.change == [0.0] * mechanism.nv
        else:
            near(begun.acceleration, free, 1e-12)
        there = integrate(tree, q, begun.move)
        gaps.append((np.abs(equations.state(there, v).error).max(), np.abs(equations.state(q, v + change).rate).max()))
        # the other route: the projection that factors for itself, at the posture where it starts and where it arrives
        other_q, _ = projected(tree, q, v)
        near(difference(tree, other_q, there), np.zeros(mechanism.nv), 1e-5 * size)
        near(v + change, projected(tree, q, v, velocities_only=True)[1], 1e-5 * size)
    assert gaps[0][0] < 30.0 * 1e-6
    assert gaps[1][0] < 0.02 * gaps[0][0]
    assert gaps[1][1] < 2e-8


@pytest.mark.parametrize(**seeds(2))
def test_rows_that_are_soft_are_not_moved(seed):
    """An armature along a loop's freedom is inertia, not a constraint: it has no error, and no step opens it."""
    case, _ = closed_cases(seed, random_ring(seed, RINGS["spatial"][0]), ["h2"])[0]
    mechanism, q, v, opening = case.mechanism, list(case.q), list(case.v), 0.5e-6
    tree, equations = mechanism.tree, LoopEquations(mechanism)
    begun = closing_step(tree, q, v, [0.0] * tree.nv, Acting(mechanism.gravity), opening)
    # the rigid rows are moved by what the step will open, opening J̇v
    later, before = (equations.state(integrate(tree, q, (s * np.array(v)).tolist()), v) for s in (1e-5, -1e-5))
    drift = (later.rate - before.rate) / 2e-5
    J = equations.state(q, v).J
    near(J @ begun.move / opening, drift, 1e-6)
    # and in the metric of M with the armatures, nothing is along what the loops leave free
    motions = link_motions(tree, q, v)
    soft = [row for row in constraint_rows(tree, chord_closings(tree, q, v), q, v, motions) if row.softness > 0.0]
    along = np.array(loop_jacobian(tree, motions, soft), dtype=float)
    inertia = np.diag([1.0 / row.softness for row in soft])
    M = np.array(crba(tree, q), dtype=float) + along.T @ inertia @ along
    free = np.eye(tree.nv) - np.linalg.pinv(J, rcond=1e-9) @ J
    assert len(soft)
    near(free @ M @ begun.move / opening, np.zeros(tree.nv), 1e-5)


@pytest.mark.parametrize(
    ("mechanism", "rank"), [(planar_4r(), 2), (leaning(planar_4r()), 2), (four_bars(3), 6), (four_bars(5), 10), (bricard(), 4)],
    ids=["upright", "leaning", "three", "five", "redundant"],
)  # fmt: skip
def test_as_many_rows_are_usually_resolved_as_at_regular_postures(mechanism, rank):
    """Of four_bars(5), no posture near the default start is regular: there, bars lie on each other and turn on their own."""
    usual = np.array(usual_shares(mechanism))
    assert np.count_nonzero(usual < RESOLVED) == rank
    if mechanism.nv == 3:
        tree, still, at_rest = mechanism.base_parameter_tree, [0.0] * 3, Acting((0.0, 0.0, 0.0))
        shares = [closing_step(tree, posture(a).tolist(), still, still, at_rest).shares for a in (0.7, 0.1, 0.01)]
        assert [np.count_nonzero(np.array(seen) < RESOLVED) for seen in shares] == [rank, rank, rank]
        for delta in (0.1, 0.01, 1e-3):  # the share of the row that is lost grows as 1/δ², but for the damping itself
            at = closing_step(tree, posture(np.pi / 2 - delta).tolist(), still, still, at_rest).shares
            lost = np.array(at)[usual < RESOLVED].max()
            assert 0.1 < lost / (1.0 - lost) * delta**2 / usual[usual < RESOLVED].max() < 10.0


def test_the_pace_of_a_loop_is_that_of_its_own_joints():
    """A car carries a slider crank: its own motion counts for nothing, sliding counts over the mechanism's size."""
    bodies = [km.Body(name, 1.0, (0.1, 0, 0), (0.1, 0.1, 0.1)) for name in ("car", "crank", "rod", "slide")]
    joints = (
        km.Joint("drive", "prismatic", "world", "car", axis=(1, 0, 0)),
        km.Joint("turn", "revolute", "car", "crank", axis=(0, 1, 0)),
        km.Joint("knee", "revolute", "crank", "rod", km.pose((0.3, 0, 0)), axis=(0, 1, 0)),
        km.Joint("rail", "prismatic", "car", "slide", axis=(1, 0, 0)),
    )
    pin = km.Loop("pin", "revolute", "rod", "slide", km.pose((0.6, 0, 0)), km.pose((0, 0, 0)), axis=(0, 1, 0))
    tree, still = km.Mechanism("carried", tuple(bodies), joints, (pin,)).base_parameter_tree, [0.0] * 4
    q = [0.0, 0.4, -0.6, 0.8]
    for v, pace in (([90.0, 2.0, -3.0, 0.1], 3.0), ([0.0, 0.0, 0.0, 5.0], 5.0 / tree.size)):
        paces = closing_step(tree, q, v, still, Acting((0.0, 0.0, 0.0))).paces
        np.testing.assert_allclose(paces, pace)


# --- steps -------------------------------------------------------------------------------------------------------------------
def test_euler_leaves_gaps_of_third_order():
    """Of second order, as −½h² J̇v is, would be a quarter at half the step; and Runge-Kutta leaves far less."""

    def left(step: float, integrator: str = "semi_implicit_euler") -> float:
        sim = swinging(step=step, integrator=integrator)
        batch = sim.batch(1)
        batch.step(round(0.2 / step))
        return max(gap.distance for gap in km.Robot(sim.mechanism).constraint_residual(batch.q[0]))

    coarse, fine = left(1e-4), left(5e-5)
    assert 6.0 < coarse / fine < 10.0
    assert coarse < 1e-9
    assert left(1e-4, "rk4") < 1e-13


@pytest.mark.parametrize("driven", [False, True], ids=["free", "driven"])
@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4", "midpoint", "rkf45"])
def test_the_motion_is_that_of_projection_at_every_stage(integrator, driven):
    def end(step: float, *, strict: bool) -> np.ndarray:
        sim = swinging(driven=driven, step=step, integrator=integrator, stabilisation="strict" if strict else "lagged")
        assert sim.compiled.code.closes is not strict
        return sim.run(duration=0.4, every=round(0.4 / step)).q[-1]

    apart = np.abs(end(1e-3, strict=True) - end(1e-3, strict=False)).max()
    error = np.abs(end(1e-3, strict=True) - end(5e-4, strict=True)).max()
    assert 0.0 < apart < (0.5 * error if integrator in ("semi_implicit_euler", "midpoint") else 1e-9)


def test_functions_that_are_called_make_the_same_motion():
    def controller(t, q, v):
        return -0.3 * v

    compiled, called = (swinging(controller=controller, traced=traced, integrator="rk4") for traced in (True, False))
    np.testing.assert_allclose(called.run(duration=0.1).q, compiled.run(duration=0.1).q, rtol=0.0, atol=1e-12)


def test_rows_that_are_opened_by_hand_are_projected_and_the_others_keep_their_bits():
    sim = swinging(integrator="rk4")
    batch, alone = sim.batch(8), sim.batch(8)
    batch.q[3] += [1e-3, -2e-3, 1e-3]
    for one in (batch, alone):
        one.step(1)
    gap, *others = (km.Robot(sim.mechanism).constraint_residual(batch.q[k])[0].distance for k in (3, 0, 7))
    assert gap < 1e-8
    assert max(others) < 1e-13
    for k in (0, 2, 4, 7):
        np.testing.assert_array_equal(batch.q[k], alone.q[k])


# --- what is seen ------------------------------------------------------------------------------------------------------------
MOVING = {
    "four-bar": lambda **options: swinging(**options),
    "driven": lambda **options: swinging(driven=True, **options),
    "leaning": lambda **options: km.Simulation(km.Robot(leaning(planar_4r())), start=(posture(1.0), np.zeros(3)), **options),
    "eight": lambda **options: km.Simulation(km.Robot(four_bars(8)), start=four_bars_start(8, 0.4, 3.0), **options),
}


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4", "midpoint"])
@pytest.mark.parametrize("name", MOVING)
def test_recorded_and_returned_states_are_closed(name, integrator):
    sim = MOVING[name](integrator=integrator, outputs={"where": lambda t, q, v: q})
    robot, run = km.Robot(sim.mechanism), sim.run(duration=1.0, every=5)
    batch = sim.batch(3)
    seen = batch.record(20, 7)
    state = sim.step(sim.start(), 9)
    for q, v in ((run.q, run.v), (seen["q"], seen["v"]), (state.q, state.v)):
        for gap in robot.constraint_residual(q.reshape(-1, robot.nq), v.reshape(-1, robot.nv)):
            assert np.max(gap.distance) < 1e-12
            assert np.max(gap.angle) < 1e-12
            assert np.max(gap.speed) < 1e-11
    np.testing.assert_array_equal(run.outputs["where"], run.q)  # outputs are those of the closed state
    if (name, integrator) == ("four-bar", "semi_implicit_euler"):  # what the next step begins from is not
        assert np.abs(state.carried["q"] - state.q).max() > 1e-15


@pytest.mark.slow
def test_cassies_recorded_states_are_closed():
    """By long steps of low order, of one leg; those of its example are in `tests/references`."""
    whole = cassie.cassie()
    kept = [[part for part in parts if "right" not in part.name] for parts in (whole.bodies, whole.joints, whole.loops)]
    mechanism = km.Mechanism("leg", *map(tuple, kept), gravity=whole.gravity)
    at = dict(zip(whole.q_names, cassie.start(whole), strict=True))
    robot = km.Robot(mechanism)
    v = 3.0 * np.random.default_rng(0).normal(size=mechanism.nv)
    start = robot.assemble([at[name] for name in mechanism.q_names], v)
    run = km.Simulation(robot, start=start, integrator="semi_implicit_euler").run(duration=1.0, every=5)
    for gap in run.audit.loop_gaps:
        assert gap.distance < 1e-12


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_neither_records_nor_calls_change_the_motion(integrator):
    ends = []
    for every in (1, 3, 12):
        batch = swinging(integrator=integrator, step=5e-3).batch(3)
        batch.record(24 // every, every)
        ends.append(batch.q.copy())
    for counts in ([1] * 24, [5, 8, 11]):
        batch = swinging(integrator=integrator, step=5e-3).batch(3)
        for count in counts:
            batch.step(count)
        ends.append(batch.q.copy())
    for end in ends[1:]:
        np.testing.assert_array_equal(end, ends[0])
