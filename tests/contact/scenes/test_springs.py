"""Penalty contact in scenes: the traced model, closed forms, conservation, and rigid contact of the same scenes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from kumitate.contact.forces import ContactForces
from kumitate.contact.models.penalty import Penalty
from kumitate.contact.parting import PARTING, SHRINKS
from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.errors import InputError, KumitateWarning
from kumitate.model import KINDS, Body, Ellipsoid, Geometry, Joint, Limits, Mechanism, Sphere
from kumitate.simulate.interactions import contact as choice
from kumitate.simulate.scenes import model
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate.spatial import Vector3, pose
from kumitate_problems.contact import solid, unconnected

from .places import BRICK, G, at_random, bin_of, mixed, simulation, upright

SOFT = {"stiffness": 2e4, "damping": 40.0, "friction_sharpness": 100.0}
#: With these, few bodies are a scene, too: they touch nothing.
AWAY = [solid(f"far{k}", BRICK) for k in range(4)]
FAR = tuple((50.0 + k, 0.0, 1e3) for k in range(4))


def penalty(*, friction: float = 0.5, **options: float) -> Contact:
    return Contact("penalty", surface=Surface(friction), options=SOFT | options)


# --- the traced model -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("case", ["a brick slides", "a ball rolls", "a ball on a brick"])
def test_scenes_move_as_the_traced_model_does_in_the_limit(case):
    """The traced model is integrated adaptively; the difference falls in proportion to the step."""
    shapes, places = {
        "a brick slides": ([BRICK], [(0.0, 0.0, 0.06)]),
        "a ball rolls": ([Sphere(0.1)], [(0.0, 0.0, 0.1)]),
        "a ball on a brick": ([BRICK, Sphere(0.1)], [(0.0, 0.0, 0.06), (0.03, 0.02, 0.22)]),
    }[case]
    bodies = [solid(f"body{k}", shape) for k, shape in enumerate(shapes)]
    contact, count = penalty(), len(bodies)
    v = np.zeros(6 * count)
    v[-3] = 0.7
    start = upright(*places), v
    exact = MechanismSimulation(Setup(unconnected(*bodies), *start, contact=contact, tolerance=1e-9)).run(duration=0.1)
    misses = []
    for step in (5e-5, 2.5e-5):
        sim = simulation(unconnected(*bodies, *AWAY), contact, step=step)
        run = sim.run(upright(*places, *FAR), np.append(v, np.zeros(24)), duration=0.1)
        misses.append(np.abs(run.q[-1, : 7 * count] - exact.q[-1]).max())
    print(misses)
    assert misses[1] < 0.6 * misses[0] < 6e-5


def test_impulses_are_those_of_the_forces_at_velocities_after_them():
    """Of random points: an impulse is the step times the force at the velocity that it leads to itself."""
    print("seed 3")
    rng = np.random.default_rng(3)
    normal = Vector3(1.0, 0.0, 0.0)
    for _ in range(300):
        model = Penalty(*10.0 ** rng.uniform((3, 0), (6, 4)), friction_sharpness=10.0 ** rng.uniform(1, 3))
        model = replace(model, exponent=rng.choice([1.0, 1.5]), pull=rng.choice([0, 1]))
        h, gap, surface = 10.0 ** rng.uniform(-5, -2), rng.normal() * 1e-3, Surface(rng.uniform(0.0, 1.0))
        yields, u = tuple(rng.uniform(0.0, 5.0, 2)), Vector3.of(rng.normal(size=3))
        found = model.impulse(h, yields, gap, normal, u, surface)
        after = u + normal * (yields[0] * found.x) + Vector3(0.0, found.y, found.z) * yields[1]
        wanted = model.force(gap, normal, after, surface) * h
        if found.x >= 0.0:
            assert list(found) == pytest.approx(list(wanted), rel=1e-6, abs=1e-9)


def test_forces_of_a_scene_are_those_of_the_traced_model(monkeypatch):
    """At random states, in which bricks and balls touch the floor and each other: of each pair, in a tiny step."""
    monkeypatch.setattr(model, "THROWN", math.inf)  # deep overlaps are not left out
    print("seed 4")
    rng = np.random.default_rng(4)
    mechanism, contact = mixed(5), penalty(damping=60.0)
    forces = ContactForces.of(mechanism, contact, Penalty.of(contact.options, mechanism.tree.mass))
    owners = [pair.bodies for pair in forces.pairs for _ in range(pair.capacity)]
    pushed = 0
    for _ in range(5):
        q, v = at_random(rng, 5, spacing=0.0)
        q.reshape(5, 7)[:, 4:] = [(0.0, 0.0, 0.08), (0.6, 0.0, 0.1), (0.0, 0.02, 0.2), (1.2, 0.0, 0.09), (1.2, 0.0, 0.21)]
        run = simulation(mechanism, contact, step=1e-13).run(q, v, duration=1e-13)
        expected = dict.fromkeys(owners, Vector3())
        for owner, point in zip(owners, forces.at(q.tolist(), v.tolist()).points, strict=True):
            expected[owner] = expected[owner] + point.force
        found = dict(zip(run.contact.bodies, run.contact.force[0], strict=True))
        for owner, force in expected.items():
            other = found.get(owner, -found[owner[::-1]] if owner[::-1] in found else np.zeros(3))
            np.testing.assert_allclose(other, list(force), rtol=1e-7, atol=1e-6, err_msg=str(owner))
            pushed += force.norm() > 1.0
    assert pushed >= 10


@pytest.mark.parametrize("limits", [True, False])
def test_robots_among_bodies_move_as_in_the_traced_model_in_the_limit(limits, monkeypatch):
    """An arm falls onto a ball, which it rolls away; its joint stops at a limit. Differences fall with the step."""
    tip = Geometry(Sphere(0.05), pose((0.5, 0.0, 0.0)))
    arm = Body("arm", 1.0, center_of_mass=(0.25, 0.0, 0.0), inertia=(0.01, 0.03, 0.03), collisions=(tip,))
    hinge = Joint(
        "hinge",
        KINDS["revolute"],
        "world",
        "arm",
        pose((-0.5, 0.0, 0.3)),
        (0.0, 1.0, 0.0),
        damping=0.5,
        limits=(Limits(upper=0.12),),
    )
    ball = solid("ball", Sphere(0.1))
    pushing = Mechanism("pushing", (arm, ball), (hinge, Joint("free", KINDS["floating"], "world", "ball")))
    start, options = ([0.0, *upright((0.0, 0.0, 0.1))], np.zeros(7)), {"contact": penalty(), "limits": limits}
    exact = MechanismSimulation(Setup(pushing, *start, tolerance=1e-9, **options)).run(duration=0.3)
    assert np.abs(exact.contact.force).max() > 20.0
    monkeypatch.setattr(choice, "FEWEST_ON_SPRINGS", 1)
    misses = []
    for step in (2e-4, 1e-4):
        scene = simulation(replace(pushing, name=f"pushing by {step}"), start=start, step=step, **options)
        run = scene.run(duration=0.3)
        misses.append(np.abs(run.q[-1] - exact.q[-1]).max())
        assert run.audit.energy_drift < 50.0 * step
    print(misses)
    assert misses[1] < 0.7 * misses[0] < 2e-3


# --- closed forms -----------------------------------------------------------------------------------------------------
def test_every_contact_of_a_stack_sinks_in_by_what_it_carries():
    """Four points a face: the weight above over 4 K."""
    count = 10
    sim = simulation(unconnected(*(solid(f"brick{k}", BRICK) for k in range(count))), penalty(stiffness=1e5, damping=400.0))
    run = sim.run(upright(*((0.0, 0.0, 0.06 + 0.12 * k) for k in range(count))), duration=1.5)
    heights = run.q[-1].reshape(-1, 7)[:, 6]
    gaps = np.diff(heights, prepend=-0.06) - 0.12
    assert gaps == pytest.approx(-np.arange(count, 0, -1) * G / 4e5, rel=1e-3)
    assert np.abs(run.v[-1]).max() < 1e-3
    assert run.contact.normal_force[-1].max() == pytest.approx(count * G, rel=1e-3)


@pytest.mark.parametrize(("step", "close"), [(2e-5, 2e-3), (1e-3, 2e-2)])
@pytest.mark.parametrize("C", [0.0, 60.0])
def test_a_ball_rebounds_as_a_spring_with_a_damper(C, step, close):
    """Without pull, until R = 0: e = exp(−ζ arccos ζ / √(1 − ζ²)), ζ = C / (2 √(K m)) (docs/contact-models.md)."""
    K = 1e5
    contact = Contact("penalty", options={"stiffness": K, "damping": C})
    ball = replace(unconnected(solid("ball", Sphere(0.1)), *AWAY), gravity=(0.0, 0.0, 0.0))
    v = np.zeros(30)
    v[5] = -1.0
    run = simulation(ball, contact, step=step).run(upright((0.0, 0.0, 0.1), *FAR), v, duration=0.03)
    zeta = C / (2.0 * math.sqrt(K))
    bounce = math.exp(-zeta * math.acos(zeta) / math.sqrt(1.0 - zeta**2))
    assert run.v[-1, 5] == pytest.approx(bounce, abs=close)
    assert run.audit.work == pytest.approx(0.5 * (bounce**2 - 1.0), abs=close)
    assert run.audit.energy_drift < 1e-9


@pytest.mark.parametrize("sharpness", [100.0, 1000.0])
def test_a_brick_creeps_down_a_slope(sharpness):
    """At (2/s) artanh(tan θ / μ), where friction balances the weight, also with long steps."""
    angle, count = 0.2, 5
    gravity = (G * math.sin(angle), 0.0, -G * math.cos(angle))
    bricks = replace(unconnected(*(solid(f"brick{k}", BRICK) for k in range(count))), gravity=gravity)
    contact = penalty(friction_sharpness=sharpness, stiffness=1e5, damping=400.0)
    run = simulation(bricks, contact).run(upright(*((0.0, 0.5 * k, 0.06) for k in range(count))), duration=0.5)
    wanted = 2.0 / sharpness * math.atanh(math.tan(angle) / 0.5)
    assert run.v[-1].reshape(count, 6)[:, 3] == pytest.approx(wanted, rel=2e-3)


def test_balls_in_a_bin_gain_no_energy():
    """What they have and what the springs hold falls all along, but for an error in proportion to the step."""
    print("seed 8")
    rng, count, gains = np.random.default_rng(8), 6, []
    q, v = at_random(rng, count)
    balls = unconnected(*(solid(f"ball{k}", Sphere(0.08)) for k in range(count)))
    for step in (4e-4, 1e-4):
        run = simulation(balls, replace(bin_of(0.25), model="penalty", options=SOFT), step=step).run(q, v, duration=0.8)
        held = 0.5 * SOFT["stiffness"] * (np.minimum(run.contact.gap, 0.0) ** 2).sum(axis=1)
        gains.append(np.diff(run.energy.total + held).max())
    print(gains)
    assert run.energy.total[-1] < run.energy.total[0] - 10.0
    assert gains[1] < 0.5 * gains[0] < 0.05


def test_bodies_exchange_momentum_to_rounding():
    print("seed 5")
    q, v = at_random(np.random.default_rng(5), 6, spacing=0.3)
    v.reshape(6, 6)[:, 5] -= 4.0 * np.arange(6)
    mechanism = replace(mixed(6), gravity=(0.0, 0.0, 0.0))
    run = simulation(mechanism, penalty()).run(q + np.tile([0, 0, 0, 0, 0, 0, 100.0], 6), v, duration=0.2)
    assert np.abs(run.contact.force).max() > 100.0
    assert np.abs(run.momentum[:, 3:] - run.momentum[0, 3:]).max() < 1e-10
    assert run.audit.energy_drift < 1e-2


# --- scenes by all models ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("options", [{}, SOFT | {"stiffness": 1e5, "damping": 100.0}], ids=["usual", "soft"])
def test_a_pile_comes_to_rest_where_rigid_contact_leaves_it(options):
    """A bin of bricks in columns: penalty sinks in, by less than a millimetre."""
    count = 24
    mechanism = unconnected(*(solid(f"brick{k}", BRICK) for k in range(count)))
    q = upright(*((0.3 * (k % 3) - 0.3, 0.25 * (k // 3 % 4) - 0.375, 0.08 + 0.13 * (k // 12)) for k in range(count)))
    heights = []
    for contact in (bin_of(0.6), replace(bin_of(0.6), model="penalty", options=options)):
        run = simulation(mechanism, contact).run(q, duration=0.5)
        heights.append(run.q[-1].reshape(-1, 7)[:, 6])
        assert np.abs(run.v[-1]).max() < 0.05
    assert heights[1] == pytest.approx(heights[0], abs=1e-3)


# --- states, options --------------------------------------------------------------------------------------------------
def test_a_run_goes_on_from_a_state_with_the_same_bits():
    print("seed 6")
    q, v = at_random(np.random.default_rng(6), 5)
    sim = simulation(mixed(5), replace(bin_of(0.25), model="penalty", options=SOFT))
    whole = sim.step(sim.start(q, v), 500)
    again = sim.step(sim.step(sim.start(q, v), 300), 200)
    assert np.array_equal(whole.q, again.q)
    assert sim.run(q, v, duration=0.5).q[-1] == pytest.approx(whole.q, abs=0.0)


def test_overlaps_at_the_start_are_parted_slowly(tmp_path):
    """Balls 3 cm deep in the floor and in each other, whose springs would throw them up by metres; also from saved states."""
    stiff = penalty(stiffness=1e6, damping=500.0)
    balls = unconnected(*(solid(f"ball{k}", Sphere(0.1)) for k in range(6)))
    q = upright(*((0.5 * (k // 2), 0.0, 0.07 + 0.17 * (k % 2)) for k in range(6)))
    sim = simulation(balls, stiff)
    with pytest.warns(
        KumitateWarning, match=r"overlap at the start, by up to 0\.03 m; .* would hold 2\.7e\+03 J .* less than 0\.5"
    ):
        run = sim.run(q, duration=0.8)
    assert 0.9 * SHRINKS < run.v[:, 5::6].max() < 2.0 * PARTING  # the upper ones ride on the lower
    assert run.q[-1, 6::7] == pytest.approx([0.1, 0.3] * 3, abs=1e-3)
    floor = run.contact.bodies.index(("ball0", "ground"))
    pushed = run.contact.normal_force[:, floor] > 0.0
    assert run.contact.gap[pushed, floor] == pytest.approx(run.q[pushed, 6] - 0.1, abs=1e-12)  # those of the bodies
    half = sim.step(sim.start(q), 60)
    again = simulation(balls, stiff).restore(sim.save(half, tmp_path / "half.npz"))
    for state in (half, again):
        assert np.array_equal(sim.step(state, 740).q, run.q[-1])


def test_rows_of_a_batch_have_the_bits_of_runs():
    print("seed 7")
    rng = np.random.default_rng(7)
    starts = [at_random(rng, 5) for _ in range(3)]
    sim = simulation(mixed(5), replace(bin_of(0.25), model="penalty", options=SOFT))
    batch = sim.batch(*(np.array(rows) for rows in zip(*starts, strict=True)))
    batch.step(400)
    for row, start in enumerate(starts):
        assert np.array_equal(batch.q[row], sim.run(*start, duration=0.4).q[-1])


def test_shapes_that_only_scenes_know():
    """A ball and an ellipsoid of the same size, side by side."""
    ball = solid("egg", Sphere(0.1))
    egg = replace(ball, collisions=(Geometry(Ellipsoid((0.1, 0.1, 0.1))),))
    sim = simulation(unconnected(egg, solid("ball", Sphere(0.1))), penalty())
    run = sim.run(upright((0.0, 0.0, 0.2), (1.0, 0.0, 0.2)), duration=0.5)
    egg_height, ball_height = run.q[:, 6], run.q[:, 13]
    assert egg_height == pytest.approx(ball_height, abs=1e-6)
    assert egg_height.min() < 0.0995


def test_what_scenes_with_springs_refuse_and_warn_of():
    bricks = unconnected(*(solid(f"brick{k}", BRICK) for k in range(5)))
    q = upright(*((k, 0.0, 0.06) for k in range(5)))
    with pytest.raises(InputError, match=r"need steps of .* Give a step of at most .*, or a smaller stiffness"):
        simulation(bricks, penalty(stiffness=1e16)).run(q - np.tile([0, 0, 0, 0, 0, 0, 1e-3], 5), duration=0.01)
    with pytest.raises(InputError, match="penalty contact has no option 'stifness'"):
        MechanismSimulation(Setup(bricks, contact=Contact("penalty", options={"stifness": 1.0})))
    with pytest.warns(KumitateWarning, match="'brick0' and 'ground' overlap at the start, by up to 0.02 m"):
        simulation(bricks, penalty()).run(q - np.tile([0, 0, 0, 0, 0, 0, 0.02], 5), duration=0.002)


@pytest.mark.parametrize(
    "asked",
    [
        {"options": {"pull": 1}},
        {"options": {"sharpness": 1e4}},
        {"integrator": "rk4"},
    ],
    ids=str,
)
def test_what_scenes_do_not_have_is_traced(asked):
    """For any number of bodies."""
    balls = unconnected(*(solid(f"ball{k}", Sphere(0.1)) for k in range(choice.FEWEST_ON_SPRINGS)))
    sim = MechanismSimulation(Setup(balls, contact=penalty(**asked.pop("options", {})), **asked))
    assert not sim.interaction.of_many_bodies
    assert "scenes" in sim.explain_contact().why
