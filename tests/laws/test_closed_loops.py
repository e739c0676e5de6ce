"""Mechanisms with loops move as d'Alembert says, by whichever route, wherever they are cut and however they are numbered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.analysis import LoopEquations, kinetic_energy, potential_energy
from kumitate.dynamics import FRICTION_VELOCITY, Acting, aba, aba_with_loops, crba, factored_with_loops, loop_wrenches, rnea
from kumitate.kinematics import chord_closing, integrate, jacobian, jacobian_rate
from kumitate.model import KINDS, Coupling, Distance, Line, Loop, Mechanism
from kumitate.papers import unit_vector
from kumitate.spatial import pose

from ..mechanisms import (
    Case,
    closed_cases,
    near,
    places,
    random_linkage,
    random_mechanism,
    random_pose,
    random_ring,
    random_rotation,
    random_state,
    seeds,
    slope,
)

HOLDING = [name for name, kind in KINDS.items() if kind.rows]
Driven = tuple[Case, dict]


# --- what is tried ------------------------------------------------------------------------------------------------------
def consistent(case: Case) -> Case:
    """The case with the part of its velocities that its loops allow."""
    J = LoopEquations(case.mechanism).state(case.q, case.v).J
    return replace(case, v=(case.v - np.linalg.pinv(J, rcond=1e-9) @ (J @ case.v)).tolist())


def one_loop(seed: int, kind: str) -> Driven:
    """A ring in space, closed by a joint of this kind."""
    ring = random_ring(seed, [kind, "revolute", "spherical", "universal", "prismatic", "revolute"])
    return closed_cases(seed, ring, ["h0"])[0]


def flat(seed: int) -> Driven:
    """A four-bar in a tilted plane, with three redundant equations."""
    ring = random_ring(seed, ["revolute", "prismatic" if seed % 2 else "revolute", "revolute", "revolute"], planar=True)
    return closed_cases(seed, ring, [f"h{seed % 4}"])[0]


def floating(seed: int) -> Driven:
    """A ring that floats."""
    ring = random_ring(seed, ["spherical", "revolute", "universal", "revolute", "spherical_euler"], base="floating")
    return closed_cases(seed, ring, [f"h{1 + seed % 5}"])[0]


MESH = [
    ("revolute", "world", "b0"), ("universal", "b0", "b1"), ("spherical", "b1", "b2"), ("spherical", "b2", "world"),
    ("revolute", "b1", "b3"), ("spherical", "b3", "b4"), ("universal", "b4", "b2"), ("cylindrical", "b4", "b5"),
    ("spherical", "b5", "b0"),
]  # fmt: skip


def mesh(seed: int) -> Driven:
    """Loops that share bodies, with a branch off the world between them."""
    return closed_cases(seed, random_linkage(seed, MESH), ["h3", "h6", "h8"])[0]


def rods_and_gears(seed: int) -> Driven:
    """A tree of any kinds of joints, held by rods of fixed length and gears, with springs and dampers across."""
    rng = np.random.default_rng(seed)
    kinds = [*rng.choice(list(KINDS), 5).tolist(), "revolute", "prismatic", "revolute"]
    case = random_state(random_mechanism(rng, kinds), rng)
    mechanism, bodies = case.mechanism, [body.name for body in case.mechanism.bodies]
    loops = []
    for k, kind in enumerate((Distance, Distance, Line)):
        a, b = rng.choice([*bodies, "world"], 2, replace=False)
        X_a, X_b = random_pose(rng), random_pose(rng)
        (A, B) = (X @ np.array(Y.matrix()) for X, Y in zip(places(mechanism, case.q, [a, b]), (X_a, X_b), strict=True))
        far = float(np.linalg.norm(A[:3, 3] - B[:3, 3]))
        passive = {"stiffness": 3.0, "rest": 0.4, "damping": 0.2, "armature": 0.1} if kind is Line else {}
        loops.append(Loop(f"rod{k}", Line() if kind is Line else Distance(far), str(a), str(b), X_a, X_b, **passive))
    starts, q_at = {}, 0
    for joint in mechanism.joints:
        starts[joint.name], q_at = q_at, q_at + joint.kind.nq
    gears = tuple(
        Coupling(f"gear{k}", joint, of, ratio, case.q[starts[joint]] - ratio * case.q[starts[of]])
        for k, (joint, of, ratio) in enumerate((("j5", "j6", 2.5), ("j7", "j5", -0.4)))
    )
    return consistent(replace(case, mechanism=replace(mechanism, loops=tuple(loops), couplings=gears))), {"rod2": [0.7]}


def twice(seed: int) -> Driven:
    """A loop that is closed by two joints where one would do, and one whose ends are on one branch."""
    case, efforts = closed_cases(seed, random_linkage(seed, MESH), ["h3", "h6", "h8"])[0]
    loop = case.mechanism.loops[0]
    again = replace(loop, name="again", damping=0.0, friction=0.0, armature=0.0)
    return replace(case, mechanism=replace(case.mechanism, loops=(*case.mechanism.loops, again))), efforts


FAMILIES = {"flat": flat, "floating": floating, "mesh": mesh, "rods-and-gears": rods_and_gears, "twice": twice}
MAKERS = {f"{kind}-seed{seed}": (one_loop, seed, kind) for kind in HOLDING for seed in range(1)}
MAKERS |= {f"{name}-seed{seed}": (family, seed) for name, family in FAMILIES.items() for seed in range(2)}
every_case = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
compiled_case = pytest.mark.parametrize(
    "make", [(flat, 0), (one_loop, 1, "universal"), (rods_and_gears, 2)], ids=["flat", "universal", "rods-and-gears"]
)


def made(make) -> Driven:
    return make[0](*make[1:])


def accelerations(case: Case, efforts: dict, **options) -> np.ndarray:
    m = case.mechanism
    return np.array(
        aba_with_loops(m.tree, case.q, case.v, case.tau, Acting(m.gravity, loop_tau=efforts, **options)), dtype=float
    )


def dry(forces, speeds):
    return forces * speeds / np.sqrt(speeds**2 + FRICTION_VELOCITY**2)


def chord_rates(mechanism: Mechanism, q, v, name: str) -> np.ndarray:
    """The rates of a loop's freedoms, which are linear in v."""
    chord = next(chord for chord in mechanism.tree.chords if chord.name == name)
    return np.array(chord_closing(mechanism.tree, list(q), list(v), chord).rates, dtype=float)


# --- routes -------------------------------------------------------------------------------------------------------------
def by_dense_equations(case: Case, efforts: dict) -> np.ndarray:
    """[M Jᵀ; J 0] [v̇; −λ] = [τ − h; −J̇v] by least squares; J̇v, and what loops' freedoms add, by differences along the motion.

    Drives, springs, damping, friction and armatures of the loops' freedoms come in by virtual work: their rates are G v.
    """
    m, n = case.mechanism, case.mechanism.nv
    q, v = np.array(case.q), np.array(case.v)
    equations = LoopEquations(m)

    def along(t: float) -> list[float]:
        return integrate(m.tree, case.q, (t * v).tolist())

    M = np.array(crba(m.tree, case.q), dtype=float)
    force = np.array(case.tau) - np.array(rnea(m.tree, case.q, case.v, [0.0] * n, gravity=m.gravity), dtype=float)
    for loop in m.loops:
        nv = loop.kind.nv
        if nv == 0:
            continue

        def G(t: float, name: str = loop.name) -> np.ndarray:
            return np.array([chord_rates(m, along(t), e, name) for e in np.eye(n)]).T

        chord = next(chord for chord in m.tree.chords if chord.name == loop.name)
        place = chord_closing(m.tree, case.q, case.v, chord).coordinates
        rates, armature = G(0.0) @ v, np.array(loop.armature)
        own = np.array(efforts.get(loop.name, np.zeros(nv))) - np.array(loop.damping) * rates
        own = own - dry(np.array(loop.friction), rates)
        if any(loop.stiffness):
            own = own - np.array(loop.stiffness) * (np.array(place) - np.array(loop.rest))
        M = M + G(0.0).T * armature @ G(0.0)
        force = force + G(0.0).T @ (own - armature * (slope(G) @ v))
    J = equations.state(q, v).J
    drift = slope(lambda t: equations.state(along(t), v).J @ v)
    K = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    return np.linalg.lstsq(K, np.concatenate([force, -drift]), rcond=1e-11)[0][:n]


@pytest.mark.row("T-sing")
@every_case
def test_the_equations_of_motion_with_loops(make):
    case, efforts = made(make)
    near(accelerations(case, efforts), by_dense_equations(case, efforts), 1e-7)


@every_case
def test_articulated_bodies_and_the_inertia_matrix_agree(make):
    case, efforts = made(make)
    m = case.mechanism
    found = accelerations(case, efforts)
    near(aba_with_loops(m.base_parameter_tree, case.q, case.v, case.tau, Acting(m.gravity, loop_tau=efforts)), found, 1e-10)
    for inertia in (crba, unit_vector):
        near(factored_with_loops(inertia, m.tree, case.q, case.v, case.tau, Acting(m.gravity, loop_tau=efforts)), found, 1e-10)


@compiled_case
def test_compiled_loops_are_the_page_on_floats(make):
    case, efforts = made(make)
    robot = km.Robot(case.mechanism)
    arguments = (np.array([case.q] * 9), np.array([case.v] * 9), np.array([case.tau] * 9))
    many = {name: np.array([values] * 9) for name, values in efforts.items()}
    expected = accelerations(case, efforts)
    for method in ("aba", "crba"):
        near(robot.forward_dynamics(*arguments, method=method, loop_tau=many), np.array([expected] * 9), 1e-10)


def test_a_tree_is_what_it_was():
    case = random_state(random_mechanism(np.random.default_rng(5), list(KINDS)), np.random.default_rng(5))
    m = case.mechanism
    assert accelerations(case, {}).tolist() == aba(m.tree, case.q, case.v, case.tau, Acting(m.gravity))


# --- what holds ---------------------------------------------------------------------------------------------------------
def tangent(case: Case, a: np.ndarray):
    """(q, v)(t) of a motion that starts as the mechanism moves."""
    v = np.array(case.v)
    return lambda t: (integrate(case.mechanism.tree, case.q, (t * v).tolist()), (v + t * a).tolist())


@every_case
def test_closed_loops_stay_closed(make):
    case, efforts = made(make)
    a, equations = accelerations(case, efforts), LoopEquations(case.mechanism)
    state, moving = equations.state(case.q, case.v), tangent(case, a)
    scale = max(1.0, np.abs(a).max(), np.abs(state.J).max())
    assert np.abs(state.error).max() < 1e-13 * scale
    assert np.abs(state.rate).max() < 1e-12 * scale
    near(slope(lambda t: equations.state(*moving(t)).rate) / scale, np.zeros(len(state.rate)))
    near(slope(lambda t: equations.state(moving(t)[0], case.v).error) / scale, np.zeros(len(state.rate)))


@every_case
def test_the_power_of_what_is_applied_is_the_rate_of_the_energy(make):
    case, efforts = made(make)
    m = case.mechanism
    moving = tangent(case, accelerations(case, efforts))

    def energy(t: float) -> float:
        q, v = moving(t)
        return kinetic_energy(m.tree, q, v) + potential_energy(m.tree, q, m.gravity)

    rates = [(chord_rates(m, case.q, case.v, loop.name), loop) for loop in m.loops]
    power, start = np.dot(case.tau, case.v), 0
    for joint in m.joints:
        rates.append((np.array(case.v[start : start + joint.kind.nv]), joint))
        start += joint.kind.nv
    for speeds, item in rates:
        driven = np.array(efforts.get(item.name, np.zeros(len(speeds))))
        power += speeds @ (driven - np.array(item.damping) * speeds - dry(np.array(item.friction), speeds))
    near(slope(energy), power, 1e-7)


@every_case
def test_the_forces_in_loops_do_no_work_of_their_own(make):
    case, efforts = made(make)
    bare = tuple(replace(lo, damping=0.0, friction=0.0, armature=0.0, stiffness=0.0) for lo in case.mechanism.loops)
    m = replace(case.mechanism, loops=bare)
    exerted = loop_wrenches(m.tree, case.q, case.v, case.tau, Acting(m.gravity, loop_tau=efforts)).chords
    for chord, force in zip(m.tree.chords, exerted, strict=True):
        closing = chord_closing(m.tree, case.q, case.v, chord)
        driven = np.dot(efforts.get(chord.name, np.zeros(len(closing.rates))), closing.rates)
        near(closing.twist.dot(force), driven, 1e-9 * max(1.0, float(np.abs(list(force)).max())))


# --- what does not matter -------------------------------------------------------------------------------------------------
def body_accelerations(case: Case, efforts: dict) -> dict[str, np.ndarray]:
    """The acceleration (6) in the world of every body's own frame."""
    m, a, found = case.mechanism, accelerations(case, efforts), {}
    for body in m.bodies:
        place = m.tree.places[f"{body.name}.own"]
        J, dJ = (
            np.array(x, dtype=float) for x in (jacobian(m.tree, case.q, place), jacobian_rate(m.tree, case.q, case.v, place))
        )
        found[body.name] = J @ a + dJ @ case.v
    return found


RINGS = {
    "spatial": (["revolute", "universal", "spherical", "revolute", "revolute", "prismatic"], {}),
    "angles": (["revolute", "spherical_euler", "universal", "cylindrical", "revolute"], {}),
    "planar": (["revolute", "revolute", "prismatic", "revolute"], {"planar": True}),
    "floating": (["spherical", "revolute", "universal", "revolute", "prismatic", "revolute"], {"base": "floating"}),
}


@pytest.mark.row("T-sing")
@pytest.mark.parametrize("ring", RINGS)
@pytest.mark.parametrize(**seeds(4))
def test_it_does_not_matter_where_the_loop_is_cut(seed, ring):
    # with armature, damping, friction, springs and drives at every joint: the loop's are those of the tree's joint elsewhere
    kinds, options = RINGS[ring]
    linkage = random_ring(seed, kinds, **options)
    cuts = [[hinge.name] for hinge in linkage.hinges if hinge.kind != "floating"]
    assert all(hinge.passive for hinge in linkage.hinges if hinge.kind not in ("floating", "cylindrical"))
    first, *others = (body_accelerations(*driven) for driven in closed_cases(seed, linkage, *cuts))
    for other in others:
        for name, acceleration in first.items():
            near(other[name], acceleration, 1e-10)


@pytest.mark.parametrize(**seeds(4))
def test_it_does_not_matter_how_bodies_and_loops_are_numbered(seed):
    rng = np.random.default_rng(seed)
    linkage, cuts = random_linkage(seed, MESH), [["h3", "h6", "h8"], ["h8", "h3", "h6"], ["h0", "h2", "h4"], ["h1", "h7", "h5"]]
    order = rng.permutation([hinge.name for hinge in linkage.hinges]).tolist()
    expected = body_accelerations(*closed_cases(seed, linkage, cuts[0])[0])
    for driven in closed_cases(seed, linkage, *cuts, order=order):
        for name, acceleration in body_accelerations(*driven).items():
            near(acceleration, expected[name], 1e-10)


@pytest.mark.parametrize("ring", ["spatial", "planar"])
@pytest.mark.parametrize(**seeds(3))
def test_it_does_not_matter_how_the_world_is_turned(seed, ring):
    kinds, options = RINGS[ring]
    case, efforts = closed_cases(seed, random_ring(seed, kinds, **options), ["h2"])[0]
    m, R = case.mechanism, random_rotation(np.random.default_rng(seed))
    turn = pose((0.3, -2.0, 1.0), matrix=R.tolist())

    def grounded(item, key: str, body: str):
        return replace(item, **{key: (turn @ getattr(item, key)).dense()}) if body == "world" else item

    joints = tuple(grounded(joint, "pose", joint.parent) for joint in m.joints)
    loops = tuple(grounded(grounded(loop, "pose_a", loop.body_a), "pose_b", loop.body_b) for loop in m.loops)
    turned = replace(m, joints=joints, loops=loops, gravity=tuple(R @ m.gravity))
    near(accelerations(replace(case, mechanism=turned), efforts), accelerations(case, efforts), 1e-10)


@pytest.mark.parametrize(**seeds(6))
def test_two_bodies_welded_by_a_loop_are_one(seed):
    """A body in two halves that a fixed loop holds together moves as the whole."""
    kinds = ["revolute", "universal", "spherical", "fixed", "revolute", "revolute", "prismatic"]
    (cut, efforts), (whole, others) = closed_cases(seed, random_ring(seed, kinds), ["h3"], ["h6"])
    expected = body_accelerations(whole, others)
    for name, acceleration in body_accelerations(cut, efforts).items():
        near(acceleration, expected[name], 1e-9)


@pytest.mark.parametrize("kind", ["fixed", "revolute"])
def test_a_loop_between_places_of_one_link_changes_nothing(kind):
    """Two bodies joined by a fixed joint, and then by a loop: what it holds is held already."""
    linkage = random_ring(0, ["revolute", "universal", "spherical", "fixed", "revolute", "revolute", "prismatic"])
    case, efforts = closed_cases(0, linkage, ["h6"])[0]
    m = case.mechanism
    weld = m.joint("h3")
    again = Loop("again", kind, weld.parent, weld.child, weld.pose, damping=0.3 if kind == "revolute" else 0.0)
    twice = replace(case, mechanism=replace(m, loops=(*m.loops, again)))
    near(accelerations(twice, efforts), accelerations(case, efforts), 1e-10)
    exerted = loop_wrenches(twice.mechanism.tree, case.q, case.v, case.tau, Acting(m.gravity, loop_tau=efforts)).chords
    near(list(exerted[1]), np.zeros(6), 1e-6)
