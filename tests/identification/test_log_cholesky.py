"""Logarithmic Cholesky factors: one θ for each inertia that can exist, and derivatives that agree with differences."""

import numpy as np
import pytest

from kumitate.identification.physical import inertia_numbers, logarithms, pseudo_inertia
from kumitate.model.tree.base_parameters import numbers_of

from ..mechanisms import near, random_body, seeds, slope


@pytest.mark.parametrize(**seeds(5))
def test_there_and_back(seed):
    rng = np.random.default_rng(seed)
    numbers = np.array(numbers_of(random_body(rng, "b").spatial_inertia()), dtype=float)
    assert np.allclose(inertia_numbers(logarithms(numbers))[0], numbers, rtol=1e-12, atol=1e-14)
    theta = rng.normal(size=10)
    assert np.allclose(logarithms(inertia_numbers(theta)[0]), theta, atol=1e-9)


@pytest.mark.parametrize(**seeds(5))
def test_every_theta_is_a_body(seed):
    """Point masses with this pseudo-inertia: positive, at the columns of its root."""
    theta = 1.5 * np.random.default_rng(seed).normal(size=10)
    numbers, _ = inertia_numbers(theta)
    values, axes = np.linalg.eigh(pseudo_inertia(numbers))
    assert values[0] > 0.0
    points = axes * np.sqrt(values)  # P = Σ [m x; m] [m x; m]ᵀ / m
    mass = points[3] ** 2
    positions = points[:3] / points[3]
    assert np.allclose(mass.sum(), numbers[0])
    assert np.allclose(positions @ mass, numbers[1:4])
    xx = ((positions[1] ** 2 + positions[2] ** 2) * mass).sum()
    yz = -(positions[1] * positions[2] * mass).sum()
    assert np.allclose([xx, yz], [numbers[4], numbers[9]])


@pytest.mark.parametrize(**seeds(3))
def test_derivatives(seed):
    theta = np.random.default_rng(seed).normal(size=10)
    _, slopes = inertia_numbers(theta)
    for k, unit in enumerate(np.eye(10)):
        near(slopes[:, k], slope(lambda h, unit=unit: inertia_numbers(theta + h * unit)[0]), 1e-9)


@pytest.mark.parametrize("numbers", [
    [2.0, 0, 0, 0, 0, 0, 0, 0, 0, 0],  # a point
    [1.0, 0, 0, 0.5, 0.3, 0.3, 0, 0, 0, 0],  # a rod
    [1.0, 0, 0, 0, 0.1, 0.1, 0.9, 0, 0, 0],  # against the triangle inequality
])  # fmt: skip
def test_what_cannot_exist_becomes_thick(numbers):
    found, _ = inertia_numbers(logarithms(np.array(numbers)))
    assert np.linalg.eigvalsh(pseudo_inertia(found))[0] > 0.0
    assert np.allclose(found[:4], numbers[:4])
