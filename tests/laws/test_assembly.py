"""ADA and DCA against the other methods, in any order of assembly; the forces at the joints balance every body."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.dynamics import Acting, Wrenches, aba, joint_forces
from kumitate.dynamics.ada import ada
from kumitate.dynamics.assembly.order import ORDERS
from kumitate.dynamics.dca import dca
from kumitate.errors import InputError, ModelError
from kumitate.spatial import Factors
from studies.comparison.inverses import inverse_sizes

from ..mechanisms import agree, every_kind, random_case, random_mechanism, seeds

METHODS = {"ada": ada, "dca": dca}


def heavy(mechanism: km.Mechanism) -> km.Mechanism:
    """Every body with an inertia that has an inverse."""
    bodies = tuple(replace(b, mass=b.mass + 0.5, inertia=np.array(b.inertia) + 0.05 * np.eye(3)) for b in mechanism.bodies)
    return replace(mechanism, bodies=bodies)


@pytest.mark.row("T-ada")
@pytest.mark.row("T-dca")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(**seeds(12))
def test_assembling_in_any_order_gives_the_accelerations_of_articulated_bodies(seed, method):
    case = random_case(seed)
    mechanism = heavy(case.mechanism)
    tree, rng = mechanism.tree, np.random.default_rng(seed)
    pushed = Wrenches(tree, {mechanism.bodies[-1].name: rng.normal(size=6).tolist()})
    acting = Acting(mechanism.gravity, pushed)
    expected = np.array(aba(tree, case.q, case.v, case.tau, acting))
    n = len(tree.links)
    for order in (*ORDERS, [int(k) for k in rng.permutation(n)]):
        found = METHODS[method](tree, case.q, case.v, case.tau, acting, order=order)
        agree(found.vdot, expected, n, scale=np.abs(expected).max(initial=1.0), condition=1e4)


@pytest.mark.row("T-ada")
@pytest.mark.row("T-dca")
@pytest.mark.parametrize("method", METHODS)
def test_every_kind_of_joint_is_assembled(method):
    case = every_kind(3)
    mechanism = heavy(case.mechanism)
    tree = mechanism.tree
    expected = np.array(aba(tree, case.q, case.v, case.tau, Acting(mechanism.gravity)))
    found = METHODS[method](tree, case.q, case.v, case.tau, Acting(mechanism.gravity)).vdot
    agree(found, expected, len(tree.links), scale=np.abs(expected).max(), condition=1e4)


@pytest.mark.row("T-ada")
@pytest.mark.parametrize(**seeds(8))
def test_assembly_and_articulated_bodies_find_the_same_forces_at_the_joints(seed):
    case = random_case(seed)
    robot = km.Robot(heavy(case.mechanism))
    by_articulated, by_assembly = (robot.joint_wrenches(case.q, case.v, case.tau, method=method) for method in ("aba", "ada"))
    for name, wrench in by_articulated.items():
        agree(by_assembly[name], wrench, 100, scale=max(1.0, np.abs(wrench).max()), condition=1e4)


@pytest.mark.parametrize(**seeds(6))
def test_joint_wrenches_balance_every_body(seed):
    """Newton's and Euler's laws for the bodies as written: what the joints exert changes their momentum."""
    case = random_case(seed)
    mechanism = heavy(case.mechanism)
    robot = km.Robot(mechanism)
    q, v = np.array(case.q), np.array(case.v)
    a = robot.forward_dynamics(q, v, case.tau)
    wrenches = robot.joint_wrenches(q, v, case.tau, in_world=True)
    h = 1e-5

    def momenta(s: float) -> dict[str, np.ndarray]:
        """[l about the world's origin; p] of every body, s seconds on."""
        q_s, v_s = robot.integrate(q, s * v + 0.5 * s * s * a), v + s * a
        found = {}
        for body in mechanism.bodies:
            X, twist = robot.pose(q_s, body.name), robot.velocity(q_s, v_s, body.name)
            center = X[:3, :3] @ np.array(body.center_of_mass)
            p = body.mass * (twist[3:] + np.cross(twist[:3], center))
            spin = X[:3, :3] @ np.array(body.inertia) @ X[:3, :3].T @ twist[:3]
            found[body.name] = np.concatenate([spin + np.cross(X[:3, 3] + center, p), p])
        return found

    before, after = momenta(-h), momenta(h)
    rate = {name: (after[name] - before[name]) / (2.0 * h) for name in after}
    at_origin = {}
    for joint in mechanism.joints:
        if joint.name in wrenches:
            n, f = wrenches[joint.name][:3], wrenches[joint.name][3:]
            at_origin[joint.name] = np.concatenate([n + np.cross(robot.pose(q, joint.child)[:3, 3], f), f])
    for group in rigid_groups(mechanism):
        carried = [joint for joint in mechanism.joints if joint.child in group and joint.name in at_origin]
        if not carried:
            continue
        force = sum(at_origin[joint.name] for joint in carried)
        for joint in mechanism.joints:
            if joint.parent in group and joint.name in at_origin:
                force = force - at_origin[joint.name]
        for name in group:
            body = mechanism.body(name)
            weight = body.mass * np.array(mechanism.gravity)
            X = robot.pose(q, name)
            center = X[:3, 3] + X[:3, :3] @ np.array(body.center_of_mass)
            force = force + np.concatenate([np.cross(center, weight), weight])
        total = sum(rate[name] for name in group)
        assert np.allclose(force, total, rtol=1e-6, atol=1e-6 * max(1.0, np.abs(total).max()))


def rigid_groups(mechanism: km.Mechanism) -> list[set[str]]:
    """Bodies joined by fixed joints, together."""
    groups = [{body.name} for body in mechanism.bodies]
    for joint in mechanism.joints:
        if joint.kind.nv == 0:
            mine = next(group for group in groups if joint.child in group)
            other = next((group for group in groups if joint.parent in group), None)
            if other is None:  # fixed to the world: no joint's forces are known
                groups.remove(mine)
            elif other is not mine:
                groups.remove(mine)
                other |= mine
    return groups


@pytest.mark.row("T-ada")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(**seeds(8))
def test_the_forces_at_the_joints_do_not_depend_on_the_order(seed, method):
    case = random_case(seed)
    mechanism = heavy(case.mechanism)
    tree = mechanism.tree
    pushed = Wrenches(tree, {body.name: np.random.default_rng(seed).normal(size=6).tolist() for body in mechanism.bodies})
    acting = Acting(mechanism.gravity, pushed)
    expected = np.array([list(force) for force in joint_forces(tree, case.q, case.v, case.tau, acting)])
    for order in ORDERS:
        found = METHODS[method](tree, case.q, case.v, case.tau, acting, order=order).forces
        agree([found[link.index] for link in tree.links], expected, 100, condition=1e4)


@pytest.mark.row("T-ada")
@pytest.mark.parametrize(
    ("sample", "method", "most"),
    [("pa10", "ada", 2.5), ("planar_3r", "ada", 1.8), ("pa10", "dca", 4.0), ("planar_3r", "dca", 3.5)],
)
def test_assembling_takes_few_operations_more_than_articulated_bodies(sample, method, most):
    robot = km.load(sample)
    few, more = (robot.compile("forward_dynamics", method=name).operations for name in ("aba", method))
    assert more <= most * few


def test_a_balanced_order_closes_half_of_what_is_open_in_a_round():
    """In a chain of 2^k bodies, the world among them, the first half of the order joins bodies that none of it shares."""
    mechanism = random_mechanism(np.random.default_rng(0), ["revolute"] * 7, chain=True)
    order = ORDERS["balanced"](mechanism.tree)
    assert [set(order[:4]), set(order[4:6]), set(order[6:])] == [{0, 2, 4, 6}, {1, 5}, {3}]


@pytest.mark.row("T-2.3")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(**seeds(6))
def test_the_inverses_are_as_many_and_as_large_as_is_said(seed, method, monkeypatch):
    case = random_case(seed)
    mechanism, made = heavy(case.mechanism), Counter()
    factor = Factors.of.__func__

    def counting(cls, matrix):
        made[len(matrix.rows)] += 1
        return factor(cls, matrix)

    monkeypatch.setattr(Factors, "of", classmethod(counting))
    METHODS[method](mechanism.tree, case.q, case.v, case.tau, Acting(mechanism.gravity))
    links = len(mechanism.tree.links)
    made[3] -= links  # of the links' own inertias, numbers
    free = sum(link.kind.nv == 6 and not any(link.armature) for link in mechanism.tree.links)
    if method == "ada":
        made[1] -= free  # a free joint's, of the number one
    assert +made == Counter(inverse_sizes(mechanism, method))


def test_the_sizes_of_inverses_are_those_of_table_2_3():
    arm = km.load("pa10").mechanism
    expected = {"aba": {1: 7}, "ada": {5: 7}, "dca": {6: 7, 1: 7}, "crba": {7: 1}}
    assert {method: inverse_sizes(arm, method) for method in expected} == expected
    with pytest.raises(InputError, match="no count of inverses for 'lagrange'; there are aba, ada, dca"):
        inverse_sizes(arm, "lagrange")


def test_an_unknown_order_is_refused_with_the_known_ones():
    tree = km.load("pa10").mechanism.tree
    still = [0.0] * 7
    with pytest.raises(
        InputError, match="no order of assembly 'middle_out'; there are balanced, both_ends, few_handles, leaf_first, serial"
    ):
        ada(tree, still, still, still, Acting((0.0, 0.0, -9.81)), order="middle_out")


def test_an_order_that_misses_a_joint_is_refused():
    tree = km.load("pa10").mechanism.tree
    still = [0.0] * 7
    with pytest.raises(ModelError, match="must name each of the joints"):
        ada(tree, still, still, still, Acting((0.0, 0.0, -9.81)), order=[0, 1, 2])
