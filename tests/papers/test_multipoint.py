"""The contact model of Sugihara and Nakamura: against its printed steps by dense matrices, closed forms, rigid contact."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from kumitate.analysis import LoopEquations
from kumitate.compile import Kernel
from kumitate.contact.impulse.branch_factors import BranchFactors
from kumitate.contact.impulse.contact_points import contact_patches
from kumitate.contact.impulse.jacobians import link_jacobians
from kumitate.contact.impulse.problem import Problem, inertia, loop_equations
from kumitate.contact.impulse.step import impact_program
from kumitate.contact.models import IMPULSE_MODELS
from kumitate.contact.scene import Contact, contact_pairs
from kumitate.contact.surface import Surface
from kumitate.errors import InputError
from kumitate.model import Body, Box, Geometry, Joint, Mechanism, Plane, Sphere
from kumitate.scalar import call
from kumitate.simulate.integrators import INTEGRATORS
from kumitate.simulate.run import simulate
from kumitate.spatial import pose

from ..mechanisms import (
    body_poses,
    closed_cases,
    random_kinds,
    random_linkage,
    random_mechanism,
    random_pose,
    random_ring,
    random_rotation,
    random_state,
)
from .multipoint_reference import printed_steps

H = 1e-3
G = 9.81


def block(size=(0.2, 0.2, 0.1), mass=2.0, gravity=(0.0, 0.0, -G)) -> Mechanism:
    """A box that moves freely, at rest on the floor at `standing(size)`."""
    x, y, z = size
    inertia = (mass / 12 * (y * y + z * z), mass / 12 * (x * x + z * z), mass / 12 * (x * x + y * y))
    body = Body("block", mass, inertia=inertia, collisions=(Geometry(Box(size)),))
    return Mechanism("block", (body,), (Joint("free", "floating", "world", "block"),), gravity=gravity)


def standing(size=(0.2, 0.2, 0.1), up=0.0) -> list[float]:
    return [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, size[2] / 2 + up]


# --- against the printed steps ------------------------------------------------------------------------------------------
KINDS_OF_CASES = ("tree", "floating", "planar-ring", "floating-ring", "mesh")
RING = ["revolute", "spherical", "universal", "spherical"]
MESH = [
    ("revolute", "world", "b0"), ("universal", "b0", "b1"), ("spherical", "b1", "b2"), ("spherical", "b2", "world"),
    ("spherical", "b1", "b3"), ("spherical", "b3", "b2"),
]  # fmt: skip


def touched(kind: str, seed: int) -> tuple[Mechanism, Contact, list[float], list[float]]:
    """A mechanism whose bodies have sunk into planes and into each other at random, with its state."""
    rng = np.random.default_rng(seed)
    if kind in ("tree", "floating"):
        root = "floating" if kind == "floating" else None
        case = random_state(random_mechanism(rng, random_kinds(rng, 4), passive=False, root=root), rng)
    else:
        linkage = {
            "planar-ring": lambda: random_ring(seed, ["revolute"] * 4, planar=True, passive=False),
            "floating-ring": lambda: random_ring(seed, RING, base="floating", passive=False),
            "mesh": lambda: random_linkage(seed, MESH, passive=False),
        }[kind]()
        cut = {"planar-ring": ["h3"], "floating-ring": ["h3"], "mesh": ["h3", "h5"]}[kind]
        case = closed_cases(seed, linkage, cut)[0][0]
    at = body_poses(case.mechanism, case.q)
    names = [body.name for body in case.mechanism.bodies]
    boxed, ball = str(rng.choice(names)), str(rng.choice(names))
    other = str(rng.choice([name for name in names if name != ball]))
    X_box = random_pose(rng)
    between = float(np.linalg.norm(at[ball][:3, 3] - at[other][:3, 3]))
    shapes = {name: [] for name in names}
    shapes[boxed].append(Geometry(Box(tuple(rng.uniform(0.1, 0.4, 3))), X_box))
    shapes[ball].append(Geometry(Sphere(0.6 * between)))
    shapes[other].append(Geometry(Sphere(0.5 * between)))
    bodies = tuple(replace(body, collisions=tuple(shapes[body.name])) for body in case.mechanism.bodies)
    mechanism = replace(case.mechanism, bodies=bodies)
    middle = (at[boxed] @ np.array(X_box.matrix()))[:3, 3]
    ways = [(middle + rng.normal(scale=0.05, size=3), random_rotation(rng).tolist()) for _ in range(2)]
    planes = [Geometry(Plane(), pose(at, matrix=R)) for at, R in ways]
    contact = Contact(
        "multipoint", planes, Surface(0.7, kinetic_friction=0.4, restitution=0.3), between=[(ball, other)],
        surfaces={boxed: Surface(0.5, kinetic_friction=0.45, restitution=0.8)},
    )  # fmt: skip
    return mechanism, contact, case.q, case.v


def pushed(mechanism: Mechanism, q, v, seed: int, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """(v, v_free), the loops closed: in motion, at rest, and nearly so."""
    rng = np.random.default_rng(1000 + seed)
    J = LoopEquations(mechanism).state(q, v).J if mechanism.loops else np.zeros((1, mechanism.nv))
    closed = np.eye(mechanism.nv) - np.linalg.pinv(J, rcond=1e-9) @ J
    found = []
    for k in range(count):
        before = closed @ (np.array(v) * [1.0, 0.0, 2e-5][k % 3] + rng.normal(size=mechanism.nv) * [0.5, 0.0, 0.0][k % 3])
        found.append((before, before + closed @ rng.normal(scale=[0.02, 0.5, 0.5][k % 3], size=mechanism.nv)))
    return found


def compare(kind: str, seed: int, count: int, evaluated) -> None:
    """Against the printed steps; `evaluated`: what gives the outputs of a program for one state."""
    mechanism, contact, q, v = touched(kind, seed)
    program = impact_program(mechanism, contact, IMPULSE_MODELS["multipoint"])
    run = evaluated(program)
    tolerance = 1e-6 if mechanism.loops else 1e-10  # loops are kept by few sweeps
    clear, passes = 0, 0
    for before, free in pushed(mechanism, q, v, seed, count):
        printed = printed_steps(mechanism, contact, H, q, before, free)
        passes = max(passes, printed.passes)
        if printed.clear:
            clear += 1
            found = run(q, before, free)
            allowed = tolerance * max(1.0, np.abs(printed.impulses).max(), np.abs(printed.v).max())
            np.testing.assert_allclose(found["impulses"], printed.impulses, 0, allowed)
            np.testing.assert_allclose(found["v"], printed.v, 0, allowed)
    assert clear > 0
    assert passes > 1


def interpreted(program):
    def run(q, before, free) -> dict:
        return call(program, H, list(q), before.tolist(), free.tolist())

    return run


def compiled(program):
    kernel, names = Kernel(program), [array.name for array in program.outputs]

    def run(q, before, free) -> dict:
        return dict(zip(names, kernel(H, np.array(q), before, free), strict=True))

    return run


@pytest.mark.row("S-2", "S-3", "S-4")
@pytest.mark.parametrize("kind", ["tree", "floating", "planar-ring"])
def test_the_printed_steps(kind):
    compare(kind, 1, 3, interpreted)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2), ids=lambda seed: f"seed{seed}")
@pytest.mark.parametrize("kind", KINDS_OF_CASES)
def test_the_printed_steps_by_machine_code(kind, seed):
    compare(kind, seed, 30, compiled)


def test_floats_and_machine_code():
    mechanism, contact, q, v = touched("planar-ring", 0)
    program = impact_program(mechanism, contact, IMPULSE_MODELS["multipoint"])
    run, tree = compiled(program), mechanism.base_parameter_tree
    for before, free in pushed(mechanism, q, v, 1, 6):
        expected, given_v, given_free = run(q, before, free), before.tolist(), free.tolist()
        branch_factors = BranchFactors.of(link_jacobians(tree, q), inertia(tree, q, given_v, H))
        jacobians, pairs = branch_factors.jacobians, contact_pairs(mechanism, tree, contact)
        met = contact_patches(jacobians, pairs, given_v, given_free, H, mechanism)
        met = [patch.sized(branch_factors) for patch in met]
        given = Problem.of(branch_factors, met, loop_equations(tree, q, given_free, H, branch_factors.M, {}), given_free)
        plain = IMPULSE_MODELS["multipoint"](given).impulses
        impulses = [
            list(frame.force(impulse))
            for patch, of_points in zip(met, plain.points, strict=True)
            for frame, impulse in zip(patch.frames, of_points, strict=True)
        ]
        np.testing.assert_allclose(impulses, expected["impulses"], 0, 1e-9 * max(1.0, np.abs(impulses).max()))
        np.testing.assert_allclose(plain.v, expected["v"], 0, 1e-6)


def test_a_batch_is_its_states():
    kernel = Kernel(
        impact_program(block(), Contact("multipoint", surface=Surface(0.6, 0.4, 0.5)), IMPULSE_MODELS["multipoint"])
    )
    rng = np.random.default_rng(3)
    v = rng.normal(size=(9, 6)) * np.linspace(0.0, 1.0, 9)[:, None]
    q = np.tile(standing(up=-1e-4), (9, 1))
    free = v + np.array([0.0, 0.0, 0.0, 0.0, 0.0, -G * H])
    together = kernel(H, q, v, free)
    for k in range(9):
        for whole, one in zip(together, kernel(H, q[k], v[k], free[k]), strict=True):
            np.testing.assert_allclose(whole[k], one, 0, 1e-12)


# --- at rest ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("off", [(0.0, 0.0), (0.03, 0.0), (0.02, -0.04)], ids=str)
def test_a_block_rests_on_four_corners_with_the_least_norm(off):
    mechanism = block()
    body = replace(mechanism.bodies[0], center_of_mass=(*off, 0.0))
    mechanism = replace(mechanism, bodies=(body,))
    options = {"duration": 0.05, "side_by_side": True}
    run = {model: simulate(mechanism, standing(), contact=model, **options) for model in ("multipoint", "rigid")}
    record = run["multipoint"].contact
    assert record.force.shape[1] == 4
    weight = 2.0 * G
    np.testing.assert_allclose(record.force.sum(axis=1), np.tile([0.0, 0.0, weight], (51, 1)), 0, 1e-9 * weight)
    # of all that balance it the least: f_k = W/4 (1 + x x_k/a² + y y_k/a²), with corners at (±a, ±a)
    corners = record.position[0, :, :2]
    share = 0.25 * weight * (1.0 + corners @ np.array(off) / 0.1**2)
    np.testing.assert_allclose(record.normal_force, np.tile(share, (51, 1)), 0, 1e-9 * weight)
    np.testing.assert_allclose(record.center_of_pressure()[:, :2], np.tile(off, (51, 1)), 0, 1e-9)
    np.testing.assert_allclose(record.force, run["rigid"].contact.force, 0, 1e-9 * weight)
    np.testing.assert_allclose(run["multipoint"].q, np.tile(standing(), (51, 1)), 0, 1e-12)


@pytest.mark.row("S-2")
def test_two_points_of_a_body_have_rank_five():
    """Along the line between them they push each other for nothing: the least norm leaves that out."""
    balls = tuple(Geometry(Sphere(0.05), pose((x, 0.0, 0.0))) for x in (-0.2, 0.2))
    body = Body("rod", 1.5, inertia=(0.01, 0.02, 0.02), collisions=balls)
    mechanism = Mechanism("rod", (body,), (Joint("free", "floating", "world", "rod"),))
    program = impact_program(mechanism, Contact("multipoint", surface=Surface(2.0)), IMPULSE_MODELS["multipoint"])
    mass, r, (vx, vy, vz) = 1.5, 0.05, (1e-2, 4e-3, -G * H)
    free = [0.0, 0.0, 0.0, vx, vy, vz]
    found = Kernel(program)(H, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, r], np.zeros(6), free)
    impulses = dict(zip((array.name for array in program.outputs), found, strict=True))["impulses"]
    # half of what stops it along x, the pair of forces that keeps it from pitching, and half of what makes it roll on along y
    pair = mass * vx * r / 0.4
    along = [-0.5 * mass * vx, -0.5 * vy / (1.0 / mass + r * r / 0.01)]
    np.testing.assert_allclose(impulses, [[*along, -0.5 * mass * vz - pair], [*along, -0.5 * mass * vz + pair]], 0, 1e-13)


# --- friction -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("heading", [0.0, 30.0, 75.0])
def test_a_sliding_block_stops(heading):
    v0, mu = 2.0, 0.5
    way = np.array([math.cos(math.radians(heading)), math.sin(math.radians(heading))])
    errors = []
    for step in (1e-3, 5e-4):
        contact = Contact("multipoint", surface=Surface(0.6, kinetic_friction=mu))
        run = simulate(block(), standing(), [0, 0, 0, *(v0 * way), 0], duration=0.6, step=step, contact=contact)
        at = run.q[-1, 4:6]
        assert abs(at @ way - v0**2 / (2 * mu * G)) < 1.5 * step * v0
        assert abs(at @ [-way[1], way[0]]) < step * v0
        assert np.abs(run.v[-1]).max() < 1e-12
        stopped = run.time[np.flatnonzero(np.abs(run.v[:, 3:]).max(axis=1) > 1e-9)[-1]]
        assert abs(stopped - v0 / (mu * G)) < 5 * step
        errors.append(abs(at @ way - v0**2 / (2 * mu * G)))
    assert errors[1] < 0.7 * errors[0]


def inclined(slope: float, size, v0=0.0, mu=(0.6, 0.4), duration=0.3):
    """A block on an incline of this tangent, which is the floor of a tilted gravity."""
    angle = math.atan(slope)
    mechanism = block(size, gravity=(G * math.sin(angle), 0.0, -G * math.cos(angle)))
    contact = Contact("multipoint", surface=Surface(mu[0], kinetic_friction=mu[1]))
    run = simulate(mechanism, standing(size), [0, 0, 0, v0, 0, 0], duration=duration, contact=contact)
    return run, G * (math.sin(angle) - mu[1] * math.cos(angle))


FLAT = (0.2, 0.2, 0.002)


@pytest.mark.parametrize("slope", [0.3, 0.5, 0.58])
def test_a_plate_sticks_below_static_friction(slope):
    run, _ = inclined(slope, FLAT)
    assert np.abs(run.q[:, 4:] - run.q[0, 4:]).max() < 1e-12


@pytest.mark.row("S-3")
@pytest.mark.parametrize(("slope", "v0"), [(0.62, 0.0), (0.8, 0.0), (0.5, 0.5), (0.3, 1.0)])
def test_a_plate_slides_with_kinetic_friction(slope, v0):
    """Above the static threshold from rest; below it if it slides already, too."""
    run, a = inclined(slope, FLAT, v0)
    assert abs(run.v[-1, 3] - (v0 + 0.3 * a)) < 0.01 * abs(v0 + 0.3 * a)
    assert abs(run.q[-1, 4] - (0.3 * v0 + 0.5 * a * 0.3**2)) < 1.5e-3 * abs(v0 + 0.3 * a) + 1e-4


def test_a_thick_block_slides_too_early():
    """The least norm gives all corners the same friction, which the upper ones, pressed less, cannot carry.

    Their normal force is W/4 (1 − 2 tan θ h/l) with the centre h above the floor: they slip from tan θ = μ/(1 + 2 μ h/l) on.
    """
    limit = 0.6 / (1.0 + 2.0 * 0.6 * 0.05 / 0.2)
    assert np.abs(inclined(0.99 * limit, (0.2, 0.2, 0.1))[0].v[-1]).max() < 1e-12
    assert inclined(1.01 * limit, (0.2, 0.2, 0.1))[0].v[-1, 3] > 0.01


# --- points that leave, and impacts -------------------------------------------------------------------------------------
@pytest.mark.row("S-3")
def test_points_that_pull_are_removed():
    """A tall block on a steep incline tips about its lower edge: the upper corners would have to pull."""
    a, h, slope, mass = 0.1, 0.4, 0.35, 2.0
    angle = math.atan(slope)
    run = simulate(
        block((a, a, h), mass, (G * math.sin(angle), 0.0, -G * math.cos(angle))), standing((a, a, h)), duration=5e-3,
        contact=Contact("multipoint", surface=Surface(1.0)),
    )  # fmt: skip
    record = run.contact
    assert record.position.shape[1] == 2
    assert (record.position[0, :, 0] > 0.0).all()
    about_edge = mass / 12 * (a * a + h * h) + mass / 4 * (a * a + h * h)
    expected = mass * G * (math.sin(angle) * h / 2 - math.cos(angle) * a / 2) / about_edge
    assert run.a[0, 1] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("e", [0.0, 0.5, 0.8, 1.0])
def test_a_box_dropped_flat(e):
    """It rebounds to e² of its height, the time of the impact being known to a step."""
    height, step = 0.2, 1e-3
    fall = math.sqrt(2.0 * height / G)
    contact = Contact("multipoint", surface=Surface(restitution=e))
    run = simulate(block(), standing(up=height), duration=0.6, step=step, contact=contact)
    after = run.q[run.time > fall + 2 * step, 6] - 0.05
    assert abs(after.max() - e * e * height) < 1.5 * step * math.sqrt(2.0 * G * height)
    assert run.energy.total.max() - run.energy.total[0] < 1e-10
    assert run.audit.contact.gains == 0


def test_a_slanted_leg_is_thrown_back():
    """For its foot to keep its sliding velocity takes 1 + m x²/I times the impulse that stops it, x beside the hinge."""
    x, mass, rotor = 0.2, 2.0, 0.02
    foot = Body("leg", 0.0, collisions=(Geometry(Sphere(0.03), pose((x, 0.0, -0.25))),))
    rail = Joint("rail", "prismatic", "world", "trunk", pose((0.0, 0.0, 0.28)))
    hinge = Joint("hinge", "revolute", "trunk", "leg", axis=(0, 1, 0), armature=(rotor,))
    leg = Mechanism("leg", (Body("trunk", mass), foot), (rail, hinge), gravity=(0.0, 0.0, 0.0))
    for model, back in (("multipoint", mass * x * x / rotor), ("rigid", 0.0)):
        run = simulate(leg, [0.0, 0.0], [-1.0, 0.0], duration=H, step=H, contact=Contact(model, surface=Surface(0.0)))
        impulse = (1.0 + back) / (1.0 / mass + x * x / rotor)
        np.testing.assert_allclose(run.contact.velocity[0, 0, 2], back, atol=1e-9)
        np.testing.assert_allclose(run.contact.force[0, 0] * H, [0.0, 0.0, impulse], atol=1e-9)
        np.testing.assert_allclose(run.contact.residual[0], back, atol=1e-9)
        assert run.audit.contact.gains == int(back > 1.0)


def test_energy_gained_is_counted():
    """On one edge, without loss, friction as an afterthought: more comes out than went in, and the account says so."""
    tilt, down, aside = 0.2, -1.0, -2.75
    lowest = -0.1 * math.sin(tilt) - 0.05 * math.cos(tilt)
    q = [0.0, math.sin(tilt / 2), 0.0, math.cos(tilt / 2), 0.0, 0.0, 1e-5 - lowest]
    c, s = math.cos(tilt), math.sin(tilt)
    v = [0.0, 0.0, 0.0, c * aside - s * down, 0.0, s * aside + c * down]
    run = {
        model: simulate(block(), q, v, duration=0.01, contact=Contact(model, surface=Surface(0.5, restitution=1.0)))
        for model in ("multipoint", "rigid")
    }
    assert run["rigid"].audit.contact.gains == 0
    audit, gained, energy = run["multipoint"].audit, run["multipoint"].contact.gained, run["multipoint"].energy
    assert audit.contact.gains == 1
    assert any("1 step gained" in line for line in audit.lines())
    assert gained[0] > 0.05 * energy.kinetic[0]
    assert run["multipoint"].contact.gap[0].min() > 0.0  # nothing was pushed out
    assert energy.total[1] - energy.total[0] == pytest.approx(gained[0], abs=12.0 * G * H)  # but for weight in a step


# --- what is refused ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", sorted(set(INTEGRATORS) - {"semi_implicit_euler", "time_stepping", "midpoint"}))
def test_integrators_that_cannot_jump_are_refused(name):
    with pytest.raises(InputError, match="contact='penalty'"):
        simulate(block(), standing(), duration=0.01, integrator=name, contact="multipoint")


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ({"friction": -0.1}, "zero or more"),
        ({"friction": math.nan}, "zero or more"),
        ({"friction": 0.3, "kinetic_friction": 0.4}, "between zero and the static one"),
        ({"friction": 0.3, "kinetic_friction": -0.1}, "the kinetic friction is -0.1; it must be zero or more"),
        ({"restitution": -0.1}, "between 0 and 1"),
        ({"restitution": 1.1}, "between 0 and 1"),
        ({"restitution": math.nan}, "between 0 and 1"),
    ],
    ids=str,
)  # fmt: skip
def test_surfaces_that_cannot_be_are_refused(values, match):
    with pytest.raises(InputError, match=match):
        Surface(**values)


def test_the_audit_says_by_how_much_laws_are_missed():
    """A box that lands on an edge with friction: velocities that the model leaves, and `rigid` does not."""
    q, v = [0.0, math.sin(0.2), 0.0, math.cos(0.2), 0.0, 0.0, 0.2], [0.0, 4.0, 0.0, 2.0, 0.0, -2.0]
    for model, said in (("multipoint", True), ("rigid", False)):
        found = simulate(block(), q, v, duration=0.3, contact=model)
        notes = [note for note in found.audit.notes if "miss its laws" in note]
        assert bool(notes) == said == (found.contact.residual[:-1].max() > 0.1)
        assert not said or f"by up to {found.contact.residual[:-1].max():.3g} m/s" in notes[0]
