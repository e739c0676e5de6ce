"""Robots whose inertia matrix is badly conditioned: the residual is judged, not a fixed difference."""

import numpy as np
import pytest

from kumitate.dynamics import aba, crba, rnea
from kumitate.model import KINDS, Body, Joint, Mechanism
from kumitate.programs import FORWARD_DYNAMICS
from kumitate.spatial import pose

from ..mechanisms import quaternion_of, seeds


def snake(links: int, ratio: float) -> Mechanism:
    """A planar chain of equal rods 0.1 m long whose masses grow by `ratio` from one end to the other, the heavy end free."""
    masses = np.geomspace(1.0, ratio, links)
    rod = np.array([1e-2, 1.0, 1.0]) * 0.01 / 12.0
    bodies = tuple(Body(f"b{i}", m, (0.05, 0.0, 0.0), rod * m) for i, m in enumerate(masses))
    parents = ("world", *(body.name for body in bodies))
    joints = tuple(
        Joint(f"j{i}", "revolute", parents[i], f"b{i}", pose((0.1 if i else 0.0, 0.0, 0.0)), (0.0, 1.0, 0.0))
        for i in range(links)
    )
    return Mechanism("snake", bodies, joints)


@pytest.mark.row("T-aba", "C-crb", "C-uv")
@pytest.mark.parametrize(("links", "ratio"), [(12, 1.0), (12, 1e4), (20, 1.0), (20, 1e-4), (6, 1e6)])
@pytest.mark.parametrize(**seeds(2))
def test_forward_dynamics_leaves_a_small_residual(links, ratio, seed):
    """‖M a − (τ − h)‖ ≤ 1e-11 ‖τ − h‖·(1 + ‖M‖‖a‖/‖τ − h‖) and |Δa| ≤ 1e-12·cond(M)·‖a‖ between any two methods.

    The second factor is 1 unless the terms of M a cancel: their rounding alone leaves ε‖M‖‖a‖.
    """
    m = snake(links, ratio)
    rng = np.random.default_rng(seed)
    q, v, tau = (rng.normal(size=links).tolist() for _ in range(3))
    M = np.array(crba(m.tree, q))
    condition = np.linalg.cond(M)
    assert condition > 1e3
    right = np.array(tau) - rnea(m.tree, q, v, [0.0] * links, gravity=m.gravity)
    reference = np.array(aba(m.tree, q, v, tau, gravity=m.gravity))
    cancelled = 1.0 + np.linalg.norm(M) * np.linalg.norm(reference) / np.linalg.norm(right)
    for method, page in FORWARD_DYNAMICS.items():
        a = np.array(page(m.tree, q, v, tau, gravity=m.gravity))
        residual = np.linalg.norm(M @ a - right)
        assert residual <= 1e-11 * np.linalg.norm(right) * cancelled, method
        assert np.abs(a - reference).max() <= 1e-12 * condition * np.linalg.norm(reference), method


@pytest.mark.parametrize("distance", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize(**seeds(3))
def test_near_a_singular_angle_the_motion_stays_right(distance, seed):
    """Close to pitch 90 deg the angles' accelerations grow without bound, but not what the body does: S q̈ + Ṡ q̇ = V̇."""
    kind = KINDS["floating_euler"]
    body = Body("brick", 2.0, (0.05, -0.02, 0.1), (0.02, 0.05, 0.04))
    m = Mechanism("brick", (body,), (Joint("free", kind, "world", "brick"),))
    rng = np.random.default_rng(seed)
    q, v = rng.normal(size=6), rng.normal(size=6)
    q[1] = np.pi / 2.0 - distance
    a = np.array(aba(m.tree, q.tolist(), v.tolist(), [0.0] * 6, gravity=m.gravity))
    condition = np.linalg.cond(np.array(crba(m.tree, q.tolist())))
    S, rate = (np.array([list(p) for p in parts]).T for parts in (kind.subspace(q), kind.subspace_rate(q, v)))
    twist, got = S @ v, S @ a + rate @ v
    free = Mechanism("brick", (body,), (Joint("free", "floating", "world", "brick"),))
    R = np.array(kind.transform(q).matrix())[:3, :3]
    expected = aba(free.tree, [*quaternion_of(R), *q[3:]], twist.tolist(), [0.0] * 6, gravity=m.gravity)
    assert np.abs(got - expected).max() <= 1e-14 * condition * np.linalg.norm(a)
