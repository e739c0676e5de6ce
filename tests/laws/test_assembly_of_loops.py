"""ADA and DCA over closed loops: chords and gears closed in any order, redundant and in singular postures."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kumitate as km
from kumitate.analysis import LoopEquations, constraint_report
from kumitate.compile import Kernel
from kumitate.dynamics import Acting, aba_with_loops, link_motions, loop_wrenches, projected
from kumitate.dynamics.ada import ada
from kumitate.dynamics.assembly.connection import connected_links, loop_closers
from kumitate.dynamics.assembly.order import ORDERS, assembly_order
from kumitate.dynamics.dca import dca
from kumitate.dynamics.loops.wrenches import LoopWrenches
from kumitate.dynamics.rnea import supports
from kumitate.errors import InputError, ModelError
from kumitate.model import Body, Joint, Loop, Mechanism
from kumitate.model.samples import bricard
from kumitate.scalar import trace
from kumitate.spatial import Dense, Factors, Force, RangeInverse, Vector3, pose
from studies.comparison.inverses import inverse_sizes

from ..mechanisms import random_rotation, seeds
from .test_closed_loops import accelerations, compiled_case, every_case, flat, made, mesh, one_loop, rods_and_gears

METHODS = {"ada": ada, "dca": dca}
TILTED = pose((0.3, -0.2, 0.5), (0.4, -0.7, 1.1))


def four_bar(world=TILTED, *, thin: bool = True) -> Mechanism:
    """The parallelogram of the thesis (T-3.3) in any plane: thin rods, or stout ones."""
    return ladder(1, world, thin=thin)


def ladder(n: int, world=TILTED, *, thin: bool = True) -> Mechanism:
    """n four-bars side by side (A02), the rods 1 m long and of 1 kg, in the x-y plane of `world`."""
    rod = (0.0 if thin else 0.01, 1.0 / 12.0, 1.0 / 12.0)
    bodies, joints, loops = [], [], []
    for k in range(n + 1):
        bodies.append(Body(f"leg{k}", 1.0, (0.5, 0.0, 0.0), rod))
        joints.append(Joint(f"pivot{k}", "revolute", "world", f"leg{k}", (world @ pose((k, 0, 0))).dense()))
        if k < n:
            bodies.append(Body(f"top{k}", 1.0, (0.5, 0.0, 0.0), rod))
            joints.append(Joint(f"corner{k}", "revolute", f"leg{k}", f"top{k}", pose((1, 0, 0))))
            loops.append(Loop(f"loop{k}", "revolute", f"leg{k + 1}", f"top{k}", pose((1, 0, 0)), pose((1, 0, 0))))
    gravity = world.rotation.rotate(Vector3(0.0, -9.81, 0.0))
    return Mechanism("ladder", tuple(bodies), tuple(joints), tuple(loops), gravity=tuple(float(x) for x in gravity))


def upright(mechanism: Mechanism, angle: float, rate: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """q and v with the legs at an angle from the ground, turning at a rate."""
    signs = np.array([1.0 if joint.name.startswith("pivot") else -1.0 for joint in mechanism.joints])
    return signs * angle, signs * rate


def numbers(mechanism: Mechanism) -> int:
    """How many joints, chords and gears there are to assemble."""
    return len(connected_links(mechanism.tree))


# --- accelerations --------------------------------------------------------------------------------------------------------
@pytest.mark.row("T-ada")
@pytest.mark.row("T-dca")
@pytest.mark.parametrize("method", METHODS)
@every_case
def test_loops_in_any_order_move_as_by_articulated_bodies(make, method):
    case, efforts = made(make)
    tree, expected = case.mechanism.tree, accelerations(case, efforts)
    n, links, rng = numbers(case.mechanism), len(tree.links), np.random.default_rng(0)
    chords_first = [*range(links, n), *range(links)]
    for order in (None, *ORDERS, chords_first, *([int(k) for k in rng.permutation(n)] for _ in range(2))):
        acting = Acting(case.mechanism.gravity, loop_tau=efforts)
        found = np.array(METHODS[method](tree, case.q, case.v, case.tau, acting, order=order).vdot)
        assert np.abs(found - expected).max() <= 1e-9 * max(1.0, np.abs(expected).max()), order


@pytest.mark.row("T-3.3")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(**seeds(4))
def test_loops_of_thin_rods(seed, method):
    """θ̈ = −(6/5)(g/l) cos θ, θ from the ground: inertia lent across joints does not disturb what closes the loop."""
    rng = np.random.default_rng(seed)
    mechanism = four_bar(pose(rng.uniform(-0.5, 0.5, 3), matrix=random_rotation(rng).tolist()))
    angle, rate = rng.uniform(0.3, 2.8), rng.normal()
    q, v = (part.tolist() for part in upright(mechanism, angle, rate))
    for order in (*ORDERS, [int(k) for k in rng.permutation(4)]):
        found = METHODS[method](mechanism.tree, q, v, [0.0] * 3, Acting(mechanism.gravity), order=order).vdot
        assert np.allclose(found, np.array([1.0, -1.0, 1.0]) * -1.2 * 9.81 * np.cos(angle), atol=1e-9)


@compiled_case
def test_compiled_assembly_of_loops(make):
    case, efforts = made(make)
    robot = km.Robot(case.mechanism)
    q, v, tau = (np.array([x, x]) for x in (case.q, case.v, case.tau))
    expected = robot.forward_dynamics(q, v, tau, loop_tau={k: np.array([e, e]) for k, e in efforts.items()})
    for method in METHODS:
        drives = {k: np.array([e, e]) for k, e in efforts.items()}
        found = robot.forward_dynamics(q, v, tau, method=method, loop_tau=drives)
        assert np.abs(found - expected).max() <= 1e-9 * max(1.0, np.abs(expected).max())


# --- forces ---------------------------------------------------------------------------------------------------------------
@pytest.mark.row("T-sing")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("family", [flat, mesh])
@pytest.mark.parametrize(**seeds(3))
def test_the_determined_forces_are_those_by_articulated_bodies(seed, family, method):
    case, efforts = family(seed)
    mechanism, tree = case.mechanism, case.mechanism.tree
    known = km.Robot(mechanism).constraint_report(case.q).determined
    acting = Acting(mechanism.gravity, loop_tau=efforts)
    expected = in_own_axes(mechanism, loop_wrenches(tree, case.q, case.v, case.tau, acting))
    assert family is mesh or not all(all(parts) for parts in known.values())  # in the plane some are open
    for order in (None, "leaf_first", "serial", list(reversed(range(numbers(mechanism))))):
        found = METHODS[method](tree, case.q, case.v, case.tau, acting, order=order)
        tree_forces = [Force.of(found.forces[link.index]) for link in tree.links]
        apart = in_own_axes(mechanism, LoopWrenches(tree_forces, found.chords, [])) - expected
        assert np.abs(apart[[known[name] for name in case_names(mechanism)]]).max() <= 1e-9 * np.abs(expected).max(), order


def case_names(mechanism: Mechanism) -> list[str]:
    """The joints that move, then the loops."""
    return [*(link.name for link in mechanism.tree.links), *(loop.name for loop in mechanism.loops)]


def in_own_axes(mechanism: Mechanism, forces: LoopWrenches) -> np.ndarray:
    """Forces of the tree's joints, then of loops in the axes that these were given in, as `constraint_report` has them."""
    loops = [force.to_parent(chord.turn) for force, chord in zip(forces.chords, mechanism.tree.chords, strict=True)]
    return np.array([list(force) for force in (*forces.tree, *loops)])


@pytest.mark.row("T-ada")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(**seeds(3))
def test_gears_act_on_the_forces_of_joints(seed, method):
    """Newton's and Euler's laws outside in, from the accelerations: what gears do along a joint is part of its force."""
    case, _ = rods_and_gears(seed)
    mechanism = replace(case.mechanism, loops=())
    tree, gravity = mechanism.tree, mechanism.gravity
    vdot = aba_with_loops(tree, case.q, case.v, case.tau, Acting(gravity))
    needed = supports(tree, link_motions(tree, case.q, case.v), case.q, vdot, gravity=gravity, wrenches=None)
    expected = np.array([list(needed[link][0]) for link in tree.links])
    for order in (None, list(reversed(range(numbers(mechanism))))):
        found = METHODS[method](tree, case.q, case.v, case.tau, Acting(gravity), order=order)
        forces = np.array([found.forces[link.index] for link in tree.links])
        assert np.abs(forces - expected).max() <= 1e-8 * np.abs(expected).max()


def test_compiled_joint_forces_of_loops():
    case, efforts = one_loop(0, "spherical")
    robot = km.Robot(case.mechanism)
    expected = robot.joint_wrenches(case.q, case.v, case.tau, loop_tau=efforts)
    for method in METHODS:
        found = robot.joint_wrenches(case.q, case.v, case.tau, method=method, loop_tau=efforts)
        assert found.keys() == expected.keys()
        for name, wrench in expected.items():  # all of them determined
            assert np.abs(found[name] - wrench).max() <= 1e-9 * max(1.0, np.abs(wrench).max())


# --- singular postures ------------------------------------------------------------------------------------------------------
@pytest.mark.row("T-3.4")
@pytest.mark.parametrize("order", [None, "serial", [3, 0, 1, 2]], ids=["few-handles", "serial", "chord-first"])
@pytest.mark.parametrize("method", METHODS)
def test_the_parallelogram_swings_through_its_singular_postures(method, order):
    """Five times in 3 s, with energy kept and θ as in closed form; RK4 at 1 ms, every stage put back onto the loop."""
    mechanism, step = four_bar(), 1e-3
    robot, tree = km.Robot(mechanism), mechanism.tree
    q, v = upright(mechanism, np.deg2rad(30.0))  # 60 degrees from the upright
    still = np.zeros(3)
    rate = robot.compile("forward_dynamics", method=method, order=order)
    back = Kernel(trace(lambda q, v: [x for part in projected(tree, q, v) for x in part], {"q": 3, "v": 3}, "back"))
    before, passed, worst = sum(robot.energy(q, v)), 0, 0.0
    reference = solve_ivp(
        lambda t, y: [y[1], -1.2 * 9.81 * np.cos(y[0])], (0.0, 3.0), [q[0], v[0]], "DOP853", np.arange(3001) * step,
        rtol=1e-13, atol=1e-13,
    )  # fmt: skip
    for k in range(1, 3001):
        slopes = [(v, rate(q, v, still))]
        for part in (0.5, 0.5, 1.0):
            stage = back(q + part * step * slopes[-1][0], v + part * step * slopes[-1][1])
            slopes.append((stage[3:], rate(stage[:3], stage[3:], still)))
        weights = np.array([1.0, 2.0, 2.0, 1.0]) * step / 6.0
        moved = [sum(w * slope[i] for w, slope in zip(weights, slopes, strict=True)) for i in (0, 1)]
        after = back(q + moved[0], v + moved[1])
        passed += int(np.sin(q[0]) * np.sin(after[0]) < 0.0)
        q, v = after[:3], after[3:]
        worst = max(worst, abs(q[0] - reference.y[0][k]))
    assert passed == 5
    assert abs(sum(robot.energy(q, v)) - before) < 1e-8
    assert worst < 1e-7


@pytest.mark.parametrize(**seeds(5))
def test_inverting_on_the_range(seed):
    """W = A⁺ there, whatever the size of the null space; and a vector in the range gives one that A takes back to it."""
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(5, 5 - seed))
    A, G = half @ half.T, rng.normal(size=(3, 5)) @ half @ half.T
    W = RangeInverse.of(Dense.of(A.tolist()), [1e-8] * 5)
    between = np.array(W.between(Dense.of(G.tolist()), Dense.of(G.tolist())).rows)
    assert np.allclose(between, G @ np.linalg.pinv(A, rcond=1e-9) @ G.T, rtol=1e-9, atol=1e-9)
    assert np.allclose(A @ np.array(W.solve(G[0].tolist())), G[0], rtol=1e-9, atol=1e-9 * np.abs(G[0]).max())


@pytest.mark.parametrize(**seeds(3))
def test_between_is_what_solving_gives(seed):
    """G W Hᵀ row by row and column by column, for different G and H, and for one that is both."""
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(5, 3))
    A = half @ half.T
    W = RangeInverse.of(Dense.of(A.tolist()), rng.uniform(0.01, 0.2, 5).tolist())
    G, H = (Dense.of((rng.normal(size=(n, 5)) @ A).tolist()) for n in (2, 3))
    for left, right in ((G, H), (H, G), (G, G)):
        solved = np.array([W.solve(row) for row in right.rows])
        expected = np.array(left.rows) @ solved.T
        found = np.array(W.between(left, right).rows)
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("name", ["ladder", "bricard"])
def test_redundant_loops_of_any_size_move_alike(name, scale, method):
    """With lengths and gravity so many times larger the accelerations of angles are the same.

    In the plane of the ladder its joints' forces say all; in Bricard's mechanism their moments are needed.
    """
    plain, rng = ladder(2, thin=False) if name == "ladder" else bricard(), np.random.default_rng(6)

    def scaled(X):
        return replace(X, translation=X.translation * scale)

    bodies = tuple(
        replace(body, center_of_mass=scale * np.array(body.center_of_mass), inertia=scale**2 * np.array(body.inertia))
        for body in plain.bodies
    )
    joints = tuple(replace(joint, pose=scaled(joint.pose.dense())) for joint in plain.joints)
    loops = tuple(replace(one, pose_a=scaled(one.pose_a.dense()), pose_b=scaled(one.pose_b.dense())) for one in plain.loops)
    large = replace(plain, bodies=bodies, joints=joints, loops=loops, gravity=tuple(scale * x for x in plain.gravity))
    q, v = upright(plain, 1.1, 0.7) if name == "ladder" else (np.zeros(plain.nq), np.zeros(plain.nv))
    tau = rng.normal(size=plain.nv)
    expected = aba_with_loops(plain.tree, q.tolist(), v.tolist(), tau.tolist(), Acting(plain.gravity))
    found = METHODS[method](large.tree, q.tolist(), v.tolist(), (scale**2 * tau).tolist(), Acting(large.gravity)).vdot
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9 * np.abs(expected).max())
    reports = [constraint_report(LoopEquations(mechanism), q) for mechanism in (plain, large)]
    assert reports[0].determined == reports[1].determined
    assert reports[0].redundant == reports[1].redundant > 0


# --- what it costs ----------------------------------------------------------------------------------------------------------
@pytest.mark.row("T-ada")
@pytest.mark.parametrize(("method", "thin", "most"), [("ada", True, 1.3), ("dca", True, 1.4)])
def test_operations_grow_with_the_length_of_a_ladder_of_loops(method, thin, most):
    flat_on_world = {n: km.Robot(ladder(n, pose((0, 0, 0)), thin=thin)) for n in (4, 8, 16)}
    count = {n: robot.compile("forward_dynamics", method=method).operations for n, robot in flat_on_world.items()}
    assert (count[16] - count[8]) / 8 == pytest.approx((count[8] - count[4]) / 4, rel=0.02)
    assert count[16] <= most * flat_on_world[16].compile("forward_dynamics").operations


@pytest.mark.row("T-2.3")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("order", [None, "serial"])
@pytest.mark.parametrize("family", [flat, mesh])
def test_the_inverses_with_loops_are_as_many_and_as_large_as_is_said(family, order, method, monkeypatch):
    case, efforts = family(1)
    tree, sizes = case.mechanism.tree, Counter()
    factor = Factors.of.__func__

    def counting(cls, matrix):
        sizes[len(matrix.rows)] += 1
        return factor(cls, matrix)

    monkeypatch.setattr(Factors, "of", classmethod(counting))
    METHODS[method](tree, case.q, case.v, case.tau, Acting(case.mechanism.gravity, loop_tau=efforts), order=order)
    sizes[3] -= len(tree.links)  # of the links' own inertias, numbers
    assert +sizes == Counter(inverse_sizes(case.mechanism, method, order))


def test_the_inverses_of_a_four_bar():
    mechanism = four_bar()
    expected = {"aba": {5: 1, 1: 3}, "ada": {5: 4}, "dca": {6: 3, 5: 1, 1: 3}, "crba": {5: 1, 3: 1}}
    assert {method: inverse_sizes(mechanism, method) for method in expected} == expected


# --- orders -----------------------------------------------------------------------------------------------------------------
def test_each_loop_is_closed_once():
    """As many steps close loops as there are loops, in any order."""
    tree, rng = ladder(3).tree, np.random.default_rng(0)
    n = len(connected_links(tree))
    for order in (*ORDERS, *([int(k) for k in rng.permutation(n)] for _ in range(5))):
        assert len(loop_closers(tree, assembly_order(tree, order))) == 3


def test_orders_that_miss_a_loop_or_have_no_meaning_are_refused():
    robot = km.Robot(four_bar(thin=False))
    q, v = upright(robot.mechanism, 1.0)
    with pytest.raises(ModelError, match="must name each of the joints 0 … 3 once, loops after links"):
        robot.forward_dynamics(q, v, v, method="ada", order=[0, 1, 2])
    with pytest.raises(InputError, match="method 'aba' has no order of assembly; methods ada and dca have"):
        robot.forward_dynamics(q, v, v, order="serial")


def test_a_weld_within_one_body_changes_nothing():
    """A chord whose ends are on one link holds what is held; and so does one between the world and the world."""
    chain = replace(four_bar(thin=False), loops=())
    plates = tuple(Body(name, 0.3, (0.1, 0.0, 0.0), (0.01, 0.01, 0.01)) for name in ("plate", "rack"))
    fixed = (Joint("glue", "fixed", "leg0", "plate"), Joint("bolts", "fixed", "world", "rack"))
    loops = (Loop("again", "revolute", "leg0", "plate"), Loop("also", "fixed", "world", "rack"))
    held = replace(chain, bodies=(*chain.bodies, *plates), joints=(*chain.joints, *fixed), loops=loops)
    q, v = (part.tolist() for part in upright(chain, 1.0, 0.5))
    open_tree = replace(held, loops=()).tree
    expected = aba_with_loops(open_tree, q, v, [0.0] * 3, Acting(chain.gravity))
    for order in (None, [4, 3, 2, 1, 0]):
        for method in METHODS.values():
            found = method(held.tree, q, v, [0.0] * 3, Acting(chain.gravity), order=order)
            assert np.allclose(found.vdot, expected, rtol=1e-12, atol=1e-12)
