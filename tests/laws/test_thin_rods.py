"""Points and thin rods have inertias without inverse: ADA and DCA reach them by moving inertia across joints, adding none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.dynamics import Acting, Wrenches, aba, crba, joint_forces, rnea
from kumitate.dynamics.ada import ada
from kumitate.dynamics.dca import dca
from kumitate.errors import ModelError
from kumitate.model import Body, Joint, Mechanism
from kumitate.model.tree.regular_inertias import with_regular_inertias
from kumitate.spatial import Motion

from ..mechanisms import agree, random_case, random_joint, random_mechanism, random_rotation, random_state, seeds

METHODS = {"ada": ada, "dca": dca}
ROD = np.diag([1.0 / 12.0, 1.0 / 12.0, 0.0])
SIMPLE = ("revolute", "revolute", "prismatic", "fixed")
SAMPLES = ("pendulum", "double_pendulum", "planar_3r", "planar_tree", "planar_tree_5")


def slender(rng: np.random.Generator, body: Body) -> Body:
    """The body as it is, or as a thin rod, or as a point."""
    form = rng.integers(3)
    axis = random_rotation(rng)[0]
    rod = 0.1 * body.mass * (np.eye(3) - np.outer(axis, axis))
    return replace(body, inertia=(np.array(body.inertia), 0.5 * (rod + rod.T), np.zeros((3, 3)))[form])


def mixed_case(seed: int):
    """A tree of rods and points on joints of one freedom and full bodies on any, in a random state.

    The first that is drawn whose mass matrix is regular: others have no equations of motion.
    """
    rng = np.random.default_rng(seed)
    while True:
        kinds = rng.choice([*SIMPLE, *SIMPLE, "cylindrical", "universal", "spherical", "planar"], int(rng.integers(2, 9)))
        drawn = random_mechanism(rng, ["revolute", *kinds], chain=bool(seed % 2), passive=False)
        simple = {joint.child for joint in drawn.joints if joint.kind.name in SIMPLE}
        bodies = tuple(slender(rng, body) if body.name in simple else body for body in drawn.bodies)
        mechanism = replace(drawn, bodies=bodies)
        try:
            case = random_state(mechanism, rng)
        except ModelError:  # a joint moves nothing that resists
            continue
        M = np.array(crba(mechanism.tree, case.q))
        if np.linalg.cond(M) < 1e4:
            return case


def eigenvalues(tree) -> np.ndarray:
    """Of the links' inertias, each measured by its own diagonal."""
    found = []
    for link in tree.links:
        matrix = np.array([list(link.inertia.times(Motion.of(axis))) for axis in np.eye(6).tolist()])
        size = np.maximum(np.sqrt(np.abs(matrix.diagonal())), 1e-100)
        found.append(np.linalg.eigvalsh(matrix / np.outer(size, size)).min())
    return np.array(found)


def check(mechanism: Mechanism, q, v, tau, *, condition: float) -> None:
    """ADA and DCA against articulated bodies and the mass matrix, and their joint forces against (2.23)."""
    tree = mechanism.tree
    pushed = Wrenches(tree, {mechanism.bodies[-1].name: [0.3, -0.2, 0.1, 1.0, -2.0, 0.5]})
    acting = Acting(mechanism.gravity, pushed)
    expected = np.array(aba(tree, q, v, tau, acting))
    h = np.array(rnea(tree, q, v, [0.0] * tree.nv, gravity=mechanism.gravity, wrenches=pushed))
    scale = np.abs(expected).max()
    agree(np.linalg.solve(np.array(crba(tree, q)), tau - h), expected, 50, scale=scale, condition=condition)
    forces = np.array([list(force) for force in joint_forces(tree, q, v, tau, acting)])
    for method in METHODS.values():
        for order in ("both_ends", "leaf_first", "serial", "balanced"):
            found = method(tree, q, v, tau, acting, order=order)
            agree(found.vdot, expected, 50, scale=scale, condition=condition)
            by_joint = [found.forces[link.index] for link in tree.links]
            agree(by_joint, forces, 50, scale=max(scale, np.abs(forces).max()), condition=condition)


@pytest.mark.row("T-ada")
@pytest.mark.row("T-dca")
@pytest.mark.parametrize("sample", SAMPLES)
def test_points_and_rods_of_the_thesis(sample):
    mechanism = km.load(sample).mechanism
    assert eigenvalues(mechanism.tree).min() < 1e-12
    rng = np.random.default_rng(1)
    for _ in range(3):
        q, v, tau = (rng.normal(size=mechanism.nv).tolist() for _ in range(3))
        check(mechanism, q, v, tau, condition=1e3)


@pytest.mark.row("T-ada")
@pytest.mark.row("T-dca")
@pytest.mark.parametrize(**seeds(24))
def test_trees_of_rods_points_and_full_bodies(seed):
    case = mixed_case(seed)
    assert eigenvalues(with_regular_inertias(case.mechanism.tree).tree).min() > 1e-9
    check(case.mechanism, case.q, case.v, case.tau, condition=1e8)


@pytest.mark.parametrize(**seeds(12))
def test_moving_inertia_changes_neither_mass_matrix_nor_bias(seed):
    case = mixed_case(seed)
    tree = case.mechanism.tree
    moved = with_regular_inertias(tree).tree
    a = np.array(case.a)
    before, after = (np.array(rnea(t, case.q, case.v, a, gravity=case.mechanism.gravity)) for t in (tree, moved))
    agree(after, before, 50, scale=np.abs(before).max(), condition=1e3)


@pytest.mark.parametrize(**seeds(6))
def test_links_with_inverses_stay_as_they_are(seed):
    case = random_case(seed)
    tree = case.mechanism.tree
    assert with_regular_inertias(tree).tree is tree


def test_only_those_in_need_and_their_parents_change():
    chain = random_mechanism(np.random.default_rng(4), ["revolute"] * 6, chain=True)
    rod = np.diag([0.1, 0.1, 0.0])
    bodies = tuple(replace(body, inertia=rod) if body.name == "b4" else body for body in chain.bodies)
    tree = replace(chain, bodies=bodies).tree
    moved = with_regular_inertias(tree)
    assert set(moved.lent) == {4}
    changed = {a.index for a, b in zip(tree.links, moved.tree.links, strict=True) if a.inertia != b.inertia}
    assert changed == {3, 4}


def test_compiled_rods_give_the_same_accelerations_and_joint_forces():
    robot = km.load("planar_tree")
    rng = np.random.default_rng(0)
    q, v, tau = (rng.normal(size=(5, robot.nv)) for _ in range(3))
    expected = robot.forward_dynamics(q, v, tau)
    for method in METHODS:
        agree(robot.forward_dynamics(q, v, tau, method=method), expected, 20, scale=np.abs(expected).max(), condition=1e2)
    by_articulated, by_assembly = (robot.joint_wrenches(q, v, tau, method=method) for method in ("aba", "ada"))
    for name, wrench in by_articulated.items():
        agree(by_assembly[name], wrench, 20, scale=np.abs(wrench).max(), condition=1e2)


@pytest.mark.parametrize("kind", ["floating", "spherical", "cylindrical"])
@pytest.mark.parametrize("method", METHODS)
def test_a_free_rod_is_refused_by_name(method, kind):
    """On the first two its spin has no equation of motion (T-3.5 without the axial inertia); the third can lend no mass."""
    joint = random_joint(np.random.default_rng(0), "base", kind, "world", "rod", passive=False)
    rod = Mechanism("rod", (Body("rod", 1.0, (0.0, 0.0, 0.5), np.zeros((3, 3)) if kind == "cylindrical" else ROD),), (joint,))
    q, v = joint.kind.neutral(), [0.0] * rod.nv
    with pytest.raises(ModelError, match=r"joint 'base' carries a link whose inertia has no inverse .* no joint can lend it"):
        METHODS[method](rod.tree, q, v, v, Acting(rod.gravity))


def test_a_rod_hinged_on_a_free_one_is_refused():
    """Where both lie on one line, nothing resists the spin of the first."""
    joints = (Joint("base", "floating", "world", "a"), Joint("hinge", "revolute", "a", "b", axis=(1.0, 0.0, 0.0)))
    bodies = tuple(Body(name, 1.0, (0.0, 0.0, 0.5), ROD) for name in ("a", "b"))
    with pytest.raises(ModelError, match="no joint can lend"):
        with_regular_inertias(Mechanism("rods", bodies, joints).tree)
