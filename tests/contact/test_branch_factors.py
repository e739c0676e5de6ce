"""Contact stiffens an inertia matrix: its factors by branches are those of the whole; inverse inertias as of dense algebra."""

from __future__ import annotations

import numpy as np
import pytest

from kumitate.compile import Kernel
from kumitate.contact.impulse.branch_factors import BranchFactors
from kumitate.contact.impulse.frames import inverse_link_inertia
from kumitate.contact.impulse.jacobians import link_jacobians
from kumitate.contact.impulse.problem import inertia
from kumitate.dynamics import crba
from kumitate.model.samples import HOAP1_STANDING, hoap1
from kumitate.scalar import trace
from kumitate.spatial import Dense

from ..mechanisms import MOVING, random_coordinates, random_mechanism

SEEDS = pytest.mark.parametrize("seed", range(6), ids=lambda seed: f"seed{seed}")


def posed(seed: int):
    """A mechanism of several branches (a humanoid, or a random tree), q, its inertia matrix and its links' Jacobians."""
    rng = np.random.default_rng(seed)
    kinds = [MOVING[k] for k in rng.integers(len(MOVING), size=6)]
    mechanism = hoap1() if seed == 0 else random_mechanism(rng, kinds, passive=False, root="floating" if seed % 2 else None)
    q = list(map(float, HOAP1_STANDING if seed == 0 else random_coordinates(mechanism, rng)))
    at = link_jacobians(mechanism.base_parameter_tree, q)
    unit = [[1.0 if i == k else 0.0 for i in range(mechanism.nv)] for k in range(mechanism.nv)]
    twists = [at.twists(v) for v in unit]
    J = {link.index: np.array([list(twist[link]) for twist in twists]).T for link in at.tree.links}
    return rng, mechanism, q, at, np.array(crba(at.tree, q)), J


@SEEDS
def test_branch_by_branch_is_the_whole(seed):
    rng, mechanism, q, at, M, J = posed(seed)
    branch_factors = BranchFactors.of(at, inertia(at.tree, q, [0.0] * mechanism.nv, 0.0))
    b = rng.normal(size=mechanism.nv)
    np.testing.assert_allclose(branch_factors.factors.solve(b), np.linalg.solve(M, b), rtol=1e-8, atol=1e-8 * np.abs(b).max())
    touched = [link.index for link in at.tree.links if rng.random() < 0.4] or [len(at.tree.links) - 1]
    on, whole = {}, M
    for index in touched:
        A = rng.normal(size=(6, 6))
        K = A @ A.T + rng.normal(scale=0.2, size=(6, 6))  # friction makes it unsymmetric
        on[index], whole = Dense.of(K.tolist()), whole + J[index].T @ K @ J[index]
    found = branch_factors.stiffened(on, dict.fromkeys(touched, True)).solve(b)
    np.testing.assert_allclose(whole @ found, b, atol=1e-9 * np.abs(b).max())


def test_a_branch_that_touches_nothing_is_left_out():
    """Compiled, with feet that touch or not as the inputs say."""
    _, mechanism, q, at, M, J = posed(0)
    feet = [at.tree.places[name].link for name in ("left_foot", "right_foot")]
    K = 1e3 * np.eye(6)
    b = np.random.default_rng(1).normal(size=mechanism.nv)

    def page(q, near):
        branch_factors = BranchFactors.of(link_jacobians(at.tree, q), inertia(at.tree, q, [0.0] * mechanism.nv, 0.0))
        # of what is not near, K is nonsense that must not be looked at
        rows = K.tolist()
        on = {foot: Dense.of([x + 1e9 * (1.0 - near[k]) for x in row] for row in rows) for k, foot in enumerate(feet)}
        return branch_factors.stiffened(on, {foot: near[k] > 0.5 for k, foot in enumerate(feet)}).solve(b.tolist())

    kernel = Kernel(trace(page, {"q": mechanism.nq, "near": 2}))
    for near in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)):
        whole = M + sum(J[foot].T @ K @ J[foot] for foot, one in zip(feet, near, strict=True) if one)
        np.testing.assert_allclose(whole @ kernel(np.array(q), np.array(near)), b, atol=1e-9)


@SEEDS
def test_the_inverse_inertia_of_a_link_is_that_of_dense_algebra(seed):
    _, mechanism, q, at, M, J = posed(seed)
    factors = BranchFactors.of(at, inertia(at.tree, q, [0.0] * mechanism.nv, 0.0)).factors
    for link in at.tree.links:
        dense = J[link.index] @ np.linalg.solve(M, J[link.index].T)
        np.testing.assert_allclose(inverse_link_inertia(at, link, factors).rows, dense, atol=1e-8 * np.abs(dense).max())
