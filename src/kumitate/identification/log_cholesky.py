"""Inertias of bodies that can exist, by ten numbers without limits: the logarithmic Cholesky factors of the pseudo-inertia.

A body of positive density has a positive definite pseudo-inertia P = ∫ [x; 1] [x; 1]ᵀ dm (4, 4): positive mass, and principal
moments that fulfil the triangle inequality. It is P = U Uᵀ with U = e^α [[e^d₁, s₁₂, s₁₃, t₁], [0, e^d₂, s₂₃, t₂],
[0, 0, e^d₃, t₃], [0, 0, 0, 1]] for exactly one θ = (α, d₁, d₂, d₃, s₁₂, s₂₃, s₁₃, t₁, t₂, t₃).

Rucker, Wensing, Smooth parameterization of rigid-body inertia, IEEE Robotics and Automation Letters 7(2), 2022.
"""

from __future__ import annotations

import numpy as np

__all__ = ["inertia_numbers", "logarithms", "pseudo_inertia", "scales_of"]

#: A pseudo-inertia whose eigenvalues are smaller than this part of the largest is made that thick: rods, plates, points.
_THINNEST = 1e-4
_DIAGONAL = ((1, 0, 0), (2, 1, 1), (3, 2, 2))
_ABOVE = ((4, 0, 1), (5, 1, 2), (6, 0, 2), (7, 0, 3), (8, 1, 3), (9, 2, 3))


def pseudo_inertia(numbers: np.ndarray) -> np.ndarray:
    """P (4, 4) of the ten numbers of an inertia."""
    m, hx, hy, hz, xx, yy, zz, xy, xz, yz = numbers
    half = 0.5 * (xx + yy + zz)
    return np.array(
        [[half - xx, -xy, -xz, hx], [-xy, half - yy, -yz, hy], [-xz, -yz, half - zz, hz], [hx, hy, hz, m]],
    )


def inertia_numbers(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ten numbers of θ (10), and their derivatives (10, 10) with respect to it."""
    scale = np.exp(theta[0])
    U = np.zeros((4, 4))
    U[3, 3] = 1.0
    units = np.zeros((10, 4, 4))
    for k, i, j in _DIAGONAL:
        U[i, j] = units[k, i, j] = np.exp(theta[k])
    for k, i, j in _ABOVE:
        U[i, j] = theta[k]
        units[k, i, j] = 1.0
    U, units = scale * U, scale * units
    units[0] = U
    slopes = units @ U.T
    slopes = slopes + np.swapaxes(slopes, 1, 2)
    return _numbers(U @ U.T), np.array([_numbers(slope) for slope in slopes]).T


def logarithms(numbers: np.ndarray) -> np.ndarray:
    """θ of ten numbers; inertias that no body of positive volume has are thickened by a ten-thousandth."""
    P = pseudo_inertia(numbers)
    mass = max(float(P[3, 3]), 1e-9)
    c = P[:3, 3] / mass
    spread = P[:3, :3] - mass * np.outer(c, c)  # about the center of mass
    values, axes = np.linalg.eigh(spread)
    thick = np.maximum(values, _THINNEST * max(float(values[-1]), mass * 1e-4))  # a point is a ball of 1 cm
    spread = (axes * thick) @ axes.T
    turned = np.linalg.cholesky(spread[::-1, ::-1])[::-1, ::-1] / np.sqrt(mass)  # upper triangular
    theta = np.zeros(10)
    theta[0] = 0.5 * np.log(mass)
    for k, i, j in _DIAGONAL:
        theta[k] = np.log(turned[i, j])
    for k, i, j in _ABOVE:
        theta[k] = c[i] if j == 3 else turned[i, j]
    return theta


def scales_of(theta: np.ndarray) -> np.ndarray:
    """What change of each entry of θ is a large one: 1 of logarithms, the radius of gyration of lengths."""
    lengths = np.exp(theta[1:4]).max()
    return np.array([1.0] * 4 + [lengths] * 6)


def _numbers(P: np.ndarray) -> np.ndarray:
    """The ten numbers of a pseudo-inertia."""
    x, y, z = P[0, 0], P[1, 1], P[2, 2]
    return np.array([P[3, 3], *P[:3, 3], y + z, x + z, x + y, -P[0, 1], -P[0, 2], -P[1, 2]])
