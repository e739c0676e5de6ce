"""Closed forms of contact by both schedules: code of each pair, and lists with other bodies far away."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.model import (
    Body,
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    Joint,
    Mechanism,
    Plane,
    Prismatic,
    Revolute,
    Shape,
    Sphere,
)
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate.spatial import pose
from kumitate_problems.contact import solid, unconnected

from .with_others import G, R, ways

H = 1e-3
#: What rides on others, and a mass that it does not move [kg].
BOX, HEAVY = Box((0.2, 0.2, 0.1)), 1e6


def moved(mechanism, q, v, contact, duration, others, slope=0.0):
    """A run of a mechanism, with so many balls far away; gravity leans by `slope` [rad] towards +x."""
    far = unconnected(*(solid(f"far{k}", Sphere(R)) for k in range(others)))
    gravity = (G * math.sin(slope), 0.0, -G * math.cos(slope))
    whole = replace(mechanism, bodies=mechanism.bodies + far.bodies, joints=mechanism.joints + far.joints, gravity=gravity)
    simulation = MechanismSimulation(Setup(whole, contact=contact, step=H, side_by_side=not others))
    assert bool(simulation.interaction.of_many_bodies) == (others > 0)
    away = [x for k in range(others) for x in (0.0, 0.0, 0.0, 1.0, -50.0 - k, 0.0, 30.0)]
    return simulation.run([*np.ravel(q), *away], [*np.ravel(v), *[0.0] * 6 * others], duration=duration)


def of_inertia(name: str, shape: Shape, *inertia: float) -> Body:
    return Body(name, 1.0, inertia=inertia, collisions=(Geometry(shape),))


def turned_about_y(angle: float) -> list[float]:
    return [0.0, math.sin(0.5 * angle), 0.0, math.cos(0.5 * angle)]


@ways
@pytest.mark.parametrize("part", [-1e-3, 1e-3])
def test_a_brick_over_an_edge_falls_where_its_center_is_beyond_it(others, part):
    brick = Box((0.2, 0.16, 0.12))
    lower, upper = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.06], [0.0, 0.0, 0.0, 1.0, 0.1 * (1.0 + part), 0.0, 0.18]
    run = moved(unconnected(solid("lower", brick), solid("upper", brick)), [lower, upper], np.zeros(12), Contact(), 0.4, others)
    tilt = abs(run.q[-1, 8])  # of the upper brick: sin(angle / 2)
    # θ = δ/h (cosh λt − 1), λ² = g h / (k² + h²): over the edge, h below the center and δ beside it
    rate = math.sqrt(G * 0.06 / ((0.2**2 + 0.12**2) / 12.0 + 0.06**2))
    angle = 1e-4 / 0.06 * (math.cosh(rate * 0.4) - 1.0)
    assert tilt == pytest.approx(0.5 * angle, rel=0.05) if part > 0.0 else tilt < 1e-9


@ways
def test_a_disc_that_spins_on_its_face_stops_as_its_rim_is_braked(others):
    """All of its weight is carried at the rim: I ω / (μ m g R), I = ½ m R²."""
    disc = of_inertia("disc", Cylinder(0.1, 0.04), 0.25e-2 + 0.04**2 / 12.0, 0.25e-2 + 0.04**2 / 12.0, 0.5e-2)
    run = moved(unconnected(disc), [0, 0, 0, 1, 0, 0, 0.02], [0, 0, 10.0, 0, 0, 0], Contact(surface=Surface(0.5)), 0.12, others)
    turning = np.abs(run.v[:, 2]) > 1e-6
    assert turning.sum() * H == pytest.approx(0.1 * 10.0 / (2.0 * 0.5 * G), abs=1.5 * H)
    assert np.abs(run.v[-1, :6]).max() < 1e-8


@ways
def test_a_ball_with_oblique_backspin_rolls_at_five_and_two_sevenths(others):
    """Whatever the friction, momentum about the point of contact is kept: v = 5/7 v₀ + 2/7 ω₀ × R z."""
    start, spin = np.array([3.0, 0.0]), np.array([-10.0, -20.0])
    v = [*spin, 0.0, *start, 0.0]
    run = moved(unconnected(solid("ball", Sphere(R))), [0, 0, 0, 1, 0, 0, R], v, Contact(surface=Surface(0.8)), 0.4, others)
    found = (run.q[-1, 4:6] - run.q[-101, 4:6]) / (100 * H)
    assert found == pytest.approx(5.0 / 7.0 * start + 2.0 / 7.0 * R * np.array([spin[1], -spin[0]]), abs=1e-8)


@ways
def test_a_cylinder_rolls_down_at_two_thirds(others):
    cylinder = of_inertia("cylinder", Cylinder(0.1, 0.2), 0.0025 + 0.04 / 12.0, 0.0025 + 0.04 / 12.0, 0.005)
    lying = [math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5), 0.0, 0.0, 0.1]
    run = moved(unconnected(cylinder), lying, np.zeros(6), Contact(surface=Surface(0.5)), 0.5, others, slope=0.3)
    acceleration = 2.0 / 3.0 * G * math.sin(0.3)
    assert run.q[-1, 4] == pytest.approx(0.5 * acceleration * 0.5**2, abs=0.5 * acceleration * 0.5 * H * 1.1)


@ways
def test_an_ellipsoid_rocks_about_its_flattest_side_with_its_period(others):
    """ω² = g (a²/c − c) / (k² + c²), k² = (a² + c²)/5; level it rests exactly."""
    a, b, c = 0.1, 0.08, 0.05
    shape, inertia = Ellipsoid((a, b, c)), [(p * p + q * q) / 5.0 for p, q in ((b, c), (a, c), (a, b))]
    contact, angle = Contact(surface=Surface(2.0)), 0.02
    rest = moved(unconnected(of_inertia("egg", shape, *inertia)), [0, 0, 0, 1, 0, 0, c], np.zeros(6), contact, 0.2, others)
    assert np.abs(rest.q[-1, :7] - rest.q[0, :7]).max() < 1e-10
    height = math.hypot(a * math.sin(angle), c * math.cos(angle))
    q = [*turned_about_y(angle), 0.0, 0.0, height]
    run = moved(unconnected(of_inertia("egg", shape, *inertia)), q, np.zeros(6), contact, 0.6, others)
    tilt = run.q[:, 1]
    crossings = run.time[1:][np.diff(np.sign(tilt)) != 0.0]
    rate = math.sqrt(G * (a * a / c - c) / ((a * a + c * c) / 5.0 + c * c))
    assert np.diff(crossings)[0] == pytest.approx(math.pi / rate, abs=2.0 * H)
    assert crossings[0] == pytest.approx(0.5 * math.pi / rate, abs=2.0 * H)


@ways
def test_a_ball_rolls_down_a_groove_about_its_axis_through_both_lines(others):
    """Both points are R/√2 from that axis: a = g sin α / (1 + 2/5 · 2)."""
    sides = [Geometry(Plane(), pose(rpy=(s * 0.25 * math.pi, 0.0, 0.0))) for s in (1.0, -1.0)]
    contact = Contact(ground=sides, surface=Surface(0.9))
    q = [0, 0, 0, 1, 0, 0, R * math.sqrt(2.0)]
    run = moved(unconnected(solid("ball", Sphere(R))), q, np.zeros(6), contact, 0.4, others, slope=0.3)
    acceleration = G * math.sin(0.3) / 1.8
    assert run.q[-1, 4] == pytest.approx(0.5 * acceleration * 0.4**2, abs=0.5 * acceleration * 0.4 * H * 1.1)


@ways
def test_a_ladder_on_a_smooth_wall_is_pushed_by_half_its_weight_by_the_slope(others):
    """N = m g (L/2) cos φ / (r + L sin φ), r being the radius of its ends; nothing moves."""
    length, radius, angle = 1.0, 0.02, 1.0
    ladder = of_inertia("ladder", Capsule(radius, length), 1.0 / 12.0, 1.0 / 12.0, 1e-3)
    ends = 0.5 * length * np.array([math.cos(angle), 0.0, math.sin(angle)])
    wall = Body("wall", 0.0, collisions=(Geometry(Plane(), pose((0.0, 0.0, 0.0), rpy=(0.0, -0.5 * math.pi, 0.0))),))
    mechanism = unconnected(ladder)
    mechanism = replace(
        mechanism, bodies=(*mechanism.bodies, wall), joints=(*mechanism.joints, Joint("held", "fixed", "world", "wall"))
    )
    tilt = 0.5 * math.pi - angle
    q = [*turned_about_y(tilt), -radius - ends[0], 0.0, radius + ends[2]]
    contact = Contact(ground=[Geometry(Plane())], surface=Surface(0.5), pairs={("ladder", "wall"): Surface(0.0)})
    run = moved(mechanism, q, np.zeros(6), contact, 0.1, others)
    expected = 0.5 * length * math.cos(angle) * G / (radius + length * math.sin(angle))
    assert run.contact.on("ladder")[-2] == pytest.approx([0.0, 0.0, G], abs=1e-6)
    pushes = [abs(run.contact.force[-2, k, 0]) for k, pair in enumerate(run.contact.bodies) if "wall" in pair]
    assert sum(pushes) == pytest.approx(expected, rel=1e-6)
    assert np.abs(run.v[-1, :6]).max() < 1e-9


@ways
def test_a_pendulum_that_hits_a_wall_comes_back_to_e_squared_of_its_height(others):
    """At its lowest point, by e = 0.7: heights of 0.49, 0.2401 of the first one."""
    length, radius = 0.5, 0.05
    bob = Body("bob", 1.0, center_of_mass=(0.0, 0.0, -length), inertia=(1e-3,) * 3,
               collisions=(Geometry(Sphere(radius), pose((0.0, 0.0, -length))),))  # fmt: skip
    pin = Joint("pin", Revolute(), "world", "bob", axis=(0.0, 1.0, 0.0), pose=pose((0.0, 0.0, 2.0)))
    wall = Geometry(Plane(), pose((radius, 0.0, 0.0), rpy=(0.0, -0.5 * math.pi, 0.0)))
    contact = Contact(ground=[wall], surface=Surface(0.0, restitution=0.7))
    run = moved(Mechanism("pendulum", (bob,), (pin,)), [0.6], [0.0], contact, 2.0, others)
    angle, speed = run.q[:, 0], run.v[:, 0]
    hits = np.flatnonzero(np.diff(speed) * np.sign(speed[:-1]) < -0.5)
    heights = [1.0 - np.cos(angle[a:b]).min() for a, b in zip((0, *hits), (*hits, len(angle)), strict=True)]
    assert heights[1] / heights[0] == pytest.approx(0.49, abs=0.01)
    assert heights[2] / heights[0] == pytest.approx(0.2401, abs=0.01)


# --- bodies on bodies that move ---------------------------------------------------------------------------------------------
def carried(kind, axis, stiffness, shape, at=(0.0, 0.0, 0.0), rider=BOX, mass=HEAVY):
    """A body on one joint of the world, which a free one rides on."""
    carrier = Body("carrier", mass, inertia=(mass,) * 3, collisions=(Geometry(shape, pose(at)),))
    joints = (
        Joint("joint", kind, "world", "carrier", axis=axis, stiffness=stiffness),
        Joint("free", "floating", "world", "rider"),
    )
    return Mechanism("carried", (carrier, solid("rider", rider)), joints)


@ways
@pytest.mark.parametrize("part", [0.98, 1.02])
def test_a_rider_of_a_turntable_slides_outwards_beyond_the_cone(others, part):
    """By (ω² r − μ g) t² / 2; steps along tangents add ω² r h t / 2."""
    mu, r, t = 0.5, 1.0, 0.2
    mechanism = carried(Revolute(), (0.0, 0.0, 1.0), 0.0, Box((3.0, 3.0, 0.1)), (0.0, 0.0, -0.05))
    rate, contact = math.sqrt(part * mu * G / r), Contact(ground=(), surface=Surface(mu))
    run = moved(mechanism, [0, 0, 0, 0, 1, r, 0, 0.05], [rate, 0, 0, rate, 0, r * rate, 0], contact, t, others)
    outwards = math.hypot(run.q[-1, 5], run.q[-1, 6]) - r
    along_tangents = 0.5 * rate**2 * r * H * t
    assert outwards == pytest.approx(0.5 * max(part - 1.0, 0.0) * mu * G * t**2 + along_tangents, abs=0.1 * along_tangents)


@ways
@pytest.mark.parametrize("part", [0.97, 1.2])
def test_a_box_on_a_shaken_plate_slips_where_the_plate_outruns_friction(others, part):
    """From the turning point on until A ω sin ωt = μ g t, by A (1 − cos ωt) − μ g t² / 2; below A ω² = μ g never."""
    mu, rate = 0.4, 20.0
    amplitude = part * mu * G / rate**2
    mechanism = carried(Prismatic(), (1.0, 0.0, 0.0), HEAVY * rate**2, Box((2.0, 1.0, 0.1)), (0.0, 0.0, -0.05))
    start, contact = [amplitude, 0, 0, 0, 1, amplitude, 0, 0.05], Contact(ground=(), surface=Surface(mu))
    run = moved(mechanism, start, np.zeros(7), contact, 0.1, others)
    slipped, angle = run.q[:, 5] - run.q[:, 0], 1.0
    for _ in range(100):
        angle = part * math.sin(angle)
    way = (part * (1.0 - math.cos(angle)) - 0.5 * angle**2) * mu * G / rate**2
    # of order one: 7.4 % too little here, 3.7 % at half the step
    assert slipped.max() == pytest.approx(way, rel=0.1) if part > 1.0 else np.abs(slipped).max() < 1e-11


@ways
def test_a_ball_drives_a_smooth_wedge_away(others):
    """On a rail, by m g sin α cos α / (M + m sin² α)."""
    alpha, t = 0.5, 0.15
    mechanism = carried(Prismatic(), (1.0, 0.0, 0.0), 0.0, Box((2.0, 1.0, 0.2)), rider=Sphere(R), mass=2.0)
    wedge, ball = mechanism.bodies
    wedge = replace(wedge, collisions=(replace(wedge.collisions[0], pose=pose((0.0, 0.0, 0.0), rpy=(0.0, alpha, 0.0))),))
    up, contact = 0.1 + R, Contact(ground=(), surface=Surface(0.0))
    q = [0, 0, 0, 0, 1, up * math.sin(alpha), 0, up * math.cos(alpha)]
    run = moved(replace(mechanism, bodies=(wedge, ball)), q, np.zeros(7), contact, t, others)
    rate = ball.mass * G * math.sin(alpha) * math.cos(alpha) / (wedge.mass + ball.mass * math.sin(alpha) ** 2)
    assert run.v[-1, 0] == pytest.approx(-rate * t, rel=1e-8)


# --- rows and stacks --------------------------------------------------------------------------------------------------------
def row_of_balls(speeds, masses, gap, restitution, others):
    """The speeds of balls in a row that stand with gaps, some of which move, once all have met."""
    balls = unconnected(*(solid(f"ball{k}", Sphere(R), mass) for k, mass in enumerate(masses)))
    q, v = [[0, 0, 0, 1, (2.0 * R + gap) * k, 0, R] for k in range(len(masses))], np.zeros((len(masses), 6))
    v[:, 3] = speeds
    run = moved(balls, q, v, Contact(surface=Surface(0.0, restitution=restitution)), 0.03, others)
    assert run.audit.contact.gained < 1e-12
    return run.v[-1, 3 : 6 * len(masses) : 6]


def one_after_the_other(speeds, masses, gap, restitution):
    """The same speeds from impact to impact, each of two balls alone."""
    u, x = np.array(speeds, dtype=float), gap * np.arange(len(masses))
    while (np.diff(u) < -1e-12).any():
        times = np.where(np.diff(u) < -1e-12, -np.diff(x) / np.minimum(np.diff(u), -1e-12), np.inf)
        k = int(np.argmin(times))
        x = x + times[k] * u
        one, other = masses[k : k + 2]
        push = (1.0 + restitution) * (u[k] - u[k + 1]) * one * other / (one + other)
        u[k : k + 2] += -push / one, push / other
    return u


@ways
@pytest.mark.parametrize("gap", [1e-5, 2e-4, 5e-3], ids=["at once", "within a step", "one after the other"])
def test_a_row_of_elastic_balls_with_gaps_hands_its_momentum_on(others, gap):
    """All of it to the last ball, however many gaps close within a step."""
    assert row_of_balls((1.0, 0.0, 0.0), (1.0,) * 3, gap, 1.0, others) == pytest.approx([0.0, 0.0, 1.0], abs=1e-9)
    assert row_of_balls((3.0, 1.0, 0.0), (1.0,) * 3, gap, 1.0, others) == pytest.approx([0.0, 1.0, 3.0], abs=1e-9)


@ways
@pytest.mark.parametrize("speeds", [(1.0, 0.0, 0.0), (3.0, 1.0, 0.0)])
def test_unequal_balls_that_meet_within_a_step_rebound_in_the_order_of_their_times(others, speeds):
    given = speeds, (1.0, 2.0, 4.0), 2e-4, 0.5
    assert row_of_balls(*given, others) == pytest.approx(one_after_the_other(*given), abs=1e-9)


@pytest.mark.parametrize("part", [-2e-3, 2e-3])
def test_four_bricks_reach_beyond_an_edge_by_the_sum_of_reciprocals(part):
    """Each by L/2k beyond the one below, counted from the top; in lists: five bricks are not traced."""
    brick, length = Box((0.2, 0.16, 0.12)), 0.2
    steps = [0.5 * length / k * (1.0 + part) for k in (4, 3, 2, 1)]
    places = [[0, 0, 0, 1, sum(steps[:k]), 0, 0.06 + 0.12 * k] for k in range(5)]
    run = moved(unconnected(*(solid(f"brick{k}", brick) for k in range(5))), places, np.zeros(30), Contact(), 0.5, 1)
    fallen = np.abs(run.q[-1, 5:35:7][1:]).max() + np.abs(run.q[-1] - run.q[0])[:35].max()
    assert fallen > 1e-3 if part > 0.0 else fallen < 1e-9


@ways
@pytest.mark.parametrize(("unit", "apart"), [(1e3, 1e-9), (1e-3, 1e-5)], ids=["millimetres", "kilometres"])
def test_a_brick_that_bounces_and_slides_moves_alike_in_other_units_of_length(others, unit, apart):
    runs = []
    for one in (1.0, unit):
        brick, far = solid("brick", Box((0.2 * one, 0.16 * one, 0.12 * one))), others
        mechanism = unconnected(brick, *(solid(f"far{k}", Sphere(R * one)) for k in range(far)))
        away = [x for k in range(far) for x in (0.0, 0.0, 0.0, 1.0, (-50.0 - k) * one, 0.0, 30.0 * one)]
        q = [0.1, 0.2, 0.05, math.sqrt(1.0 - 0.0525), 0.0, 0.0, 0.2 * one, *away]
        v = [1.0, 2.0, -3.0, 0.5 * one, 0.2 * one, 0.0, *[0.0] * 6 * far]
        setup = Setup(
            replace(mechanism, gravity=(0.0, 0.0, -G * one)), contact=Contact(surface=Surface(0.5, restitution=0.3)), step=H,
            side_by_side=not others,
        )  # fmt: skip
        runs.append(MechanismSimulation(setup).run(q, v, duration=0.6).q[:, :7] / ([1.0] * 4 + [one] * 3))
    assert np.abs(runs[1] - runs[0]).max() < apart
