"""Compliant bodies that overlap at the start: their springs leave the overlaps out, less and less, so that they part slowly."""

from __future__ import annotations

import numpy as np
import pytest

from kumitate.contact.parting import PARTING, SHRINKS
from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.errors import KumitateWarning
from kumitate.model import Sphere
from kumitate.simulate.run import simulate_batch
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate_problems.contact import solid, unconnected

from .with_others import R, run, ways

BALLS = [solid("one", Sphere(R)), solid("two", Sphere(R))]
HIGH = [(0, 0, 5.0), (2 * R - 0.01, 0, 5.0)]
SOFT = Contact(surface=Surface(0.5, stiffness=1e4))
warned = pytest.mark.filterwarnings("ignore:.*overlap at the start")


@warned
@ways
@pytest.mark.parametrize(("stiffness", "damping", "times"), [(1e4, 0.0, 2.0), (1e4, 20.0, None), (1e7, 0.0, 1.0)])
def test_balls_in_flight_part_as_from_a_spring_whose_end_moves(others, stiffness, damping, times):
    """Undamped at twice the speed of the end, or with it where steps do not resolve the spring; kinetic energy is gained."""
    contact = Contact(surface=Surface(0.0, stiffness=stiffness, damping=damping))
    found = run(BALLS, HIGH, np.zeros(12), contact, 0.1, others)
    apart = found.v[:, 9] - found.v[:, 3]
    assert apart.max() < PARTING
    assert apart[-1] == pytest.approx(times * SHRINKS, rel=1e-6) if times else SHRINKS < apart[-1] < 2.0 * SHRINKS
    kinetic = 0.25 * apart[-1] ** 2  # of half a kilogram
    if not others:  # which settle on the ground
        assert found.contact.gained.sum() == pytest.approx(kinetic, rel=1e-2 if damping else 1e-6)
        assert found.audit.contact.gained == pytest.approx(kinetic, rel=0.1)
        assert found.audit.contact.gains > 0


@warned
@ways
@pytest.mark.parametrize("stiffness", [1e4, 1e6])
def test_a_ball_in_the_ground_comes_out_slowly(others, stiffness):
    """5 cm deep, as with rigid contact; its spring would throw it up at 5 and 50 m/s."""
    found = run(BALLS[:1], [(0, 0, 0.5 * R)], np.zeros(6), Contact(surface=Surface(stiffness=stiffness)), 0.5, others)
    assert found.v[:, 5].max() < PARTING
    assert found.q[-1, 6] > 0.97 * R


@warned
@ways
def test_a_motion_is_continued_while_bodies_part(others):
    far = [solid(f"far{k}", Sphere(R)) for k in range(others)]
    mechanism = unconnected(*BALLS, *far)
    q = [x for place in (*HIGH, *((50.0 + k, 0, R) for k in range(others))) for x in (0.0, 0.0, 0.0, 1.0, *place)]
    sim = MechanismSimulation(Setup(mechanism, q, np.zeros(mechanism.nv), contact=SOFT, side_by_side=not others))
    whole, begun = sim.step(sim.start(), 60), sim.step(sim.start(), 17)
    again = sim.step(begun, 43)
    assert np.array_equal(again.v, whole.v)
    assert 0.3 < whole.v[9] - whole.v[3] < PARTING
    batch = sim.batch(2)
    batch.step(60)
    assert np.array_equal(batch.v[1], whole.v)
    if not others:  # scenes continue rows without what they carry
        batch.load(begun, [0])
        batch.step(43)
        assert np.array_equal(batch.v[0], whole.v)


@warned
def test_every_start_has_its_own_overlaps():
    """Whatever overlaps at the start of the simulation; where nothing does, springs are whole."""
    mechanism, still = unconnected(*BALLS), np.zeros(12)
    deep, less, apart = (np.array([0, 0, 0, 1, 0, 0, 5, 0, 0, 0, 1, x, 0, 5.0]) for x in (0.1, 0.19, 0.21))
    towards = np.array([0, 0, 0, 1.0, 0, 0, 0, 0, 0, 0, 0, 0])
    sim = MechanismSimulation(Setup(mechanism, deep, still, contact=SOFT, side_by_side=True))
    alone = MechanismSimulation(Setup(mechanism, apart, towards, contact=SOFT, side_by_side=True))
    bounced = alone.run(duration=0.1)
    assert np.abs(sim.run(apart, towards, duration=0.1).v - bounced.v).max() < 1e-12
    assert bounced.v[-1, 9] == pytest.approx(1.0, rel=1e-6)
    batch = sim.batch(np.array([deep, less, apart]), np.array([still, still, towards]))
    batch.step(100)
    assert np.abs(batch.v[2] - bounced.v[-1]).max() < 1e-12
    assert batch.v[:2, 9] - batch.v[:2, 3] == pytest.approx(2.0 * SHRINKS, rel=1e-6)
    batch.reset([0], apart, towards)
    batch.step(100)
    assert np.abs(batch.v[0] - bounced.v[-1]).max() < 1e-12
    runs = simulate_batch(mechanism, np.array([deep, less]), duration=0.1, contact=SOFT)
    assert runs.v[1, -1, 9] - runs.v[1, -1, 3] == pytest.approx(2.0 * SHRINKS, rel=1e-6)


def test_springs_throw_where_a_simulation_was_made_without_the_overlap_and_a_warning_says_so():
    mechanism, apart = unconnected(*BALLS), [0, 0, 0, 1, 0, 0, 5, 0, 0, 0, 1, 0.21, 0, 5.0]
    sim = MechanismSimulation(Setup(mechanism, apart, np.zeros(12), contact=SOFT, side_by_side=True))
    with pytest.warns(KumitateWarning, match="'one' and 'two' overlap .* or make the simulation with this start"):
        sim.run([0, 0, 0, 1, 0, 0, 5, 0, 0, 0, 1, 0.15, 0, 5.0], duration=0.003)
