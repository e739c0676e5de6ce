"""Torsional and rolling friction of rigid contact against closed forms, traced pair by pair and in scenes of many bodies."""

from __future__ import annotations

import numpy as np
import pytest

from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.errors import InputError
from kumitate.model import Body, Box, Geometry, Joint, Mechanism, Plane, Sphere
from kumitate.records.archive import load, save
from kumitate.records.readings import contact_loads
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate.spatial import pose
from kumitate_problems.contact import solid, unconnected

from .with_others import G, R, run, ways

H = 1e-3
I = 0.4 * R**2
LENGTH = 0.005


@ways
def test_a_spinning_ball_stops_after_its_momentum_by_the_largest_moment(others, tmp_path):
    """I dω/dt = −a m g: it stops after I ω / (a m g), and not before."""
    stops = 0.2
    spin = LENGTH * G / I * stops
    found = run(
        [solid("ball", Sphere(R))],
        [(0, 0, R)],
        [0, 0, spin, 0, 0, 0],
        Contact(surface=Surface(0.5, torsional=LENGTH)),
        0.25,
        others,
    )
    expected = np.maximum(spin * (1.0 - found.time / stops), 0.0)
    assert found.v[:, 2] == pytest.approx(expected, abs=1e-9)
    assert load(save(found, tmp_path / "spin.npz")).contact.moment == pytest.approx(found.contact.moment, abs=0.0)
    work = np.trapezoid(np.einsum("nk,nk->n", found.contact.moment[:-1, 0], 0.5 * (found.v[:-1] + found.v[1:])[:, :3]), dx=H)
    assert work == pytest.approx(-0.5 * I * spin**2, rel=0.01)


@ways
@pytest.mark.parametrize("turned", [0.0, 0.7])
def test_a_rolling_ball_is_slowed_down_by_the_length_over_its_radius(others, turned):
    """m a = f and I a / r = b m g − f r: a = (b / r) g / (1 + I / m r²), in any direction along the floor."""
    along = np.array([np.cos(turned), np.sin(turned)])
    v = [-along[1] / R, along[0] / R, 0.0, *along, 0.0]
    found = run([solid("ball", Sphere(R))], [(0, 0, R)], v, Contact(surface=Surface(0.5, rolling=LENGTH)), 0.3, others)
    speed = 1.0 - LENGTH / R * G / 1.4 * found.time
    assert found.q[-1, 4:6] == pytest.approx(along * np.trapezoid(speed, dx=H), abs=1e-3)
    # velocities are in the axes of the ball
    assert np.linalg.norm(found.v[:, 3:6], axis=1) == pytest.approx(speed, abs=1e-8)
    assert np.linalg.norm(found.v[:, :3], axis=1) * R == pytest.approx(speed, abs=1e-8)


@ways
@pytest.mark.parametrize("steeper", [0.95, 1.05])
def test_a_ball_rolls_down_only_slopes_steeper_than_the_length_over_its_radius(others, steeper):
    """Held up to tan θ = b / r; beyond, a = g (sin θ − (b / r) cos θ) / 1.4."""
    angle = np.arctan(LENGTH / R) * steeper
    slope = Contact(ground=[Geometry(Plane(), pose((0, 0, 0), rpy=(0, angle, 0)))], surface=Surface(0.5, rolling=LENGTH))
    start = (R * np.sin(angle), 0.0, R * np.cos(angle))
    found = run([solid("ball", Sphere(R))], [start], np.zeros(6), slope, 0.2, others)
    speed = max(0.0, G * (np.sin(angle) - LENGTH / R * np.cos(angle)) / 1.4 * 0.2)
    assert np.linalg.norm(found.v[-1, 3:6]) == pytest.approx(speed, abs=1e-9)
    if steeper < 1.0:
        assert np.abs(found.q[:, :7] - found.q[0, :7]).max() < 1e-12


@ways
@pytest.mark.parametrize("harder", [0.95, 1.05])
def test_a_box_without_sliding_friction_is_held_by_torsional_friction(others, harder):
    """Its four points share its weight, so that together they hold a m g; more turns it, and it is decelerated by as much."""
    size = (0.2, 0.16, 0.12)
    inertia = (size[0] ** 2 + size[1] ** 2) / 12.0
    push = np.zeros(6 + 6 * others)
    push[2] = harder * LENGTH * G
    surface = Contact(surface=Surface(0.0, torsional=LENGTH))
    found = run([solid("box", Box(size))], [(0, 0, 0.06)], np.zeros(6), surface, 0.1, others, controller=push)
    expected = max(0.0, harder - 1.0) * LENGTH * G / inertia * 0.1
    assert found.v[-1, 2] == pytest.approx(expected, abs=1e-8)


@ways
def test_torsional_friction_between_two_bodies_keeps_their_momentum(others):
    """A ball that spins on a box on smooth ground: both end at the same spin."""
    bodies = [solid("box", Box((0.3, 0.3, 0.1)), 2.0), solid("ball", Sphere(R))]
    spin, of_box = 3.0, 2.0 * (0.3**2 + 0.3**2) / 12.0
    contact = Contact(surface=Surface(0.5, torsional=0.02), pairs={("ground", "box"): Surface(0.0)})
    v = [[0.0] * 6, [0, 0, spin, 0, 0, 0]]
    found = run(bodies, [(0, 0, 0.05), (0, 0, 0.1 + R)], v, contact, 0.2, others)
    assert found.momentum[:, 2] == pytest.approx(I * spin, abs=1e-10)
    assert found.v[-1, [2, 8]] == pytest.approx(I * spin / (I + of_box), abs=1e-9)


@ways
def test_no_step_gains_energy_and_contact_is_all_that_a_free_body_bears(others):
    rng = np.random.default_rng(5)
    contact = Contact(surface=Surface(0.4, torsional=0.01, rolling=0.004))
    for shape in (Box((0.2, 0.16, 0.12)), Sphere(0.1)):
        v = rng.normal(size=6) * [4.0, 4.0, 8.0, 1.0, 1.0, 0.5]
        found = run([solid("body", shape)], [(0, 0, 0.2)], v, contact, 0.6, others)
        account = found.audit.contact
        assert account.gains == 0, (shape, v)
        assert account.residual < 1e-5, (shape, v)
        assert np.abs(found.contact.moment).max() > 0.0
        if not others:  # a scene records one force per pair of shapes, at its center
            assert np.abs(contact_loads(found).tau).max() < 1e-6 * np.abs(found.contact.force).max()


@ways
def test_a_robot_is_slowed_down_by_torsional_friction_of_its_foot(others):
    """A spindle on a slide: a (m₁ + m₂) g slows down the spindle alone."""
    carrier = Body("carrier", 0.5, inertia=(0.1, 0.1, 0.1))
    foot = Body("foot", 1.0, inertia=(I, I, I), collisions=(Geometry(Sphere(R)),))
    slide = Joint("slide", "prismatic", "world", "carrier", axis=(0, 0, 1), pose=pose((0, 0, R)))
    spindle = Joint("spindle", "revolute", "carrier", "foot", axis=(0, 0, 1))
    far = unconnected(*(solid(f"far{k}", Sphere(R)) for k in range(others)))
    robot = Mechanism("spindle", (carrier, foot, *far.bodies), (slide, spindle, *far.joints))
    q = [0.0, 0.0, *(x for k in range(others) for x in (0, 0, 0, 1, 50.0 + k, 0, R))]
    v = [0.0, 20.0, *[0.0] * 6 * others]
    found = MechanismSimulation(Setup(robot, contact=Contact(surface=Surface(0.5, torsional=LENGTH)))).run(q, v, duration=0.2)
    assert found.v[-1, 1] == pytest.approx(20.0 - LENGTH * 1.5 * G / I * 0.2, abs=1e-8)


def test_what_cannot_be_is_refused_by_name():
    for make, words in [
        (lambda: Surface(torsional=-0.1), "torsional"),
        (lambda: Surface(rolling=float("nan")), "rolling"),
        (lambda: Contact("multipoint", surface=Surface(rolling=0.1)), "only rigid contact"),
        (lambda: Contact("penalty", pairs={("a", "b"): Surface(torsional=0.1)}), "torsional=0.1"),
    ]:
        with pytest.raises(InputError, match=words):
            make()
    bodies, contact = unconnected(solid("ball", Sphere(R))), Contact(surface=Surface(rolling=0.1))
    ball = MechanismSimulation(Setup(bodies, contact=contact, side_by_side=True))
    with pytest.raises(InputError, match="rolling friction, as between 'ball' and 'ground', cannot be differentiated"):
        ball.interaction.slopes(None)
