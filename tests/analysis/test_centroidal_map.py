"""The maps to the centroidal momentum and to the velocity of the center of mass: two ways to every product with v."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.analysis import centroidal_map, mass_center_jacobian
from kumitate.analysis.momentum import centroidal_momentum, centroidal_momentum_rate, mass_center_motion
from kumitate.kinematics import center_of_mass, total_mass

from ..mechanisms import agree, cases, random_case


@pytest.mark.parametrize(**cases(4, every=1))
def test_products_with_velocities_are_the_recursions(make):
    case = make()
    tree, v = case.mechanism.tree, np.array(case.v)
    found, jacobian = centroidal_map(tree, case.q, case.v), mass_center_jacobian(tree, case.q, case.v)
    A, A_rate, a = np.array(found["matrix"]), np.array(found["rate"]), np.array(case.a)
    size = 100.0 * max(1.0, float(v @ v))
    agree(A @ v, centroidal_momentum(tree, case.q, case.v), case.n)
    agree(A_rate @ v, found["drift"], case.n, scale=size)
    agree(A @ a + A_rate @ v, centroidal_momentum_rate(tree, case.q, case.v, case.a), case.n, scale=size)
    motion = mass_center_motion(tree, case.q, case.v, case.a)
    agree(np.array(jacobian["jacobian"]) @ v, motion["velocity"], case.n)
    agree(np.array(jacobian["jacobian"]) @ a + np.array(jacobian["rate"]) @ v, motion["acceleration"], case.n, scale=size)


def test_compiled():
    """As kernels for many states; the linear part of the map is the mass times the Jacobian."""
    robot = km.Robot(random_case(3).mechanism)
    rng = np.random.default_rng(2)
    q, v = robot.integrate(robot.start[0], 0.3 * rng.normal(size=(3, robot.nv))), rng.normal(size=(3, robot.nv))
    matrix, rate, drift = robot.compile("centroidal_map")(q, v)
    jacobian, its_rate = robot.compile("mass_center_jacobian")(q, v)
    mass = float(total_mass(robot.mechanism.tree))
    np.testing.assert_allclose(matrix[:, 3:], mass * jacobian, rtol=0, atol=1e-13 * np.abs(matrix).max())
    np.testing.assert_allclose(rate[:, 3:], mass * its_rate, rtol=0, atol=1e-12 * np.abs(rate).max())
    np.testing.assert_allclose(np.einsum("sij,sj->si", rate, v), drift, rtol=0, atol=1e-12 * np.abs(drift).max())


def test_one_body_on_a_slider():
    """A mass m on a slider along x: the Jacobian is x, and it does not change."""
    slider = km.Joint("slider", "prismatic", "world", "mass", axis=(1, 0, 0))
    mechanism = km.Mechanism("slide", (km.Body("mass", 2.0, (0.1, 0.2, 0.3), (1.0, 1.0, 1.0)),), (slider,))
    found = centroidal_map(mechanism.tree, [0.7], [3.0])
    np.testing.assert_allclose(found["matrix"], [[0.0], [0.0], [0.0], [2.0], [0.0], [0.0]], atol=1e-15)
    np.testing.assert_allclose(found["rate"], np.zeros((6, 1)), atol=1e-15)
    assert center_of_mass(mechanism.tree, [0.7]) == pytest.approx([0.8, 0.2, 0.3])
