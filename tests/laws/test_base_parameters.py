"""The lean tree moves like the true one: inertia was moved only where no joint can tell."""

import numpy as np
import pytest

from kumitate.dynamics import Acting, Wrenches, aba, crba, jacobian_inertia, rnea, unit_vector
from kumitate.model import KINDS

from ..mechanisms import agree, every_kind, random_case, random_mechanism, random_state, seeds


def same_equations(case) -> None:
    m = case.mechanism
    true, lean = m.tree, m.lean_tree
    assert [link.name for link in lean.links] == [link.name for link in true.links]
    M = np.array(crba(true, case.q))
    for page in (crba, unit_vector, jacobian_inertia):
        agree(page(lean, case.q), M, case.n)
    pushed = {m.frames[0].name: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], m.bodies[-1].name: [-3.0, 1.0, 2.0, 0.5, -1.0, 2.0]}
    results = []
    for tree in (true, lean):
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
