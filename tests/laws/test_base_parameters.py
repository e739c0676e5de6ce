"""A base-parameter tree moves like the mechanism, and is refused where the inertias of bodies are needed."""

import numpy as np
import pytest

import kumitate as km
from kumitate.analysis import ground_wrench, momentum, momentum_matrix
from kumitate.contact.impulse.contact_points import _size
from kumitate.control.reaction_null_space import partition
from kumitate.dynamics import Acting, Wrenches, aba, crba, joint_forces, loop_wrenches, rnea
from kumitate.dynamics.ada import ada
from kumitate.dynamics.dca import dca
from kumitate.dynamics.hybrid import hybrid
from kumitate.errors import InputError
from kumitate.kinematics import center_of_mass
from kumitate.kinematics.poses import total_mass
from kumitate.model import KINDS
from kumitate.papers import jacobian_inertia, unit_vector

from ..mechanisms import agree, every_kind, random_case, random_mechanism, random_state, seeds


def same_equations(case) -> None:
    m = case.mechanism
    true, fewer = m.tree, m.base_parameter_tree
    assert [link.name for link in fewer.links] == [link.name for link in true.links]
    M = np.array(crba(true, case.q))
    for page in (crba, unit_vector, jacobian_inertia):
        agree(page(fewer, case.q), M, case.n)
    pushed = {m.frames[0].name: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], m.bodies[-1].name: [-3.0, 1.0, 2.0, 0.5, -1.0, 2.0]}
    results = []
    for tree in (true, fewer):
        w = Wrenches(tree, pushed)
        tau = rnea(tree, case.q, case.v, case.a, gravity=m.gravity, wrenches=w)
        results.append((tau, aba(tree, case.q, case.v, case.tau, Acting(m.gravity, wrenches=w))))
    agree(results[1][0], results[0][0], case.n, scale=100.0)
    agree(results[1][1], results[0][1], case.n, scale=10.0, condition=np.linalg.cond(M))


@pytest.mark.parametrize(**seeds(16))
def test_random_mechanisms(seed):
    same_equations(random_case(seed))


@pytest.mark.parametrize(**seeds(4))
def test_every_kind_of_joint(seed):
    same_equations(every_kind(seed))


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.nv])
@pytest.mark.parametrize(**seeds(3))
def test_a_chain_of_one_kind(kind, seed):
    rng = np.random.default_rng(seed)
    same_equations(random_state(random_mechanism(rng, [kind] * 4, chain=True), rng))


NEEDS_BODIES = {
    "joint_forces": lambda tree, q, x, acting: joint_forces(tree, q, x, x, acting),
    "loop_wrenches": lambda tree, q, x, acting: loop_wrenches(tree, q, x, x, acting),
    "ground_wrench": lambda tree, q, x, acting: ground_wrench(tree, q, x, x, gravity=acting.gravity),
    "momentum": lambda tree, q, x, acting: momentum(tree, q, x),
    "momentum_matrix": lambda tree, q, x, acting: momentum_matrix(tree, q),
    "center_of_mass": lambda tree, q, x, acting: center_of_mass(tree, q),
    "partition": lambda tree, q, x, acting: partition(tree, q),
    "total_mass": lambda tree, q, x, acting: total_mass(tree),
    "ada": lambda tree, q, x, acting: ada(tree, q, x, x, acting),
    "dca": lambda tree, q, x, acting: dca(tree, q, x, x, acting),
    "hybrid": lambda tree, q, x, acting: hybrid(tree, q, x, x, acting),
}
#: What pages call it that they share.
CALLED = dict.fromkeys(("ada", "dca", "hybrid"), "assembly by inverse inertias")


@pytest.mark.parametrize("page", NEEDS_BODIES)
def test_what_needs_the_inertias_of_bodies_refuses_a_base_parameter_tree(page):
    m = km.load("pa10").mechanism
    q, still, acting = km.load("pa10").start[0].tolist(), [0.0] * m.nv, Acting(m.gravity)
    NEEDS_BODIES[page](m.tree, q, still, acting)
    with pytest.raises(
        InputError, match=rf"{CALLED.get(page, page)}: the tree is a base-parameter tree.* Give Mechanism\.tree"
    ):
        NEEDS_BODIES[page](m.base_parameter_tree, q, still, acting)


def test_contact_points_are_sized_by_the_masses_of_bodies():
    m = km.load("hoap1").mechanism
    assert _size(m.tree, (0, -1)) > 0.0
    with pytest.raises(InputError, match=r"contact points: the tree is a base-parameter tree"):
        _size(m.base_parameter_tree, (0, -1))
