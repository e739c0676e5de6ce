"""Runs whose energy grows by itself end where the audit would see it, whatever moves them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kumitate.contact.impulse.problem import Problem, Solved
from kumitate.contact.models import IMPULSE_MODELS, rigid
from kumitate.contact.scene import Contact
from kumitate.errors import DivergenceError, KumitateWarning
from kumitate.model import Body, Geometry, Joint, Limits, Mechanism, Sphere
from kumitate.simulate.divergence import Exchange, gains
from kumitate.simulate.run import simulate, simulate_batch
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate.spatial import pose

BALLS = 3


def arm(balls: int) -> Mechanism:
    """Three links, each far lighter than the last, with hinges across each other, above free balls."""
    sizes = ((2.0, 0.02), (0.5, 2e-3), (0.1, 1e-4))
    links = tuple(Body(f"link{k}", mass, (0.1, 0.0, 0.0), (I, I, I)) for k, (mass, I) in enumerate(sizes))
    axes, parents = ((0, 1, 0), (0, 1, 0), (1, 0, 0)), ("world", "link0", "link1")
    places = ((0.0, 0.0, 1.0), (0.2, 0.0, 0.0), (0.2, 0.0, 0.0))
    hinges = tuple(
        Joint(f"hinge{k}", "revolute", parent, f"link{k}", axis=axis, limits=(Limits(-2.8, 2.8),), pose=pose(place))
        for k, (parent, axis, place) in enumerate(zip(parents, axes, places, strict=True))
    )
    ball = Geometry(Sphere(0.1))
    others = tuple(Body(f"ball{k}", 1.0, inertia=(4e-3, 4e-3, 4e-3), collisions=(ball,)) for k in range(balls))
    free = tuple(Joint(f"free{k}", "floating", "world", f"ball{k}") for k in range(balls))
    return Mechanism("arm", (*links, *others), (*hinges, *free))


def thrown(balls: int) -> Mechanism:
    """Free balls."""
    whole = arm(balls)
    return Mechanism("thrown", whole.bodies[3:], whole.joints[3:])


def stiff(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Efforts at the hinges that are held over a step; zero at all others.

    They turn the light link round, faster each time, between stops, until steps gain energy: by half and more of what was
    exchanged before, where heavier robots do by a hundred times as much.
    """
    efforts = np.zeros(v.shape)
    efforts[..., :3] = 600.0 * (0.1 - q[..., :3]) - 60.0 * v[..., :3]
    return efforts


def start(balls: int) -> list[float]:
    return [0.0, 0.0, 0.0, *(x for k in range(balls) for x in (0.0, 0.0, 0.0, 1.0, 2.0 + k, 0.0, 0.1))]


@pytest.fixture
def less(monkeypatch):
    """Steps that gain half of what was exchanged run away."""
    monkeypatch.setitem(Exchange.follow.__globals__, "MOST", 0.5)


@pytest.mark.parametrize(("balls", "contact"), [(0, None), (1, "rigid"), (BALLS, "rigid")], ids=["alone", "traced", "scene"])
def test_a_controller_that_is_too_stiff_for_its_step_ends_runs_and_single_steps(balls, contact, less):
    setup = Setup(arm(balls), controller=lambda t, q, v: stiff(q, v), sample_time=1e-3, traced=False, contact=contact)
    sim = MechanismSimulation(replace(setup, side_by_side=balls < BALLS))
    assert bool(sim.interaction.of_many_bodies) == (balls == BALLS)
    with pytest.raises(DivergenceError, match=r"runs away: .* J are gained in the step from t = 0\.0\d+ s") as caught:
        sim.run(start(balls), duration=0.5)
    kept = caught.value.result
    assert 0 < len(kept.time) < 60
    assert np.isfinite(kept.energy.total).all()
    state = sim.start(start(balls))
    for _ in kept.time[1:]:
        state = sim.step(state)
    with pytest.raises(DivergenceError, match=rf"runs away: .* from t = {state.time:.6g} s, .* which no effort"):
        sim.step(state)


@pytest.mark.filterwarnings("ignore:arm. 2 of 2 runs diverge")
def test_runs_side_by_side_are_lost_where_each_alone_ends(less):
    options = {"duration": 0.05, "controller": lambda t, q, v: stiff(q, v), "sample_time": 1e-3}
    starts = [start(0), [0.1, 0.099, 0.1]]
    runs = simulate_batch(arm(0), starts, **options)
    for run, q in enumerate(starts):
        with pytest.raises(DivergenceError, match="runs away") as caught:
            simulate(arm(0), q, **options)
        assert runs.lost[run] == pytest.approx(caught.value.result.time[-1])
        assert np.isnan(runs.q[run, -1]).all()
    assert runs.lost[0] < runs.lost[1]


def test_rows_of_a_batch_are_lost_where_a_run_alone_ends(less):
    """Whether they are advanced step by step, or recorded."""
    with pytest.raises(DivergenceError, match="runs away") as caught:
        simulate(arm(0), start(0), duration=0.5, controller=lambda t, q, v: stiff(q, v), sample_time=1e-3)
    sim, kept = MechanismSimulation(Setup(arm(0))), caught.value.result.time
    batch, at = sim.batch(np.array([start(0), start(0)])), []
    for _ in range(len(kept) + 2):
        batch.tau[0] = stiff(batch.q[0], batch.v[0])
        batch.step()
        at.append(batch.lost.copy())
        assert np.abs(batch.v).max() < 1e9
    assert [bool(lost[0]) for lost in at] == [step >= len(kept) - 1 for step in range(len(at))]
    assert not batch.lost[1]
    batch.reset([0])
    assert not batch.lost.any()
    batch.q[0], batch.v[0] = caught.value.result.q[-1], caught.value.result.v[-1]
    batch.tau[0] = stiff(batch.q[0], batch.v[0])
    batch.record(1)
    assert batch.lost.tolist() == [True, False]


def test_rows_that_gain_are_found_together_as_one_by_one():
    rng = np.random.default_rng(0)
    kinetic, potential, work = 10.0 ** rng.uniform(-2.0, 2.0, (3, 2, 400)) * rng.choice([-1.0, 1.0], (3, 2, 400))
    kinetic = np.abs(kinetic)
    alone = [Exchange().follow(*row, 2.0, lambda step: 0.0) for row in zip(kinetic.T, potential.T, work.T, strict=True)]
    found = gains(2.0, kinetic, potential, work)
    assert found.tolist() == [gain is not None for gain in alone]
    assert 40 < found.sum() < 360


def test_efforts_that_throw_a_light_link_are_no_runaways():
    """From rest to 100 rad/s in a record or a call of 10 steps, and back from a stop."""
    pushed = [0.0, 0.0, 1.0]
    runs = simulate_batch(arm(0), [start(0)] * 2, duration=0.05, every=10, controller=pushed)
    assert (runs.lost == np.inf).all()
    assert np.abs(runs.v[0, 1]).max() > 90.0
    sim = MechanismSimulation(Setup(arm(0), controller=pushed))
    state = sim.start()
    batch = MechanismSimulation(Setup(arm(0))).batch(2)
    batch.tau = pushed
    fastest = 0.0
    for _ in range(5):
        state = sim.step(state, 10)
        batch.step(10)
        fastest = max(fastest, np.abs(batch.v).max())
    assert not batch.lost.any()
    assert fastest > 90.0


def test_contact_that_adds_energy_ends_runs_and_single_steps(monkeypatch):
    """Its impulses are nine times too large, and its residual hides it; what they do is work of contact."""

    def repelling(given: Problem) -> Solved:
        points = [[[9.0 * part for part in point] for point in patch] for patch in rigid(given).impulses.points]
        return Solved(given.after(points, []), residual=0.0)

    monkeypatch.setitem(IMPULSE_MODELS, "repelling", repelling)
    sim = MechanismSimulation(Setup(thrown(1), contact=Contact("repelling"), step=1e-2))
    with pytest.raises(DivergenceError, match=r"runs away: .* most of it by contact itself") as caught:
        sim.run([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.2], [0.0, 0.0, 0.0, 0.0, 0.0, -10.0], duration=0.3)
    kept = caught.value.result
    with pytest.raises(DivergenceError, match="most of it by contact itself"):
        sim.step(sim.start(kept.q[-1], kept.v[-1]))


@pytest.mark.parametrize(("balls", "steps"), [(1, 1), (BALLS, 1), (BALLS, 4)], ids=["traced", "scene", "scene, some steps"])
def test_what_contact_adds_in_steps_is_that_of_the_record(balls, steps):
    """Balls that begin 5 cm deep in the ground are pushed out of it."""
    sim = MechanismSimulation(Setup(thrown(balls), contact="rigid"))
    q = [x for k in range(balls) for x in (0.0, 0.0, 0.0, 1.0, k, 0.0, 0.05)]
    with pytest.warns(KumitateWarning, match="overlap at the start"):
        result = sim.run(q, duration=0.01)
    state = sim.start(q)
    sim.step(state, steps)
    added = sim._stepper.gained(0.0, steps, state.q, state.v, sim._stepper.efforts)
    assert added == pytest.approx(result.contact.gained[:steps].sum())
    assert added > 0.1 * balls


def test_what_a_run_exchanges_is_known_from_piece_to_piece():
    kinetic = np.array([0.0, 1.0, 3.0, 2.0, 2.0, 400.0])
    potential = np.array([3.0, 2.0, 0.0, 1.0, 1.0, 1.0])
    whole, parts = Exchange(), Exchange()

    def alone(step):
        return 0.0

    found = whole.follow(kinetic, potential, np.zeros(6), 0.1, alone)
    assert found == (4, 398.0, 0.0, pytest.approx(398.0 / 6.05))
    assert parts.follow(kinetic[:4], potential[:4], np.zeros(4), 0.1, alone) is None
    assert parts.row == 3
    again = parts.follow(kinetic[3:], potential[3:], np.zeros(3), 0.1, alone)
    assert again == (1, 398.0, 0.0, pytest.approx(398.0 / 6.05))
    driven = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 398.0])
    assert Exchange().follow(kinetic, potential, driven, 0.1, alone) is None  # by an effort
    by_contact = Exchange().follow(kinetic, potential, driven, 0.1, {4: 390.0}.get)
    assert by_contact == (4, 390.0, 390.0, pytest.approx(390.0 / 14.05))


def test_what_falls_within_a_step_is_no_gain_from_nowhere():
    falls = Exchange().follow(np.array([0.0, 300.0]), np.array([100.0, 0.0]), np.zeros(2), 0.1, lambda step: 0.0)
    assert falls is None  # 200 J of 100
    fast = Exchange().follow(np.array([0.0, 301.0]), np.array([100.0, 0.0]), np.zeros(2), 0.1, lambda step: 0.0)
    assert fast == (0, 201.0, 0.0, pytest.approx(201.0 / 100.05))
