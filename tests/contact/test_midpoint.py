"""Steps of order two with rigid contact: their order while bodies touch, laws at impacts, closed forms, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.model import Body, Box, Geometry, Joint, Limits, Loop, Mechanism, PositionDrive, Sphere
from kumitate.simulate.run import simulate
from kumitate.spatial import pose
from kumitate_problems.contact import at, solid, unconnected

from ..mechanisms import random_body, random_joint

G = 9.81
ROUGH = Contact(surface=Surface(1.0))
BRICK = Body("b", 1.0, inertia=(0.0033, 0.0045, 0.0055), collisions=(Geometry(Box((0.2, 0.16, 0.12))),))
STANDING = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.05]
PLATE = Body("plate", 30.0, inertia=(1.0, 1.0, 1.5), collisions=(Geometry(Box((0.8, 0.8, 0.1))),))


def on_a_plate(bodies, joints, **more) -> Mechanism:
    """Something on a heavy plate, which is free and lies on the floor."""
    return Mechanism("m", (PLATE, *bodies), (Joint("f", "floating", "world", "plate"), *joints), **more)


def ends(mechanism, q, v, steps, *, duration=0.1, contact=ROUGH, **options) -> list[np.ndarray]:
    """The last states by steps of each length."""
    runs = [simulate(mechanism, q, v, duration=duration, step=h, contact=contact, **options) for h in steps]
    return [np.array([*run.q[-1], *run.v[-1]]) for run in runs]


def ratio(mechanism, q, v, **options) -> float:
    """How far states change between steps of 4 and 2 ms, as a multiple of that between 2 and 1 ms: 2 to the order."""
    coarse, middle, fine = ends(mechanism, q, v, (4e-3, 2e-3, 1e-3), **options)
    return float(np.linalg.norm(coarse - middle) / np.linalg.norm(middle - fine))


# --- order ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(2))  # 3 s each: they are compiled
def test_random_arms_on_a_plate_that_stands_move_at_order_two(seed):
    """With springs, damping, armatures and a drive: the plate's reactions change all the time, and hold it still."""
    rng = np.random.default_rng(seed)
    kinds = ["revolute", "spherical", str(rng.choice(["prismatic", "universal", "cylindrical"]))]
    joints, q, v = [], [*STANDING], [0.0] * 6
    for k, kind in enumerate(kinds):
        joint = random_joint(rng, f"j{k}", kind, "plate" if k != 1 else "b0", f"b{k}")
        own = joint.kind.nv
        joint = replace(joint, friction=0.0, stiffness=rng.uniform(0.0, 20.0, own) if kind != "spherical" else 0.0)
        joints.append(replace(joint, drive=PositionDrive(kp=20.0, kd=0.5, limit=2.0)) if k == 0 else joint)
        q, v = [*q, *joint.kind.random(rng)], [*v, *rng.normal(size=own)]
    mechanism = on_a_plate([random_body(rng, f"b{k}") for k in range(3)], joints)
    print(seed, kinds)
    assert 3.5 < ratio(mechanism, q, v, integrator="midpoint") < 4.6
    run, euler = (simulate(mechanism, q, v, duration=0.1, contact=ROUGH, integrator=i) for i in ("midpoint", "time_stepping"))
    assert np.abs(run.q[:, :7] - STANDING).max() < 1e-12  # it neither creeps nor sinks
    assert run.audit.energy_drift < 0.02 * euler.audit.energy_drift
    assert run.audit.contact.gains == 0


def four_bar() -> tuple[Mechanism, list[float], list[float]]:
    def rod(name: str, length: float) -> Body:
        return Body(name, 0.4, (length / 2, 0, 0), inertia=(5e-4, 0.4 * length**2 / 12, 0.4 * length**2 / 12))

    joints = (
        Joint("crank", "revolute", "plate", "crank", pose((-0.14, 0, 0.1)), (0, -1, 0)),
        Joint("elbow", "revolute", "crank", "coupler", pose((0.1, 0, 0)), (0, -1, 0), damping=0.002),
        Joint("rocker", "revolute", "plate", "rocker", pose((0.14, 0, 0.1)), (0, -1, 0)),
    )
    tip = Loop("tip", "revolute", "coupler", "rocker", pose((0.3, 0, 0)), pose((0.25, 0, 0)), (0, 1, 0))
    mechanism = on_a_plate([rod("crank", 0.1), rod("coupler", 0.3), rod("rocker", 0.25)], joints, loops=(tip,))
    q, v = km.Robot(mechanism).assemble([*STANDING, 0.3, 0.9, 2.0], [0.0] * 6 + [6.0, 0.0, 0.0])
    return mechanism, [*STANDING, *q[7:]], [0.0] * 6 + list(v[6:])


def test_a_loop_on_a_plate_stays_closed_and_is_of_order_two():
    mechanism, q, v = four_bar()
    assert 3.6 < ratio(mechanism, q, v, integrator="midpoint") < 4.4
    run = simulate(mechanism, q, v, duration=0.1, contact=ROUGH, integrator="midpoint")
    assert run.audit.loop_gaps[0].distance < 1e-11
    assert run.audit.loop_gaps[0].speed < 1e-11
    assert run.audit.contact.residual < 1e-9


def test_a_sliding_block_stops_where_it_should():
    """v²/(2 μ g), exactly but for the step in which it stops; semi-implicit steps end h v/2 short."""
    run = simulate(
        unconnected(BRICK), at((0.0, 0.0, 0.06)), [0, 0, 0, 1.5, 0, 0], duration=0.6, contact=Contact(surface=Surface(0.3)),
        integrator="midpoint",
    )  # fmt: skip
    before = run.time < 1.5 / (0.3 * G) - 1e-3
    np.testing.assert_allclose(run.q[before, 4], (1.5 * run.time - 0.15 * G * run.time**2)[before], rtol=0.0, atol=1e-9)
    assert run.q[-1, 4] == pytest.approx(1.5**2 / (0.6 * G), abs=2e-6)
    np.testing.assert_allclose(run.v[-1], 0.0, atol=1e-12)


# --- impacts --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("restitution", [1.0, 0.5])
def test_a_ball_bounces_at_the_times_of_the_closed_form(restitution):
    height, ball = 0.5, unconnected(solid("ball", Sphere(0.05)))
    contact = Contact(surface=Surface(0.5, restitution=restitution))
    run = simulate(ball, at((0.0, 0.0, 0.05 + height)), duration=1.2, contact=contact, integrator="midpoint")
    up = run.v[:, 5] > 0.0
    found = run.time[1:][up[1:] & ~up[:-1]]
    fall = math.sqrt(2.0 * height / G)
    exact = fall + 2.0 * fall * np.cumsum([0.0, *restitution ** np.arange(1.0, 3.0)])
    count = int((exact < 1.1).sum())
    np.testing.assert_allclose(found[:count], exact[:count], rtol=0.0, atol=2e-3)
    assert (run.energy.total - run.energy.total[0]).max() < 1e-12 * run.energy.total[0]
    if restitution == 1.0:  # it rebounds where it is, with its speed there
        np.testing.assert_allclose(run.energy.total, run.energy.total[0], rtol=1e-12)


def test_a_box_that_is_dropped_comes_to_rest_and_does_not_creep():
    rng = np.random.default_rng(1)
    turn = rng.normal(size=4)
    turn /= np.linalg.norm(turn)
    run = simulate(
        unconnected(BRICK), [*turn, 0.0, 0.0, 0.3], [1, 2, 3, 0.5, 0.3, 0], duration=3.0, contact="rigid", integrator="midpoint"
    )
    assert np.abs(run.v[-1]).max() < 1e-12
    assert np.abs(run.q[-1] - run.q[-1000]).max() < 1e-12
    assert run.audit.contact.penetration < 1e-9
    assert (run.energy.total - run.energy.total[0]).max() <= run.audit.contact.gained + 2.0 * run.audit.energy_drift


def test_what_elastic_bricks_gain_is_reported():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        turn = rng.normal(size=4)
        run = simulate(
            unconnected(BRICK), [*(turn / np.linalg.norm(turn)), 0.0, 0.0, 0.3], rng.normal(size=6) * [3, 3, 3, 1, 1, 1],
            duration=0.5, contact=Contact(surface=Surface(0.5, restitution=1.0)), integrator="midpoint",
        )  # fmt: skip
        energy = run.energy.total
        assert (energy - energy[0]).max() <= run.audit.contact.gained + 2.0 * run.audit.energy_drift, seed
        assert (energy - energy[0]).max() < 0.02 * energy[0], seed


def test_joints_stop_at_their_limits_while_the_robot_stands():
    arm = Body("arm", 0.4, (0.15, 0, 0), inertia=(5e-4, 3e-3, 3e-3))
    hinge = Joint("hinge", "revolute", "plate", "arm", pose((0, 0, 0.3)), (0, 1, 0), limits=(Limits(-0.5, 0.4),))
    run = simulate(
        on_a_plate([arm], [hinge]), [*STANDING, 0.0], [0.0] * 6 + [3.0], duration=0.5, contact=ROUGH, integrator="midpoint"
    )
    assert run.q[:, 7].max() < 0.4 + 1e-9
    assert np.abs(run.q[-1, 7] - 0.4) < 1e-9
    assert np.abs(run.v[-1]).max() < 1e-9


def test_bodies_that_overlap_at_the_start_are_pushed_apart_slowly():
    with pytest.warns(UserWarning, match=r"they are pushed apart at 0\.5 m/s"):
        run = simulate(unconnected(BRICK), at((0.0, 0.0, -0.03)), duration=0.5, contact="rigid", integrator="midpoint")
    assert run.v[:, 5].max() <= 0.5 + 1e-9


# --- turning --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("held", [True, False], ids=["ball joint", "smooth floor"])
def test_a_heavy_fast_top_keeps_its_energy(held):
    """400 rad/s for a second at 1 ms, within 1e-4."""
    tip = Geometry(Sphere(0.01), pose((0.0, 0.0, -0.1)))
    turn = [0.0, math.sin(0.15), 0.0, math.cos(0.15)]
    if held:
        top = Body("top", 0.5, (0.0, 0.0, 0.1), inertia=(6e-4, 6e-4, 5e-4))
        mechanism = Mechanism("top", (top,), (Joint("ball", "spherical", "world", "top"),))
        run = simulate(mechanism, turn, [0.0, 0.0, 400.0], duration=1.0, integrator="midpoint")
    else:
        mechanism = unconnected(Body("top", 0.5, inertia=(6e-4, 6e-4, 5e-4), collisions=(tip,)))
        q, v = [*turn, 0.0, 0.0, 0.1 * math.cos(0.3) + 0.01], [0.0, 0.0, 400.0, 0.0, 0.0, 0.0]
        run = simulate(mechanism, q, v, duration=1.0, contact=Contact(surface=Surface(0.0)), integrator="midpoint")
    assert np.abs(run.energy.total - run.energy.total[0]).max() < 2e-5 * run.energy.total[0]


# --- efforts --------------------------------------------------------------------------------------------------------------
ARM = Body("arm", 0.4, (0.15, 0, 0), inertia=(5e-4, 3e-3, 3e-3))
SWINGING = on_a_plate([ARM], [Joint("hinge", "revolute", "plate", "arm", pose((0, 0, 0.3)), (0, 1, 0), damping=0.01)])


def test_batches_and_functions_that_are_called_make_the_same_steps():
    def controller(t, q, v):
        return [0.0] * 6 + [-0.3 * v[6]]

    q, v = [*STANDING, 0.2], [0.0] * 6 + [3.0]
    options = {"contact": ROUGH, "integrator": "midpoint", "controller": controller}
    compiled, called = (km.Simulation(SWINGING, traced=traced, **options) for traced in (True, False))
    end = compiled.run(q, v, duration=0.05)
    np.testing.assert_allclose(called.run(q, v, duration=0.05).q, end.q, rtol=0.0, atol=1e-13)
    batch = compiled.batch(3)
    batch.q[:], batch.v[:] = q, v
    batch.step(50)
    np.testing.assert_array_equal(batch.q, np.tile(end.q[-1], (3, 1)))


def test_a_joint_that_follows_a_motion_does_the_work_that_the_energy_shows():
    motion = km.PrescribedMotion(position=lambda t: 0.3 * np.sin(5.0 * t))
    run = simulate(SWINGING, [*STANDING, 0.0], duration=0.2, contact=ROUGH, integrator="midpoint", motions={"hinge": motion})
    assert run.q[-1, 7] == pytest.approx(0.3 * math.sin(1.0), abs=1e-12)
    assert run.audit.energy_drift < 1e-5
    assert np.ptp(run.energy.total) > 0.05


# --- refusals -------------------------------------------------------------------------------------------------------------
def test_what_cannot_be_of_order_two_is_refused_with_a_remedy():
    brick, balls = unconnected(BRICK), unconnected(*(solid(f"ball{k}", Sphere(0.05)) for k in range(5)))
    soft = Contact(surface=Surface(0.5, stiffness=1e4, damping=10.0))
    stiff = on_a_plate([ARM], [Joint("hinge", "revolute", "plate", "arm", axis=(0, 1, 0), damping=1e3)])
    for mechanism, contact, message in (
        (balls, "rigid", "one robot.*integrator='auto'"), (brick, "multipoint", "Take contact='rigid'"),
        (brick, soft, "compliant.*stiffness out"), (stiff, "rigid", "'hinge' act at.*Take steps below"),
    ):  # fmt: skip
        with pytest.raises(km.InputError, match=message):
            simulate(mechanism, duration=0.01, contact=contact, integrator="midpoint")
    sim = km.Simulation(SWINGING, contact=ROUGH, integrator="midpoint")
    with pytest.raises(km.InputError, match="cannot be differentiated"):
        sim.slopes(sim.start([*STANDING, 0.2]))
