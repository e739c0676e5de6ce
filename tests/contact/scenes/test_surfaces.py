"""Surfaces of scenes: belts, thresholds of restitution, and what holds between two bodies, against closed forms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.errors import InputError
from kumitate.model import Body, Box, Geometry, Joint, Mechanism, Sphere
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate.spatial import pose
from kumitate_problems.contact import solid, unconnected

from .places import BRICK, G, simulation, upright

H = 1e-3
AWAY = [solid("far1", BRICK), solid("far2", BRICK)]
FAR = ((50.0, 0.0, 0.06), (60.0, 0.0, 0.06))
BELT = Surface(0.5, belt=(0.6, 0.0, 0.0))


def test_a_brick_on_a_conveyor_is_taken_along():
    """v_k = k μ g h until it has the speed of the belt; the belt does work until then, friction keeps half of it as heat."""
    sim = simulation(unconnected(solid("brick", BRICK), *AWAY), Contact(surface=Surface(0.5), surfaces={"ground": BELT}))
    run = sim.run(upright((0.0, 0.0, 0.06), *FAR), duration=0.3)
    speeds = np.minimum(0.5 * G * H * np.arange(301), 0.6)
    assert run.v[:, 3] == pytest.approx(speeds, abs=1e-9)
    assert run.audit.energy_drift < 1e-9
    assert run.audit.work == pytest.approx(3 * 0.5 * 0.6**2, abs=1e-6)
    assert run.audit.contact.work == pytest.approx(run.audit.work, abs=1e-9)
    assert run.audit.contact.gains == 0  # what the belt's motor does is not a gain of contact
    assert run.contact.velocity[-1, :, 0] == pytest.approx(0.0, abs=1e-9)  # nothing slips any more
    assert run.contact.dissipation_gap.max() < 1e-6


def test_a_ball_on_a_conveyor_rolls_backwards_with_it():
    """A ball that is put on a belt of speed u: at the end it moves at 2 u / 7 and spins at −5 u / (7 R) (textbook)."""
    ball = unconnected(solid("ball", Sphere(0.1)))
    sim = simulation(ball, Contact(surface=Surface(0.5), surfaces={"ground": BELT}))
    run = sim.run(upright((0.0, 0.0, 0.1)), duration=0.3)
    assert np.linalg.norm(run.v[-1, 3:6]) == pytest.approx(2.0 / 7.0 * 0.6, abs=1e-9)
    assert run.v[-1, 1] == pytest.approx(-5.0 / 7.0 * 0.6 / 0.1, abs=1e-8)


@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_a_belt_does_not_reduce_rebounds(restitution):
    """A ball hits a belt at 1 m/s, which slips under it: e upwards, μ (1 + e) along the belt, and no gain."""
    surface = Surface(0.5, restitution=restitution)
    contact = Contact(surface=surface, surfaces={"ground": replace(surface, belt=(5.0, 0.0, 0.0))})
    ball = replace(unconnected(solid("ball", Sphere(0.1))), gravity=(0.0, 0.0, 0.0))
    run = simulation(ball, contact).run(upright((0.0, 0.0, 0.15)), [0.0, 0.0, 0.0, 0.0, 0.0, -1.0], duration=0.1)
    left = [0.5 * (1.0 + restitution), 0.0, restitution]
    assert run.momentum[-1, 3:] / run.momentum[0, 5] == pytest.approx(np.negative(left), abs=1e-9)
    assert run.audit.contact.gains == 0
    assert run.audit.contact.work == pytest.approx(run.audit.work, abs=1e-12)


def test_a_belt_is_in_the_axes_of_its_body_and_pushes_it_back():
    """A free plate with a belt, turned by 90° about z, on smooth ground: brick and plate part with opposite momenta."""
    plate, brick = solid("plate", Box((1.0, 1.0, 0.1)), 4.0), solid("brick", BRICK)
    contact = Contact(
        surface=Surface(0.5), surfaces={"plate": Surface(0.5, belt=(0.3, 0.0, 0.0))}, pairs={("ground", "plate"): Surface(0.0)}
    )
    sim = simulation(unconnected(plate, brick, *AWAY), contact)
    s = np.sqrt(0.5)
    run = sim.run([0.0, 0.0, s, s, 0.0, 0.0, 0.05, *upright((0.0, 0.0, 0.16), *FAR)], duration=0.2)
    assert run.momentum[-1, 3:5] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert run.q[-1, 12] > 0.01  # along y
    assert run.v[-1, 10] == pytest.approx(0.3 * 4.0 / 5.0, abs=1e-6)


def test_a_robot_on_a_conveyor_is_carried_against_its_spring():
    """A cart on a slide with a spring, upon a belt: it stays where the spring takes all friction, μ m g / k."""
    cart = Body("cart", 2.0, inertia=(0.1, 0.1, 0.1), collisions=(Geometry(Box((0.2, 0.2, 0.1))),))
    lift = Body("carrier", 0.5, inertia=(0.1, 0.1, 0.1))
    joints = (
        Joint(
            "slide",
            "prismatic",
            "world",
            "carrier",
            axis=(1.0, 0.0, 0.0),
            stiffness=100.0,
            damping=20.0,
            pose=pose((0.0, 0.0, 0.05)),
        ),
        Joint("fall", "prismatic", "carrier", "cart", axis=(0.0, 0.0, 1.0)),
    )
    robot = Mechanism("cart", (lift, cart), joints)
    contact = Contact(surface=Surface(0.4), surfaces={"ground": Surface(0.4, belt=(1.0, 0.0, 0.0))})
    run = simulation(robot, contact).run([0.0, 0.0], duration=3.0, every=10)
    assert run.q[-1, 0] == pytest.approx(0.4 * 2.0 * G / 100.0, abs=1e-6)


@pytest.mark.parametrize("count", [1, 3], ids=["traced pairs", "scene"])
@pytest.mark.parametrize(("height", "bounces"), [(0.04, False), (0.06, True)])
def test_collisions_slower_than_the_threshold_do_not_rebound(count, height, bounces):
    """A fall of 5 cm gives 0.99 m/s."""
    balls = unconnected(*(solid(f"ball{k}", Sphere(0.1)) for k in range(count)))
    contact = Contact(surface=Surface(0.0, restitution=0.5, threshold=np.sqrt(2.0 * G * 0.05)))
    q = upright((0.0, 0.0, 0.1 + height), *((k, 0.0, 0.1) for k in range(1, count)))
    run = MechanismSimulation(Setup(balls, contact=contact)).run(q, duration=0.2)
    expected = 0.5 * np.sqrt(2.0 * G * height) if bounces else 0.0
    assert run.v[:, 5].max() == pytest.approx(expected, abs=0.02 if bounces else 1e-9)


@pytest.mark.parametrize("count", [2, 4], ids=["traced pairs", "scene"])
def test_a_pair_has_a_surface_of_its_own(count):
    """Two bricks on the same floor, one of them on ice: only it slides on without losing speed."""
    bricks = unconnected(*(solid(f"brick{k}", BRICK) for k in range(count)))
    contact = Contact(surface=Surface(0.5), pairs={("brick0", "ground"): Surface(0.1)})
    v = np.zeros(6 * count)
    v[3] = v[9] = 1.0
    sim = MechanismSimulation(Setup(bricks, contact=contact, side_by_side=count == 2))
    run = sim.run(upright(*((0.0, k, 0.06) for k in range(count))), v, duration=0.1)
    assert run.v[-1, [3, 9]] == pytest.approx([1.0 - 0.1 * G * 0.1, 1.0 - 0.5 * G * 0.1], abs=1e-9)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Contact(surface=BELT), "without a belt"),
        (lambda: Contact(pairs={("a", "b"): BELT}), "without belts"),
        (lambda: Contact(pairs={("a", "a"): Surface()}), "two different bodies"),
        (lambda: Contact(pairs={("a", "b"): 0.3}), "kumitate.Surface"),
        (lambda: Surface(threshold=-1.0), "threshold"),
        (lambda: Surface(belt=(1.0, 0.0)), "belt"),
        (
            lambda: MechanismSimulation(
                Setup(unconnected(solid("a", BRICK)), contact=Contact("penalty", surfaces={"ground": BELT}))
            ),
            "only rigid contact has belts",
        ),
        (lambda: simulation(unconnected(solid("a", BRICK)), Contact(pairs={("a", "floor"): Surface()})), "floor"),
    ],
)
def test_refusals_say_why(make, words):
    with pytest.raises(InputError, match=words):
        make()


@pytest.mark.parametrize("count", [2, 4], ids=["traced pairs", "scene"])
def test_bodies_of_a_mechanism_that_never_touch_pass_through_each_other(count):
    bricks = replace(unconnected(*(solid(f"brick{k}", BRICK) for k in range(count))), no_contact=(("brick0", "brick1"),))
    q = upright((0.0, 0.0, 0.06), (0.0, 0.0, 0.12), *((k, 0.0, 0.06) for k in range(2, count)))
    run = MechanismSimulation(Setup(bricks, contact="rigid", side_by_side=count == 2)).run(q, duration=0.2)
    assert run.q[-1, [6, 13]] == pytest.approx([0.06, 0.06], abs=1e-9)
    assert ("brick0", "brick1") not in run.contact.bodies
