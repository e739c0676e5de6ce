"""The free turning of single bodies in a step: against Euler's equations, as an invariant, and by two routes."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kumitate.contact.scenes.motion import turned_freely as procedure
from kumitate.dynamics.free_turning import lone_bodies, turned_freely, turned_more
from kumitate.model import Body, Joint, Mechanism


def single(inertia, center=(0.0, 0.0, 0.0)) -> Mechanism:
    body = Body("b", 2.0, center, tuple(map(tuple, inertia)))
    return Mechanism("m", (body,), (Joint("j", "floating", "world", "b"),))


def random_inertia(rng) -> np.ndarray:
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    masses = rng.uniform(0.1, 1.0, 3)
    return turn @ np.diag(masses.sum() - masses) @ turn.T


@pytest.mark.parametrize("seed", range(5))
def test_it_is_of_order_two_and_agrees_with_the_procedure(seed):
    rng = np.random.default_rng(seed)
    inertia, omega, velocity, center = random_inertia(rng), rng.normal(size=3), rng.normal(size=3), rng.normal(size=3)
    tree = single(inertia, tuple(center)).tree

    def rates(_, w):
        return np.linalg.solve(inertia, np.cross(inertia @ w, w))

    left = []
    for h in (0.02, 0.01):
        exact = solve_ivp(rates, (0.0, h), omega, rtol=1e-12, atol=1e-14).y[:, -1]
        change = np.array(turned_freely(tree, [*omega, *velocity], h))
        left.append(np.abs(omega + change[:3] - exact).max())
        np.testing.assert_allclose(change[3:] + np.cross(change[:3], center), 0.0, atol=1e-15)  # of the center of mass
        after = np.zeros(3)
        procedure(h, inertia, np.array([*omega, *velocity]), after)
        np.testing.assert_allclose(after, omega + change[:3], rtol=0.0, atol=1e-13)
        explicit = h * rates(0.0, omega)
        np.testing.assert_allclose(change[:3] - turned_more(tree, [*omega, *velocity], h)[:3], explicit, atol=1e-13)
    assert left[1] < left[0] / 6.0  # of a single step: h³


def test_a_symmetric_body_keeps_its_energy_and_momentum():
    inertia, w = np.diag([6e-4, 6e-4, 5e-4]), np.array([5.0, 2.0, 400.0])
    tree = single(inertia).tree
    for _ in range(1000):
        after = w + turned_freely(tree, [*w, 0.0, 0.0, 0.0], 1e-3)[:3]
        assert after @ inertia @ after == pytest.approx(w @ inertia @ w, rel=1e-14)
        assert np.linalg.norm(inertia @ after) == pytest.approx(np.linalg.norm(inertia @ w), rel=1e-14)
        w = after
    assert np.hypot(w[0], w[1]) == pytest.approx(np.hypot(5.0, 2.0), rel=1e-11)


def test_inertias_in_other_units_turn_alike():
    inertia, v = np.diag([2.0, 3.0, 4.0]), [5.0, -3.0, 2.0, 0.0, 0.0, 0.0]
    expected, after = turned_freely(single(inertia).tree, v, 1e-2), np.zeros(3)
    for unit in (1e-12, 1e9):
        np.testing.assert_allclose(turned_freely(single(unit * inertia).tree, v, 1e-2), expected, rtol=1e-12)
        procedure(1e-2, unit * inertia, np.array(v), after)
        np.testing.assert_allclose(after - v[:3], expected[:3], rtol=1e-12)


def test_points_rods_and_bodies_that_carry_others_keep_their_spin():
    rod = single(np.zeros((3, 3)), (0.0, 0.0, 0.5))  # a point at (0, 0, 0.5): about its own center it has no inertia
    assert turned_freely(rod.tree, [1.0, 2.0, 3.0, 0.0, 0.0, 0.0], 1e-2) == [0.0] * 6
    after = np.zeros(3)
    procedure(1e-2, np.diag([1.0, 1.0, 0.0]), np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0]), after)
    np.testing.assert_array_equal(after, [1.0, 2.0, 3.0])
    base = single(np.diag([1.0, 2.0, 2.5]))
    two = Mechanism("m", (*base.bodies, Body("arm", 1.0, (0.0, 0.0, 0.1))), (*base.joints, Joint("k", "revolute", "b", "arm")))
    assert lone_bodies(base.tree) == [base.tree.links[0]]
    assert lone_bodies(two.tree) == []
