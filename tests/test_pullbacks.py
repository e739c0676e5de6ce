"""Vector-Jacobian products in coordinates: against differences along coordinates, and ⟨w, J x⟩ = ⟨Jᵀ w, x⟩."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate import pullbacks
from kumitate.kinematics import gathered, spread

from .mechanisms import every_kind


def test_gradients_by_coordinates_and_along_the_degrees_of_freedom():
    """Over all kinds of joints: spreading a gradient and gathering it again gives it back, without a part along quaternions."""
    case = every_kind(2)
    tree, g = case.mechanism.tree, np.random.default_rng(1).normal(size=case.mechanism.nv).tolist()
    by_q = spread(tree, case.q, g)
    np.testing.assert_allclose(gathered(tree, case.q, by_q), g, rtol=1e-12)
    for link in tree.links:
        if link.kind.nq != link.kind.nv:
            quaternion, own = link.coordinates(case.q)[:4], link.coordinates(by_q)[:4]
            assert np.dot(quaternion, own) == pytest.approx(0.0, abs=1e-13)


@pytest.mark.parametrize("name", ["floating_arm", "planar_3r"])
@pytest.mark.parametrize("page", [pullbacks.forward_dynamics, pullbacks.inverse_dynamics])
def test_dynamics(page, name):
    robot, rng, n = km.load(name), np.random.default_rng(3), 4
    q = robot.integrate(np.tile(robot.start[0], (n, 1)), 0.3 * rng.normal(size=(n, robot.nv)))
    v, third, w = rng.normal(size=(3, n, robot.nv))
    x = rng.normal(size=(3, n, robot.nv))
    (result,), back = page(robot, q, v, third)
    by_q, by_v, by_third = back(w)

    def at(size):
        return page(robot, robot.integrate(q, size * x[0]), v + size * x[1], third + size * x[2]).results[0]

    small = 1e-3
    expected = w * (8.0 * (at(small) - at(-small)) - (at(2.0 * small) - at(-2.0 * small))) / (12.0 * small)
    dq = (robot.integrate(q, 1e-6 * x[0]) - robot.integrate(q, -1e-6 * x[0])) / 2e-6
    found = (by_q * dq).sum() + (by_v * x[1]).sum() + (by_third * x[2]).sum()
    assert result.shape == (n, robot.nv)
    assert found == pytest.approx(expected.sum(), rel=1e-7)


def test_rollouts():
    robot, rng = km.load("floating_arm"), np.random.default_rng(3)
    sim = km.Simulation(robot, step=5e-3, integrator="semi_implicit_euler")
    q = robot.integrate(np.tile(robot.start[0], (4, 1)), 0.3 * rng.normal(size=(4, robot.nv)))
    v, tau = 0.3 * rng.normal(size=(4, robot.nv)), 0.1 * rng.normal(size=(6, robot.nv))
    (after_q, after_v), back = pullbacks.rollout(sim, q, v, {"tau": tau}, steps=6, every=2)
    wq, wv = rng.normal(size=after_q.shape), rng.normal(size=after_v.shape)
    gradients = back(wq, wv)
    assert [part.shape for part in gradients] == [q.shape, v.shape, tau.shape]
    x, dv, du = rng.normal(size=(4, robot.nv)), rng.normal(size=v.shape), rng.normal(size=tau.shape)

    def at(size):
        start = robot.integrate(q, size * x), v + size * dv, {"tau": tau + size * du}
        ends = pullbacks.rollout(sim, *start, steps=6, every=2).results
        return (wq * ends[0]).sum() + (wv * ends[1]).sum()

    small = 1e-4
    expected = (8.0 * (at(small) - at(-small)) - (at(2.0 * small) - at(-2.0 * small))) / (12.0 * small)
    dq = (robot.integrate(q, 1e-6 * x) - robot.integrate(q, -1e-6 * x)) / 2e-6
    found = sum((a * b).sum() for a, b in zip(gradients, (dq, dv, du), strict=True))
    assert found == pytest.approx(expected, rel=1e-6)
