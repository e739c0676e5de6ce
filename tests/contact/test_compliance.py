"""Compliant contact against springs and dampers in closed form, traced pair by pair and in scenes of many bodies."""

from __future__ import annotations

import warnings
from itertools import pairwise, product

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kumitate.contact.impulse.compliance import DAMPED, RESOLVED, Compliance
from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.errors import InputError, KumitateWarning
from kumitate.model import Body, Box, Geometry, Joint, Mechanism, Sphere
from kumitate.simulate.run import simulate
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate.spatial import pose
from kumitate_problems.contact import solid, unconnected

from .with_others import G, R, run, ways

K, C = 2e3, 50.0
SOFT = Contact(surface=Surface(0.5, stiffness=K, damping=C))
SINK = G / K


@ways
def test_bodies_at_rest_have_sunk_in_by_their_weight_over_the_stiffness(others):
    """A ball by m g / k, a box on four corners by a quarter; the lower of two balls by the weight of both."""
    ball = run([solid("ball", Sphere(R))], [(0, 0, R)], np.zeros(6), SOFT, 1.0, others)
    assert R - ball.q[-1, 6] == pytest.approx(SINK, rel=1e-6)
    box = run([solid("box", Box((0.2, 0.16, 0.12)))], [(0, 0, 0.06)], np.zeros(6), SOFT, 1.0, others)
    assert 0.06 - box.q[-1, 6] == pytest.approx(SINK / 4.0, rel=1e-6)
    balls = [solid(f"ball{k}", Sphere(R)) for k in range(2)]
    stack = run(balls, [(0, 0, R), (0, 0, 3 * R)], np.zeros(12), SOFT, 2.0, others)
    assert R - stack.q[-1, 6] == pytest.approx(2.0 * SINK, rel=1e-6)
    assert 2 * R - (stack.q[-1, 13] - stack.q[-1, 6]) == pytest.approx(SINK, rel=1e-6)


@ways
def test_a_ball_on_a_damped_spring_moves_as_in_closed_form_to_the_order_of_the_step(others):
    """z = m g/k (1 − e^{−δt} (cos ωt + δ/ω sin ωt)), δ = c/2m, ω² = k/m − δ²."""
    contact, decay = Contact(surface=Surface(0.5, stiffness=K, damping=8.0)), 4.0
    omega, worst = np.sqrt(K - decay**2), []
    for step in (1e-3, 5e-4):
        found = run([solid("ball", Sphere(R))], [(0, 0, R)], np.zeros(6), contact, 0.5, others, step=step)
        t = found.time
        exact = SINK * (1.0 - np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t)))
        worst.append(np.abs(R - found.q[:, 6] - exact).max() / SINK)
        assert found.audit.contact.gains == 0
    assert worst[0] < 0.04
    assert worst[1] < 0.6 * worst[0]


def rebound(ratio: float, zeta: float, phase: float) -> tuple[float, float]:
    """Of a unit mass that meets a spring with √(k/m) h = `ratio`: the part of its speed that is left, the energy gained."""
    spring = Compliance(ratio**2, 2.0 * zeta * ratio, 1.0, 0.0)
    gap, u, gained = phase, -1.0, 0.0
    for _ in range(10_000):
        law = spring.law(gap, u, u, 1.0)
        impulse = max(law.target - u, 0.0) / (law.softness + 1.0)
        if u > 0.0 and impulse == 0.0:
            return u, gained
        after = u + impulse
        gained = max(gained, 0.5 * impulse * (u + after) + spring.stored(gap, u, after, 1.0))
        gap, u = gap + (0.5 * (u + after) if law.resolved else after), after
    raise AssertionError("it stays")


@pytest.mark.parametrize("ratio", [0.01, 0.1, 0.3, 0.32, 1.0, 100.0])
@pytest.mark.parametrize("zeta", [0.0, 0.02, 0.2, 0.5, 2.0])
def test_a_mass_rebounds_as_from_a_damped_spring_at_any_stiffness(ratio, zeta):
    """e = exp(−2 ζ arccos ζ / √(1 − ζ²)), wherever in the step contact begins."""
    rest = np.exp(-2.0 * zeta * abs(np.arccos(zeta + 0j) / np.sqrt(1.0 - zeta**2 + 0j)))
    found = np.array([rebound(ratio, zeta, phase) for phase in np.linspace(0.05, 0.95, 7)])
    resolved = ratio**2 <= RESOLVED and 2.0 * zeta * ratio <= DAMPED
    assert found[:, 0] == pytest.approx(rest, abs=0.5 * zeta * ratio**2 + 1e-5 if resolved else 1e-9)
    assert found[:, 1].max() < 2e-6 * zeta + 1e-14


@ways
@pytest.mark.parametrize("stiffness", [1e3, 1e5, 1e7])
def test_an_undamped_ball_comes_back_to_its_height(others, stiffness):
    """Resolved by the step, at the border, and far stiffer."""
    contact = Contact(surface=Surface(0.5, stiffness=stiffness))
    found = run([solid("ball", Sphere(R))], [(0, 0, 2 * R)], np.zeros(6), contact, 0.45, others)
    assert found.q[200:, 6].max() - R == pytest.approx(R, rel=1e-3)
    assert found.q[200:, 6].max() - R < R * (1.0 + 1e-6)
    assert found.audit.contact.gained < 2e-6  # the others settle on springs that steps do not resolve


@ways
def test_a_brick_that_lands_flat_on_four_springs_comes_back_to_its_height(others):
    """Each corner has the mass of a quarter of the brick, not that which it would have alone."""
    brick, contact = solid("brick", Box((0.2, 0.16, 0.12))), Contact(surface=Surface(0.5, stiffness=5e3))
    found = run([brick], [(0, 0, 0.16)], np.zeros(6), contact, 0.45, others)
    height, v = found.q[:, 6] - 0.06, found.v[:, :6]
    energy = (0.5 * v[:, 5] ** 2 + G * height)[height > 5e-4]
    assert (height < -1e-3).any()
    assert energy.max() - energy[0] < 1e-12
    assert energy.min() > energy[0] * (1.0 - 5e-4)
    assert np.abs(v[:, :3]).max() < 1e-9


def tilted_bricks(step: float, others: int) -> tuple[np.ndarray, float]:
    """Of bricks of 1 kg that fall tilted onto a floor without friction: changes of energy in flight, and those told [J]."""
    brick = solid("brick", Box((0.2, 0.16, 0.12)))
    inertia = np.array([0.16**2 + 0.12**2, 0.2**2 + 0.12**2, 0.2**2 + 0.16**2]) / 12.0
    corners = 0.5 * np.array(list(product(*[(-x, x) for x in (0.2, 0.16, 0.12)])))
    mechanism = unconnected(brick, *(solid(f"far{k}", Sphere(R)) for k in range(others)))
    contact = Contact(surface=Surface(0.0, stiffness=1e3))
    simulation = MechanismSimulation(Setup(mechanism, contact=contact, side_by_side=not others, step=step))
    changes, told = [], 0.0
    for seed in (39, 47, 53):
        rng = np.random.default_rng(seed)
        turn = Rotation.from_rotvec(rng.normal(size=3) * rng.choice([0.1, 0.3, 0.8]))
        far = [x for k in range(others) for x in (0.0, 0.0, 0.0, 1.0, 50.0 + k, 0.0, R)]
        run = simulation.run([*turn.as_quat(), 0.0, 0.0, 0.25, *far], np.zeros(mechanism.nv), duration=0.6)
        energy = 0.5 * (run.v[:, :3] ** 2 @ inertia + (run.v[:, 3:6] ** 2).sum(axis=1)) + G * run.q[:, 6]
        lowest = (run.q[:, 6, None] + Rotation.from_quat(run.q[:, :4]).as_matrix()[:, 2] @ corners.T).min(axis=1)
        assert (lowest < -0.01).any()
        changes.append((energy - energy[0])[lowest > 1e-4])
        told = max(told, run.audit.contact.gained)
    return np.concatenate(changes), told


@ways
def test_tilted_bricks_come_back_with_their_energy_to_order_two(others):
    """Of 2.45 J, though corners touch one after the other, and are not pushed alike."""
    (coarse, told), (fine, _) = tilted_bricks(1e-3, others), tilted_bricks(5e-4, others)
    assert np.abs(coarse).max() < 5e-4
    assert coarse.max() < 1.2e-4
    assert told < 1e-4
    assert np.abs(fine).max() < 0.3 * np.abs(coarse).max()


def test_hard_and_compliant_shapes_of_one_body_touch_side_by_side():
    """A sledge with a rigid and a compliant runner; it sinks in at the side that gives way."""
    runners = [Body(name, 0.5, inertia=(1e-3,) * 3, collisions=(Geometry(Sphere(R)),)) for name in ("hard", "soft")]
    joints = (
        Joint("free", "floating", "world", "hard"), Joint("weld", "fixed", "hard", "soft", pose=pose((1.0, 0.0, 0.0)))
    )  # fmt: skip
    contact = Contact(surfaces={"soft": Surface(stiffness=K, damping=C)})
    found = simulate(Mechanism("sledge", tuple(runners), joints), [0, 0, 0, 1, 0, 0, R], duration=0.5, contact=contact)
    assert found.q[-1, 6] == pytest.approx(R, abs=1e-9)
    turn = -2.0 * found.q[-1, 1]
    assert -turn == pytest.approx(0.5 * G / K, rel=1e-2)


@ways
def test_a_damped_ball_has_the_period_and_decay_of_its_spring(others):
    """T = 2π/ω_d and a logarithmic decrement of δ T, δ = c/2m; it rests m g / k deep."""
    contact = Contact(surface=Surface(0.5, stiffness=5e3, damping=12.0))
    found = run([solid("ball", Sphere(R), 2.0)], [(0, 0, R)], np.zeros(6), contact, 0.8, others, step=2e-4)
    depth = R - found.q[:, 6] - 2.0 * G / 5e3
    rises = np.flatnonzero((depth[:-1] < 0.0) & (depth[1:] >= 0.0))
    at = found.time[rises] - depth[rises] * 2e-4 / (depth[rises + 1] - depth[rises])
    peaks = np.array([depth[a:b].max() for a, b in pairwise(rises)])
    period = 2.0 * np.pi / np.sqrt(2500.0 - 9.0)
    assert np.diff(at) == pytest.approx(period, rel=1e-4)
    assert np.log(peaks[:-1] / peaks[1:]) == pytest.approx(3.0 * period, rel=1e-3)


@ways
def test_a_stack_rests_on_springs_far_stiffer_than_its_steps(others):
    """Where the lower spring bears more than its ball by itself would."""
    contact = Contact(surface=Surface(0.5, stiffness=1e6))
    balls = [solid(f"ball{k}", Sphere(R)) for k in range(2)]
    found = run(balls, [(0, 0, R), (0, 0, 3 * R)], np.zeros(12), contact, 0.3, others)
    assert R - found.q[-1, 6] == pytest.approx(2.0 * G / 1e6, rel=1e-4)
    assert 3.0 * R - found.q[-1, 13] == pytest.approx(3.0 * G / 1e6, rel=1e-4)


@ways
def test_the_less_stiff_of_two_surfaces_counts_unless_the_pair_has_its_own(others):
    balls, places = [solid("one", Sphere(R)), solid("two", Sphere(R))], [(0, 0, R), (1, 0, R)]
    surfaces = {"ground": Surface(stiffness=2 * K, damping=C), "one": Surface(stiffness=K, damping=C)}
    contact = Contact(surfaces=surfaces, pairs={("ground", "two"): Surface(stiffness=4 * K, damping=C)})
    found = run(balls, places, np.zeros(12), contact, 1.0, others)
    assert R - found.q[-1, [6, 13]] == pytest.approx([SINK, SINK / 4.0], rel=1e-5)


@ways
def test_what_has_sunk_in_is_no_overlap_that_must_be_pushed_apart(others):
    with warnings.catch_warnings():
        warnings.simplefilter("error", KumitateWarning)
        found = run([solid("ball", Sphere(R))], [(0, 0, R - SINK)], np.zeros(6), SOFT, 0.01, others)
    assert np.abs(found.q[:, 6] - (R - SINK)).max() < 1e-12
    with pytest.warns(KumitateWarning, match="overlap at the start"):
        run([solid("ball", Sphere(R))], [(0, 0, R - SINK)], np.zeros(6), "rigid", 0.01, others)


@ways
def test_sliding_and_rolling_go_on_upon_soft_ground(others):
    """A settled ball that slides loses μ g until it rolls with v / (1 + I / m s²), s being its height above the ground."""
    contact = Contact(surface=Surface(0.3, stiffness=K, damping=C))
    found = run([solid("ball", Sphere(R))], [(0, 0, R - SINK)], [0, 0, 0, 1, 0, 0], contact, 0.2, others)
    speed = np.linalg.norm(found.v[:, 3:6], axis=1)
    assert speed[50] == pytest.approx(1.0 - 0.3 * G * 0.05, abs=1e-3)
    assert speed[-1] == pytest.approx(1.0 / (1.0 + 0.4 * (R / (R - SINK)) ** 2), abs=1e-6)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Surface(stiffness=0.0), "stiffness"),
        (lambda: Surface(stiffness=-1.0), "stiffness"),
        (lambda: Surface(damping=1.0), "no stiffness"),
        (lambda: Surface(stiffness=1e4, damping=-1.0), "damping"),
        (lambda: Surface(stiffness=1e4, restitution=0.5), "rebounds follows from its damping"),
        (lambda: Contact("multipoint", surface=Surface(stiffness=1e4)), "only rigid contact"),
    ],
)
def test_refusals_say_why(make, words):
    with pytest.raises(InputError, match=words):
        make()
