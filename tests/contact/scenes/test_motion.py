"""Scenes of free bodies with rigid contact: closed forms, invariants, and the solver that traces every pair."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kumitate as km
from kumitate.contact import tuned
from kumitate.contact.scene import ACCURACIES, Contact
from kumitate.contact.scenes.step import UNSOLVED
from kumitate.contact.surface import Surface
from kumitate.errors import DivergenceError, InputError, KumitateWarning
from kumitate.model import Box, Sphere
from kumitate.records.audit import Audit
from kumitate.simulate.scenes import many_bodies
from kumitate.simulate.scenes.many_bodies import SceneSteps
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate.simulation import Simulation
from kumitate.spatial import Vector3, quaternion_rate
from kumitate_problems.contact import solid, unconnected
from studies.bench.scenes import wall

from .places import BRICK, G, at_random, bin_of, mixed, simulation, upright

H = 1e-3
AWAY = [solid("far1", BRICK), solid("far2", BRICK)]
FAR = ((50.0, 0.0, 0.06), (60.0, 0.0, 0.06))


# --- closed forms -----------------------------------------------------------------------------------------------------
def test_a_sliding_brick_stops_where_friction_has_taken_its_speed():
    """Of a box of which nothing tips: v_k = v₀ − k μ g h, and the way is the sum of h v_k until it would turn round."""
    sim = simulation(unconnected(solid("brick", BRICK), *AWAY), Contact(surface=Surface(0.5)))
    v = np.zeros(18)
    v[3] = 1.0
    run = sim.run(upright((0.0, 0.0, 0.06), *FAR), v, duration=0.3)
    speeds = 1.0 - 0.5 * G * H * np.arange(1, 301)
    assert run.q[-1, 4] == pytest.approx(H * speeds[speeds > 0.0].sum(), abs=1e-9)
    assert np.abs(run.v[-1]).max() < 1e-9


def test_a_sliding_ball_rolls_at_five_sevenths_of_its_speed():
    sim = simulation(unconnected(solid("ball", Sphere(0.1)), *AWAY), Contact(surface=Surface(0.3)))
    v = np.zeros(18)
    v[3] = 1.0
    run = sim.run(upright((0.0, 0.0, 0.1), *FAR), v, duration=0.3)
    # in the world's axes, as v is in those of the ball
    spin, _ = run.v[-1, :3], run.v[-1, 3:6]
    assert np.linalg.norm(run.v[-1, 3:6]) == pytest.approx(5.0 / 7.0, abs=1e-9)
    assert np.linalg.norm(spin) == pytest.approx(5.0 / 7.0 / 0.1, abs=1e-8)


def test_a_ball_of_uneven_inertia_turns_on_a_slippery_floor_as_in_free_flight():
    """The floor pushes at its center: Euler's equations to order two, if a step moves by velocities that are a step ahead."""
    inertia, turning = np.array([2e-3, 3e-3, 4e-3]), np.array([3.0, -2.0, 1.0])
    ball = km.Body("ball", 1.0, inertia=tuple(inertia), collisions=(km.Geometry(Sphere(0.1)),))
    v = np.zeros(18)
    v[:3] = turning
    sim = simulation(unconnected(ball, *AWAY), Contact(surface=Surface(0.0)))
    run = sim.run(upright((0.0, 0.0, 0.1), *FAR), v, duration=0.3)

    def after(duration, start):
        def rates(_, x):
            return [*quaternion_rate(x[:4], Vector3(*x[4:])), *(np.cross(inertia * x[4:], x[4:]) / inertia)]

        return solve_ivp(rates, (0.0, duration), [*run.q[0, :4], *start], rtol=1e-10, atol=1e-12).y[:, -1]

    np.testing.assert_allclose(run.v[-1, :3], after(0.3, turning)[4:], atol=2e-6)
    np.testing.assert_allclose(run.q[-1, :4], after(0.3, after(H, turning)[4:])[:4], atol=2e-6)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_balls_that_meet_keep_their_momenta(restitution):
    """Head on and off center, without gravity: linear and angular momentum to rounding, Newton's restitution exactly."""
    balls = [solid("one", Sphere(0.1), 1.0), solid("two", Sphere(0.15), 3.0), solid("far", Sphere(0.1))]
    free = unconnected(*balls)
    free = replace(free, gravity=(0.0, 0.0, 0.0))
    sim = simulation(free, Contact(ground=(), surface=Surface(0.4, restitution=restitution)))
    v = np.zeros(18)
    v[3], v[6:9] = 2.0, (0.3, 0.1, -2.0)
    run = sim.run(upright((-0.5, 0.02, 0.03), (0.0, 0.0, 0.0), (0.0, 9.0, 0.0)), v, duration=0.4)
    assert np.abs(run.momentum - run.momentum[0]).max() < 1e-13
    hit = int(np.argmax(np.abs(run.contact.force).max(axis=(1, 2)) > 0.0))
    n = run.contact.normal[hit, 0]
    before, after = (_linear(run, row, 0) - _linear(run, row, 1) for row in (hit, hit + 1))
    if restitution:
        assert after @ n == pytest.approx(-restitution * (before @ n), abs=1e-9)
    assert (np.diff(run.energy.kinetic) < 1e-12).all()


def _linear(run, row: int, body: int) -> np.ndarray:
    """The velocity of a body's origin in the world."""
    x, y, z, w = run.q[row, 7 * body : 7 * body + 4]
    u, own = np.array([x, y, z]), run.v[row, 6 * body + 3 : 6 * body + 6]
    return own + 2.0 * np.cross(u, np.cross(u, own) + w * own)


def test_a_spinning_body_flies_as_rigid_bodies_do():
    """Free flight: the center of mass on its parabola, energy constant, with a center of mass off the origin."""
    odd = replace(solid("odd", BRICK, 2.0), center_of_mass=(0.03, -0.02, 0.05))
    sim = simulation(unconnected(odd, *AWAY))
    v = np.zeros(18)
    v[:6] = 3.0, -2.0, 1.0, 0.5, 0.2, 4.0
    run = sim.run(upright((0.0, 0.0, 2.0), *FAR), v, duration=0.5)
    mass, far = 4.0, np.array([50.0, 0.0, 0.06]) + np.array([60.0, 0.0, 0.06])
    own = (mass * run.center_of_mass - far) / 2.0
    assert np.abs(np.diff(own[:, :2], 2, axis=0)).max() < 1e-12
    assert np.abs(np.diff(own[:, 2], 2) + G * H * H).max() < 1e-11
    assert run.audit.energy_drift < 1e-9


# --- at rest ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("masses", [(1.0,) * 10, (1.0, 1.0, 1000.0)], ids=["ten", "heavy on top"])
def test_a_stack_stands_still(masses):
    bricks = unconnected(*(solid(f"brick{k}", BRICK, mass) for k, mass in enumerate(masses)))
    q = upright(*((0.01 * (k % 2), 0.0, 0.06 + 0.12 * k) for k in range(len(masses))))
    run = simulation(bricks).run(q, duration=10.0, every=100)
    assert np.abs(run.q - run.q[0]).max() < 1e-9
    on_floor = run.contact.on("brick0")[-1] - [0.0, 0.0, 0.0]
    carried = sum(run.contact.force[-1, k, 2] for k, pair in enumerate(run.contact.bodies) if pair == ("brick0", "ground"))
    assert carried == pytest.approx(G * sum(masses), rel=1e-8)
    assert np.abs(on_floor - [0.0, 0.0, G * masses[0]]).max() < 1e-6 * sum(masses)


def test_bodies_sleep_when_asked_and_wake_when_hit():
    bricks = unconnected(*(solid(f"brick{k}", BRICK) for k in range(3)), solid("ball", Sphere(0.05)))
    q = upright(*((0.0, 0.0, 0.06 + 0.12 * k) for k in range(3)), (0.5, 0.0, 0.15))
    v = np.zeros(24)
    v[21] = -4.0
    run = simulation(bricks, Contact(options={"sleeping": 1.0})).run(q, v, duration=0.2)
    awake = np.abs(run.v[:, :18]).max(axis=1)
    hit = int(np.argmax(awake > 1e-3))
    assert awake[30 : hit - 5].max() == 0.0  # the ball is near for some steps before it hits
    assert hit * H == pytest.approx((0.5 - 0.1 - 0.05) / 4.0, abs=2 * H)
    assert awake[hit:].max() > 0.1


# --- any scene --------------------------------------------------------------------------------------------------------
def test_bodies_that_fall_side_by_side_are_not_looked_at_until_one_meets_another():
    """Nothing near is listed while their ways beside their mean way leave them apart; the motion is the same bit for bit."""
    places = [(0.21 * x, 0.21 * y, 1.0 + 0.21 * z) for x in range(3) for y in range(3) for z in range(2)]
    mechanism, q = unconnected(*(solid(f"ball{k}", Sphere(0.1)) for k in range(19))), upright(*places, (0.1, 0.1, 2.5))
    v = np.zeros((19, 6))
    v[:, :3], v[18, 5] = [0.0, 3.0, 0.0], -3.0
    sim = simulation(mechanism, step=5e-3)
    steppers = [sim.compiled.stepper(sim.actuation, 5e-3, q, v.ravel()) for _ in range(2)]
    pairs = []
    for _ in range(120):
        for known, stepper in enumerate(steppers):  # who knows an impulse of the step before looks at all that is near
            stepper.scene.counts[0] = max(stepper.scene.counts[0], known)
            stepper.run({}, 1, 1)
        np.testing.assert_array_equal(steppers[0].state["v"], steppers[1].state["v"])
        np.testing.assert_array_equal(steppers[0].state["q"], steppers[1].state["q"])
        pairs.append([int(stepper.scene.counts[1]) for stepper in steppers])
    assert pairs[5][0] == 0 < pairs[5][1]
    assert np.abs(np.diff(steppers[0].state["v"].reshape(-1, 6)[:, 5])).max() > 0.1  # they have met


@pytest.mark.parametrize("seed", [1, 2])
def test_piles_obey_the_laws_and_gain_no_energy(seed):
    rng = np.random.default_rng(seed)
    mechanism, (q, v) = mixed(12), at_random(rng, 12)
    run = simulation(mechanism, bin_of(0.3)).run(q, v, duration=1.5)
    assert run.contact.residual.max() < 1e-4, seed
    assert (run.contact.residual > 1e-6).mean() < 0.01, seed
    assert run.contact.cone_violation.max() < 1e-9 * np.abs(run.contact.force).max(), seed
    # what sinks in is pushed out at up to 0.5 m/s, which is the only way to gain energy, but for what residuals leave
    assert run.contact.penetration.max() < 5e-3, seed
    allowed = 1e-7 * run.energy.kinetic.max() + np.where(run.contact.penetration > 1e-9, 0.5 * 12 * 0.5**2, 0.0)
    assert (run.contact.gained < allowed).all(), seed
    assert run.audit.contact.gains <= 30, seed


def test_large_piles_follow_the_motion_and_gain_no_energy():
    """Residuals within 1e-3 of the speed while 40 bricks pile up, or within 1e-6 of it, and no step gains."""
    mechanism = unconnected(*(solid(f"brick{k}", BRICK) for k in range(40)))
    q, v = at_random(np.random.default_rng(3), 40)
    q.reshape(-1, 7)[:, 4:] = [[0.27 * (k % 3 - 1), 0.27 * (k // 3 % 3 - 1), 0.2 + 0.27 * (k // 9)] for k in range(40)]
    for accuracy, most in (("following", 1e-3), ("strict", 1e-6)):
        run = simulation(mechanism, replace(bin_of(0.42), accuracy=accuracy), step=2e-3).run(q, v, duration=0.8)
        twists = run.v.reshape(-1, 40, 6)
        turning, going = (np.linalg.norm(twists[..., part], axis=2).max(axis=1) for part in (slice(3), slice(3, 6)))
        fastest, left = going + 0.16 * turning + 2e-3 * G, run.contact.residual
        assert (left <= 2e-6 + most * fastest).mean() > 0.99, accuracy
        assert (left < 1e-3 * fastest).all(), accuracy
        # by contact: turning while something touches has an error of order one, of up to 0.04 J a step here
        assert run.contact.gained.max() < 1e-7 * run.energy.kinetic.max(), accuracy
        assert np.diff(run.energy.total).max() < 0.01, accuracy
        solver = run.audit.contact.solver
        assert solver.small <= 1e-7, accuracy
        # the hardest of all steps; which one that is, and how hard, rounding decides in a pile
        assert 10.0 * solver.small < solver.large == run.audit.contact.residual < 20.0 * most, accuracy
        assert 0 < solver.rounds < 50 * solver.islands < 50 * solver.newton, accuracy
        assert Audit.from_dict(json.loads(json.dumps(run.audit.as_dict()))) == run.audit


def test_a_wall_that_falls_comes_to_rest_as_strictly_as_ever():
    mechanism, contact, q, v = wall(4, 6)
    run = simulation(mechanism, contact).run(q.ravel() + np.tile(0.01 * np.eye(7)[6], 24), v.ravel(), duration=0.5)
    assert run.contact.residual.max() > 1e-8  # while it follows the fall
    assert run.contact.residual[-100:].max() < 1e-8
    assert np.abs(run.v[-1]).max() < 1e-9
    assert np.diff(run.energy.total).max() < 1e-7 * run.energy.kinetic.max()


def test_islands_of_few_bodies_are_solved_alike_at_any_accuracy():
    mechanism, (q, v) = mixed(9), at_random(np.random.default_rng(4), 9)
    runs = [simulation(mechanism, replace(bin_of(0.3), accuracy=accuracy)).run(q, v, duration=0.4) for accuracy in ACCURACIES]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)


def test_few_bodies_at_a_long_step_keep_the_laws_to_a_millionth_of_what_gravity_gives_in_it():
    """All methods one after another take 900 Newton steps of each step here, for residuals that such steps need not have."""
    mechanism, (q, v), h = mixed(12), at_random(np.random.default_rng(4), 12), 5e-3
    run = simulation(mechanism, bin_of(0.3), step=h).run(q, v, duration=2.0)
    fastest = np.linalg.norm(run.v.reshape(-1, 12, 2, 3), axis=3) @ [0.1, 1.0]
    left = run.contact.residual / (1e-6 * G * h * (1.0 + fastest.max(axis=1)))
    assert (left > 1.0).mean() < 0.02
    assert left.max() < 1e3
    assert run.audit.contact.solver.newton < 200 * len(run)
    assert run.contact.gained.max() < 1e-4 * run.energy.kinetic.max()


def test_a_robot_of_many_links_is_solved_alike_at_any_accuracy():
    """It counts as one body, however many links it has."""
    robot = km.load("hoap1")
    assert len(robot.mechanism.tree.links) > tuned.SMALL
    start = robot.start[0], np.array([0.0, 0.0, 0.0, 0.5, *np.zeros(robot.nv - 4)])
    runs = [km.Simulation(robot, contact=Contact(accuracy=name), start=start).run(duration=0.2) for name in ACCURACIES]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    assert runs[0].contact.residual.max() < 1e-8


def dense_problem(scene):
    """G and the velocities without contact (n, 3) of the points of a step: u = u_free + G λ, all impulses in one vector."""
    points, bodies, n = scene.points, scene.bodies, int(scene.counts[5])
    J, inverse = np.zeros((n, 3, len(bodies.mass), 6)), np.zeros((len(bodies.mass), 6, len(bodies.mass), 6))
    for k, (mass, mobility) in enumerate(zip(bodies.mass, bodies.mobility, strict=True)):
        inverse[k, :3, k, :3], inverse[k, 3:, k, 3:] = mobility, np.eye(3) / mass
    for c in range(n):
        for body, lever, sign in zip(points.body[c], (points.lever_a[c], points.lever_b[c]), (1.0, -1.0), strict=True):
            if body >= 0:
                J[c, :, body] = sign * np.hstack([np.cross(lever, points.frame[c]), points.frame[c]])
    J, inverse = J.reshape(3 * n, -1), inverse.reshape(6 * len(bodies.mass), -1)
    return J @ inverse @ J.T, points.free[:n].copy()


def test_strict_steps_of_a_smooth_pile_are_those_of_a_dense_method():
    """Smooth contact has one solution: of λ ≥ 0, u ≥ target and λ (u − target) = 0, here by sweeps over dense matrices."""
    mechanism, (q, v), h = mixed(8), at_random(np.random.default_rng(6), 8), 2e-3
    made = simulation(mechanism, replace(bin_of(0.24), accuracy="strict", surface=Surface(0.0)), step=h)
    stepper, most = made.compiled.stepper(made.actuation, h, q, v), 0
    for _ in range(6):
        stepper.run({}, 1, 50)
        (G, free), points = dense_problem(stepper.scene), stepper.scene.points
        n = len(free)
        along, start = G[::3, ::3], free[:, 0] - points.target[:n]
        pushed, last = np.zeros(n), np.ones(n)
        while np.abs(along @ (pushed - last)).max(initial=0.0) > 1e-11:
            last = pushed.copy()
            for c in range(n):
                pushed[c] = max(0.0, pushed[c] - (start[c] + along[c] @ pushed) / along[c, c])
        assert np.abs((points.impulse[:n, 0] - pushed) @ along).max(initial=0.0) < 1e-7
        most = max(most, n)
    assert most > 10


def test_the_order_of_the_bodies_does_not_matter():
    rng = np.random.default_rng(5)
    q, v = at_random(rng, 6)
    shuffled = rng.permutation(6)
    bodies = mixed(6).bodies
    runs = []
    for order in (range(6), shuffled):
        mechanism = unconnected(*(bodies[k] for k in order))
        start = q.reshape(6, 7)[list(order)].ravel(), v.reshape(6, 6)[list(order)].ravel()
        runs.append(simulation(mechanism).run(*start, duration=0.3))
    one, other = (run.q.reshape(-1, 6, 7) for run in runs)
    assert np.abs(one[:, shuffled] - other).max() < 1e-9


@pytest.mark.parametrize("case", ["sliding", "rolling", "two"])
def test_scenes_move_as_traced_pairs_do(case):
    """The solver that traces each pair into its own code is another implementation of the same laws.

    The upper one of two bricks begins to tip at 0.082 s, about an edge at which both routes have points of their own.
    """
    bodies = {"sliding": [BRICK], "rolling": [Sphere(0.1)], "two": [BRICK, BRICK]}[case]
    places = {"sliding": [(0.0, 0.0, 0.06)], "rolling": [(0.0, 0.0, 0.1)], "two": [(0.0, 0.0, 0.06), (0.03, 0.02, 0.18)]}[case]
    mechanism = unconnected(*(solid(f"body{k}", shape) for k, shape in enumerate(bodies)))
    q, v = upright(*places), np.zeros(6 * len(bodies))
    v[-3], v[-6] = 0.7, 0.0
    runs = []
    for traced in (False, True):
        sim = MechanismSimulation(Setup(mechanism, contact="rigid", side_by_side=traced))
        assert sim.interaction.of_many_bodies != traced
        runs.append(sim.run(q, v, duration=0.08 if case == "two" else 0.2))
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-9
    assert np.abs(runs[0].a - runs[1].a).max() < 1e-5
    assert runs[0].audit.work == pytest.approx(runs[1].audit.work, abs=1e-9)


# --- states, options --------------------------------------------------------------------------------------------------
def test_a_state_goes_on_from_its_impulses_and_cold_to_the_same_motion(tmp_path):
    rng = np.random.default_rng(8)
    q, v = at_random(rng, 5)
    sim = simulation(mixed(5), bin_of(0.25))
    state = sim.step(sim.start(q, v), 600)
    assert state.carried["impulses"].shape[1] == 6
    assert len(state.carried["impulses"])
    path = sim.save(state, tmp_path / "state.npz")
    again = simulation(mixed(5), bin_of(0.25)).restore(path)  # another process begins without any impulses
    ahead, repeated = sim.step(state, 50), sim.step(again, 50)
    assert np.array_equal(ahead.q, repeated.q)
    assert np.array_equal(ahead.q, sim.run(q, v, duration=0.65, every=10).q[-1])


def test_a_cold_start_changes_speed_only():
    q, v = upright(*((0.5 * k, 0.0, 0.06 if k % 3 < 2 else 0.08) for k in range(5)), (0.5, 0.0, 0.18)), np.zeros(36)
    v[3::6] = np.linspace(0.5, 1.0, 6)
    sim = simulation(mixed(5 + 1))
    warm = cold = sim.start(q, v)
    for _ in range(5):
        warm = sim.step(warm, 20)
        forgotten = dict(cold.carried, impulses=np.zeros((0, 6)))
        cold = sim.step(replace(cold, carried=forgotten), 20)
    assert np.abs(cold.q - warm.q).max() < 1e-9


def test_controllers_are_sampled_and_wrenches_act_at_their_places():
    mechanism = unconnected(solid("pushed", BRICK), *AWAY)
    calls = []

    def push(t, q, v):
        calls.append(t)
        return [0.0, 0.0, 0.0, 20.0, 0.0, 0.0]

    sim = simulation(mechanism, Contact(surface=Surface(0.5)), wrenches={"pushed": push})
    run = sim.run(upright((0.0, 0.0, 0.06), *FAR), duration=0.1)
    assert calls[:3] == pytest.approx([0.0, H, 2 * H])
    assert run.v[-1, 3] == pytest.approx((20.0 - 0.5 * G) * 0.1, abs=1e-8)


ASLEEP = Contact(options={"sleeping": 1.0})


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: MechanismSimulation(Setup(mixed(3), contact="rigid", integrator="rk4")), "velocities jump"),
        (lambda: MechanismSimulation(Setup(mixed(3), contact=ASLEEP, side_by_side=True)), "sleeping"),
        (lambda: MechanismSimulation(Setup(mixed(3), contact=Contact(options={"slepping": 1.0}))), "slepping"),
    ],
)
def test_refusals_say_why(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_few_bodies_are_traced_for_batches():
    assert not MechanismSimulation(Setup(mixed(3), contact="rigid", side_by_side=True)).interaction.of_many_bodies
    assert Simulation(mixed(3), contact="rigid", outputs=["energy"]).interaction.of_many_bodies


def test_a_step_without_solution_ends_the_run_and_keeps_it(monkeypatch):
    sim, calls, solve = simulation(mixed(3)), [], SceneSteps.go

    def unsolved(steps, records, every):
        calls.append(records)
        ended, log = solve(steps, records, every)
        if len(calls) < 2:  # the first stretch is a third of the run
            return ended, log
        log.marks[:] = 0
        return UNSOLVED, log

    monkeypatch.setattr(SceneSteps, "go", unsolved)
    with pytest.raises(DivergenceError, match=r"no usable solution at t = .* \('body0' on 'ground'") as caught:
        sim.run(upright((0.0, 0.0, 0.06), (1.0, 0.0, 0.06), (2.0, 0.0, 0.5)), duration=0.1)
    assert len(caught.value.result) > 1
    assert np.isfinite(caught.value.result.v).all()


def test_logs_grow_where_they_lack_room(monkeypatch):
    q, v = at_random(np.random.default_rng(3), 3)
    expected = simulation(mixed(3)).run(q, v, duration=0.4)
    monkeypatch.setattr(many_bodies, "_TOUCHES", 1)
    monkeypatch.setattr(many_bodies, "_EACH", 0)
    found = simulation(mixed(3)).run(q, v, duration=0.4)
    assert np.array_equal(found.q, expected.q)
    assert np.array_equal(found.contact.force, expected.contact.force)


def test_a_box_larger_than_all_stands_on_a_fixed_table():
    contact = Contact(ground=[*bin_of(2.0).ground])
    table = unconnected(solid("plate", Box((1.0, 1.0, 0.05))), solid("ball", Sphere(0.1)), solid("brick", BRICK))
    q = upright((0.0, 0.0, 0.025), (0.3, 0.0, 0.15), (-0.3, 0.0, 0.11))
    run = simulation(table, contact).run(q, duration=0.2)
    assert np.abs(run.q - run.q[0]).max() < 1e-9


@pytest.mark.parametrize("count", [2, 4], ids=["traced pairs", "scene"])
def test_bodies_that_overlap_at_the_start_are_pushed_apart_at_half_a_metre_per_second(count):
    """Without gravity: the speed of separation is 0.5 m/s until they are apart and after, momentum stays zero.

    Their kinetic energy, of twice 0.25 m/s, is gained in the first step, as the audit tells.
    """
    bricks = replace(unconnected(*(solid(f"brick{k}", BRICK) for k in range(count))), gravity=(0.0, 0.0, 0.0))
    q = upright((0.0, 0.0, 0.0), (0.0, 0.0, 0.07), *((k, 0.0, 0.0) for k in range(2, count)))
    with pytest.warns(KumitateWarning, match=r"'brick0' and 'brick1' overlap at the start, by up to 0\.05 m; .* at 0\.5 m/s"):
        run = MechanismSimulation(Setup(bricks, contact=Contact(ground=()), side_by_side=count == 2)).run(q, duration=0.15)
    speed = run.v[1:, 11] - run.v[1:, 5]
    assert speed == pytest.approx(0.5, abs=1e-9)
    assert np.abs(run.momentum).max() < 1e-12
    account = run.audit.contact
    assert (account.gains, account.gained) == (1, pytest.approx(0.25**2, rel=1e-9))
    assert run.energy.kinetic[1:] == pytest.approx(account.gained, rel=1e-9)
    assert run.contact.gap.min(initial=0.0) == pytest.approx(-0.05)
    assert any("overlap at the start" in note for note in run.audit.notes)


def test_bodies_in_their_places_cause_no_warning(recwarn):
    sim = simulation(unconnected(*(solid(f"brick{k}", BRICK) for k in range(3))))
    sim.run(upright((0.0, 0.0, 0.0599), (0.0, 0.0, 0.18), (1.0, 0.0, 0.06)), duration=0.01)
    assert not [w for w in recwarn if issubclass(w.category, KumitateWarning)]


def test_a_scene_is_stepped_by_hand():
    made = simulation(mixed(3), bin_of(0.3))
    q, v = at_random(np.random.default_rng(1), 3)
    assert np.isfinite(made.step(made.start(q, v)).q).all()


def test_single_steps_of_a_scene_keep_nothing_of_the_steps_before():
    """The memory of 200 single steps does not grow with them, though a run keeps the contact of each record."""
    made = simulation(mixed(3))
    state = made.start(upright((0.0, 0.0, 0.06), (0.0, 0.0, 0.18), (1.0, 0.0, 0.08)))
    for _ in range(100):
        state = made.step(state)
    tracemalloc.start()
    try:
        for _ in range(200):
            state = made.step(state)
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert grown < 50_000  # half a megabyte where every step stays


@pytest.mark.parametrize(("count", "accuracy"), [(30, "following"), (30, "strict"), (8, "following")])
def test_points_that_wait_stay_apart_without_impulses(count, accuracy):
    """After every step of a pile, large or small, all points keep the laws, those solved for and those that waited."""
    h = 5e-3
    q, v = at_random(np.random.default_rng(5), count)
    q.reshape(-1, 7)[:, 4:] = [[0.27 * (k % 3 - 1), 0.27 * (k // 3 % 3 - 1), 0.2 + 0.27 * (k // 9)] for k in range(count)]
    made = simulation(
        unconnected(*(solid(f"brick{k}", BRICK) for k in range(count))), replace(bin_of(0.42), accuracy=accuracy), step=h
    )
    stepper, waiting = made.compiled.stepper(made.actuation, h, q, v), 0
    for _ in range(80):
        stepper.run({}, 1, 1)
        points, n = stepper.scene.points, stepper.scene.counts[5]
        waits = points.waits[:n] == 1
        waiting += waits.sum()
        assert not points.impulse[:n][waits].any()
        aim = points.impulse[:n] - points.mass[:n, None] * points.speed[:n]
        aim[:, 0] = np.maximum(aim[:, 0] + points.mass[:n] * points.target[:n], 0.0)
        size = np.linalg.norm(aim[:, 1:], axis=1)
        aim[:, 1:] *= np.minimum(1.0, points.friction[:n] * aim[:, 0] / np.maximum(size, 1e-300))[:, None]
        left = (np.abs(points.impulse[:n] - aim) * points.size[:n, None]).max(initial=0.0)
        assert left == pytest.approx(stepper.logged[-1].sums[0, 0], rel=0.01, abs=1e-12)
    assert waiting > 30 * count
