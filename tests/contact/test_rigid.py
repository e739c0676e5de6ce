"""Rigid contact: the laws of unilateral contact, Coulomb friction and energy, over closed forms and random states."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from kumitate.analysis import LoopEquations, assemble, kinetic_energy
from kumitate.compile import Kernel
from kumitate.contact.impulse.step import impact_program
from kumitate.contact.models import IMPULSE_MODELS
from kumitate.contact.scene import FLOOR, Contact
from kumitate.contact.surface import Surface
from kumitate.model import Body, Box, Geometry, Joint, Mechanism, Sphere
from kumitate.scalar import call, trace
from kumitate.simulate.run import simulate
from kumitate.spatial import Vector3, pose
from kumitate_problems.contact import Trial, solid, stack, unconnected

from ..mechanisms import closed_cases, random_coordinates, random_mechanism, random_ring

G = 9.81


# --- energy -----------------------------------------------------------------------------------------------------------
#: A step in which bodies a few centimetres above the floor reach it.
H = 0.05


def shaped(mechanism: Mechanism, rng: np.random.Generator) -> Mechanism:
    """With a ball or a box on every body, and without gravity."""
    bodies = []
    for body in mechanism.bodies:
        shape = Sphere(0.1) if rng.random() < 0.5 else Box(tuple(rng.uniform(0.1, 0.3, 3)))
        bodies.append(replace(body, collisions=(Geometry(shape, pose(rng.uniform(-0.2, 0.2, 3))),)))
    return replace(mechanism, bodies=tuple(bodies), gravity=(0.0, 0.0, 0.0))


def pile(rng: np.random.Generator, count: int = 3) -> Mechanism:
    """Boxes of 0.1 to 10 kg, as they lie on one another at `q_of_pile`."""
    boxes = [solid(f"box{k}", Box(tuple(rng.uniform(0.2, 0.4, 3))), float(10 ** rng.uniform(-1, 1))) for k in range(count)]
    return replace(unconnected(*boxes), gravity=(0.0, 0.0, 0.0))


def q_of_pile(mechanism: Mechanism, rng: np.random.Generator) -> list[float]:
    """Flat on one another, each turned about the vertical, up to 5 mm apart."""
    q, height = [], 0.0
    for body in mechanism.bodies:
        yaw, tall = rng.uniform(-0.5, 0.5), body.collisions[0].shape.size[2]
        height += rng.uniform(0.0, 0.005)
        q += [0.0, 0.0, math.sin(yaw), math.cos(yaw), *rng.uniform(-0.05, 0.05, 2), height + 0.5 * tall]
        height += tall
    return q


def velocity(mechanism: Mechanism, rng: np.random.Generator) -> np.ndarray:
    """Random; free bodies turn or shift, so that their own axes do not turn what they do over a step without contact."""
    v = rng.normal(size=mechanism.nv)
    for link in mechanism.tree.links:
        if link.kind.name == "floating":
            first = link.v_start if rng.random() < 0.5 else link.v_start + 3
            v[first : first + 3] = 0.0
    return v


def states(kind: str, seed: int, count: int) -> tuple[Mechanism, Contact, np.ndarray, np.ndarray]:
    """A mechanism just above the floor in many states."""
    rng = np.random.default_rng(seed)
    between, base = None, None
    if kind == "pile":
        mechanism = pile(rng)
        between = list(pairwise(body.name for body in mechanism.bodies))
    elif kind == "tree":
        mechanism = shaped(random_mechanism(rng, ["revolute", "spherical", "prismatic"], passive=False, root="floating"), rng)
    else:
        ring = random_ring(seed, ["revolute", "spherical", "universal", "spherical"], base="floating", passive=False)
        case = closed_cases(seed, ring, ["h3"])[0][0]
        mechanism, base = shaped(case.mechanism, rng), case.q
    surfaces = {}
    for body in mechanism.bodies:
        mu = rng.uniform(0.0, 1.5)
        surfaces[body.name] = Surface(mu, mu * rng.uniform(0.5, 1.0), float(rng.choice([0.0, 1.0, rng.uniform()])))
    contact = Contact(surface=Surface(1.5, 1.5, 1.0), surfaces=surfaces, between=between)
    q, v = [], []
    for _ in range(count):
        if kind == "pile":
            q.append(q_of_pile(mechanism, rng))
        elif kind == "tree":
            q.append(random_coordinates(mechanism, rng))
        else:
            q.append(turned(base, rng))
        v.append(velocity(mechanism, rng))
    q, v = np.array(q), np.array(v)
    if kind != "pile":  # put the lowest point 0 to 1 cm above the floor
        lowest = outputs(mechanism, contact, q, 0.0 * v)["gaps"].min(axis=1)
        root = mechanism.tree.links[0]
        up = np.array([*root.placement.rotation.unrotate(Vector3(0.0, 0.0, 1.0))], dtype=float)
        q[:, root.q_start + 4 : root.q_start + 7] += (rng.uniform(0.0, 0.01, count) - lowest)[:, None] * up
        v[:, root.v_start : root.v_start + 6] *= 2.0
    if mechanism.tree.closed:  # only velocities that leave the loops closed
        loops = LoopEquations(mechanism)
        v = np.array([assemble(loops, *state)[1] for state in zip(q, v, strict=True)])
    return mechanism, contact, q, v


def turned(q: list[float], rng: np.random.Generator) -> list[float]:
    """A mechanism on a free base, turned as a whole."""
    quaternion = rng.normal(size=4)
    return [*(quaternion / np.linalg.norm(quaternion)), *q[4:]]


_KERNELS: dict[int, tuple[Contact, Kernel, list[str]]] = {}


def outputs(mechanism: Mechanism, contact: Contact, q: np.ndarray, v: np.ndarray, h: float = H) -> dict[str, np.ndarray]:
    """What a step's contact does to free motion at velocities v, by name."""
    if id(contact) not in _KERNELS:
        program = impact_program(mechanism, contact, IMPULSE_MODELS["rigid"])
        _KERNELS[id(contact)] = contact, Kernel(program), [array.name for array in program.outputs]
    _, kernel, names = _KERNELS[id(contact)]
    return dict(zip(names, kernel(h, q, v, v), strict=True))


@pytest.mark.parametrize(
    ("kind", "seed", "count"),
    [
        ("tree", 1, 600),
        pytest.param("pile", 2, 300, marks=pytest.mark.slow),
        pytest.param("ring", 3, 300, marks=pytest.mark.slow),
    ],
)
def test_kinetic_energy_never_grows_over_an_impact(kind, seed, count):
    mechanism, contact, q, v = states(kind, seed, count)
    found = outputs(mechanism, contact, q, v)
    energy = Kernel(
        trace(lambda q, v: {"T": kinetic_energy(mechanism.tree, q, v)}, {"q": mechanism.nq, "v": mechanism.nv}, "T")
    )
    before, after = np.ravel(energy(q, v)), np.ravel(energy(q, found["v"]))
    touched = (np.abs(found["impulses"]).max(axis=2) > 0.0).sum(axis=1)
    assert (touched > 0).sum() > count / 4
    assert touched.max() > 1
    assert ((after - before) / before).max() < 1e-12
    np.testing.assert_allclose(found["gained"], after - before, atol=1e-10 * before.max())


def pendulum() -> Mechanism:
    """Two rods of 1 m and 1 kg, hanging; angles from straight down, the second from the first."""
    rod = Geometry(Sphere(1e-9), pose((0.0, 0.0, -1.0)))
    bodies = tuple(
        Body(name, 1.0, (0.0, 0.0, -0.5), (1 / 12, 1 / 12, 0.0), collisions=shapes)
        for name, shapes in (("upper", ()), ("lower", (rod,)))
    )
    joints = (
        Joint("hip", "revolute", "world", "upper", axis=(0.0, -1.0, 0.0)),
        Joint("knee", "revolute", "upper", "lower", pose((0.0, 0.0, -1.0)), axis=(0.0, -1.0, 0.0)),
    )
    return Mechanism("pendulum", bodies, joints, gravity=(0.0, 0.0, 0.0))


def newton_with_friction(Gm: np.ndarray, u: np.ndarray, e: float, mu: float) -> np.ndarray:
    """Impulses (normal, along the floor) of one point by Newton's restitution and Coulomb's friction, taken as they are."""
    wanted = -e * u[0]
    held = np.linalg.solve(Gm, np.array([wanted, 0.0]) - u)
    if abs(held[1]) <= mu * held[0]:
        return held
    for way in (1.0, -1.0):
        direction = np.array([1.0, -way * mu])
        slid = direction * (wanted - u[0]) / (Gm[0] @ direction)
        if slid[0] >= 0.0 and way * (u + Gm @ slid)[1] >= 0.0:
            return slid
    raise AssertionError("no impulse obeys both laws")


@pytest.mark.parametrize(("e", "mu"), [(0.5, 0.5), (0.7, 0.5), (1.0, 0.7), (0.0, 0.5)])
def test_the_double_pendulum_of_kane_and_levinson(e, mu):
    """Its tip strikes a rough floor at 20 and 30 deg: Newton's law with friction, as it stands, lets the energy grow."""
    q1, q2 = math.radians(20.0), math.radians(30.0)
    v = np.array([-0.1, -0.2 + 0.1])  # absolute rates −0.1 and −0.2 rad/s
    mechanism = pendulum()
    floor = -math.cos(q1) - math.cos(q2) - 1e-9
    contact = Contact(ground=(Geometry(contact_plane(), pose((0.0, 0.0, floor))),), surface=Surface(mu, restitution=e))
    # by hand, in absolute rates
    c = 0.5 * math.cos(q1 - q2)
    M = np.array([[4 / 3, c], [c, 1 / 3]])
    J = np.array([[math.sin(q1), math.sin(q2)], [math.cos(q1), math.cos(q2)]])
    rates = np.array([-0.1, -0.2])
    before, Gm = 0.5 * rates @ M @ rates, J @ np.linalg.solve(M, J.T)
    plain = newton_with_friction(Gm, J @ rates, e, mu)
    gained = plain @ (J @ rates) + 0.5 * plain @ Gm @ plain
    assert (gained > 0.01 * before) == (e > 0.0)

    q = np.array([q1, q2 - q1])
    found = outputs(mechanism, contact, q, v, h=1e-6)
    after = found["v"] + [0.0, found["v"][0]]
    assert 0.5 * after @ M @ after <= before * (1.0 + 1e-12)
    if e == 0.0:
        np.testing.assert_allclose(after, rates + np.linalg.solve(M, J.T @ plain), atol=1e-9)


def contact_plane():
    """The half space below z = 0."""
    return FLOOR[0].shape


# --- residuals --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("surface", [Surface(0.5, 0.3), Surface(0.8, restitution=0.5)], ids=["plastic", "bouncing"])
def test_a_tumbling_box_obeys_every_law(surface):
    box = unconnected(solid("box", Box((0.3, 0.2, 0.1)), 2.0))
    q = [0.1, 0.2, 0.3, math.sqrt(1 - 0.14), 0.0, 0.0, 0.4]
    run = simulate(box, q, [1.0, 2.0, 0.5, 1.0, 0.3, 0.0], duration=2.0, contact=Contact(surface=surface), side_by_side=True)
    touched = run.contact
    assert touched.normal_force.max() > 100.0
    assert len(touched.bodies) >= 4
    assert touched.cone_violation.max() < 1e-9 * touched.normal_force.max()
    assert touched.gained.max() < 1e-9
    assert touched.penetration.max() < 1e-3  # a tumbling corner curves into the floor by h² a
    if surface.restitution == 0.0:
        assert touched.residual.max() < 1e-8
        assert touched.dissipation_gap.max() < 1e-6
        resting = run.time > 1.5
        assert touched.complementarity[resting].max() < 1e-9
        assert touched.penetration[resting].max() < 1e-6
    assert np.linalg.norm(run.v[-1]) < 1e-9


@pytest.mark.parametrize("tilt", [1e-5, 1e-4, 3e-4])
def test_a_tilting_sole_does_not_jam(tilt):
    """It rests on one edge and comes down on the other: what stops it pulls all corners one way, none against another.

    Midway between the surfaces the corners would lie at different heights and could not all stick.
    """
    box, spin = unconnected(solid("box", Box((0.4, 0.3, 0.2)), 2.0)), -1.0
    q = np.array([[math.sin(tilt / 2), 0.0, 0.0, math.cos(tilt / 2), 0.0, 0.0, 0.15 * math.sin(tilt) + 0.1 * math.cos(tilt)]])
    rising = 0.15 * spin  # of its middle, the edge at y = −0.15 m being at rest
    v = np.array([[spin, 0.0, 0.0, 0.0, -0.1 * spin, rising]])
    found = outputs(box, Contact(surface=Surface(1.5)), q, v, h=1e-3)
    along_y, up = found["impulses"][0, :, 1], found["impulses"][0, :, 2]
    assert found["residual"][0] < 1e-9
    assert up.sum() > 0.1
    assert (up > 1e-3).sum() == 4
    assert np.abs(along_y).sum() < 1.001 * abs(along_y.sum())


def test_drives_work_along_the_mean_velocity():
    """A pushed block slides: what the push and the friction put in is its kinetic energy, step for step, to rounding."""
    box = unconnected(solid("box", Box((0.4, 0.3, 0.1)), 2.0))
    run = simulate(
        box,
        [0, 0, 0, 1, 0, 0, 0.05],
        duration=0.2,
        contact=Contact(surface=Surface(0.3)),
        wrenches={"box": [0, 0, 0, 15, 0, 0]},
    )
    assert run.v[-1][3] == pytest.approx((15.0 / 2.0 - 0.3 * G) * 0.2, rel=1e-9)
    assert run.energy.kinetic[-1] > 0.5
    assert abs(run.audit.energy_drift) < 1e-11


def test_the_residuals_see_what_is_wrong():
    box = unconnected(solid("box", Box((0.3, 0.2, 0.1)), 2.0))
    contact = Contact(surface=Surface(0.4))
    run = simulate(box, [0, 0, 0, 1, 0, 0, 0.05], [0, 0, 0, 1, 0, 0], duration=0.01, contact=contact, side_by_side=True)
    right = run.contact
    assert right.cone_violation.max() < 1e-9
    assert right.dissipation_gap.max() < 1e-9
    sideways = right.force.copy()
    sideways[3, 0] += [0.0, 1.0, 0.0]
    wrong = replace(right, force=sideways)
    assert wrong.cone_violation[3] > 0.1
    assert wrong.dissipation_gap[3] < 1e-9
    wrong = replace(right, force=0.5 * right.force + 0.5 * right.normal * right.normal_force[:, :, None])
    assert wrong.cone_violation.max() == 0.0
    assert wrong.dissipation_gap[3] > 1.0
    wrong = replace(right, force=-right.force)
    assert wrong.cone_violation[3] > 1.0
    wrong = replace(right, velocity=right.velocity + np.array([0.0, 0.0, 0.1]))
    assert wrong.complementarity[3] == pytest.approx(0.1 * right.normal_force[3].max())


# --- stacks -----------------------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_a_thousand_kilograms_on_one_do_not_move():
    loads, moved = stack(Trial("rigid"), (1.0, 1000.0), duration=10.0)
    assert loads.error < 1e-9
    assert moved.error <= 1e-7


@pytest.mark.slow
def test_ten_boxes_do_not_move():
    loads, moved = stack(Trial("rigid"), (1.0,) * 10, duration=10.0)
    assert loads.error < 5e-8  # the impulses of the last step are kept while they miss the laws by less than 1e-10 m/s
    assert moved.error <= 1e-7


# --- the same by another road ---------------------------------------------------------------------------------------------
def dropped() -> tuple[Mechanism, Contact]:
    """A box just above the floor."""
    return unconnected(solid("box", Box((0.4, 0.3, 0.2)), 2.0)), Contact(surface=Surface(0.6, 0.4, 0.3))


def dropped_states(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Of it, flat and moving at random."""
    rng = np.random.default_rng(5)
    q = np.tile([0, 0, 0, 1, 0, 0, 0.1], (count, 1)).astype(float)
    q[:, 6] += rng.uniform(0.0, 1e-3, count)
    v = rng.normal(size=(count, 6))
    v[::2, :3] = v[1::2, 3:] = 0.0  # shifting or turning, see `velocity`
    return q, v


def test_compiled_contact_is_the_program_on_floats():
    mechanism, contact = dropped()
    q, v = dropped_states(3)
    found = outputs(mechanism, contact, q, v, h=1e-3)
    program = impact_program(mechanism, contact, IMPULSE_MODELS["rigid"])
    for k in range(len(q)):
        alone = call(program, 1e-3, q[k].tolist(), v[k].tolist(), v[k].tolist())
        np.testing.assert_allclose(found["v"][k], alone["v"], atol=1e-8)  # both solve to 1e-11, by other roundings
        np.testing.assert_allclose(found["gaps"][k], alone["gaps"], atol=1e-14)


def test_a_batch_is_its_states_one_by_one():
    mechanism, contact = dropped()
    q, v = dropped_states(20)
    whole = outputs(mechanism, contact, q, v, h=1e-3)
    assert (np.abs(whole["impulses"]).max(axis=(1, 2)) > 0.0).any()
    for k in range(len(q)):
        alone = outputs(mechanism, contact, q[k], v[k], h=1e-3)
        for name, values in alone.items():
            np.testing.assert_allclose(values, whole[name][k], rtol=1e-9, atol=1e-9)


def test_the_same_run_twice_is_bitwise_the_same():
    mechanism, contact = dropped()
    q, v = dropped_states(1)
    one, two = (simulate(mechanism, q[0], v[0], duration=0.3, contact=contact) for _ in range(2))
    assert one.q.tobytes() == two.q.tobytes()
    assert one.v.tobytes() == two.v.tobytes()
    assert one.contact.force.tobytes() == two.contact.force.tobytes()
