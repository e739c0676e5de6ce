"""The most probable parameters that a mechanism can have: bodies that can exist, armatures and frictions that are not negative.

Inertias are moved as their logarithms, so that no step leaves what is possible. Many bodies move a robot alike: among them,
those nearest to the model are taken. The model counts as one more measurement, with a standard deviation of `spread`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..model.tree.base_parameters import SIZE
from .base_parameters import BaseParameters, Unknowns
from .equations import Fit, LogEquations

#: The noise is lowered in these steps, relative to the efforts: large changes are decided before fine ones.
_STAGES = (0.1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8)
_STEPS = 100
#: A stage ends when a step lowers the sum of squares by less than this part, or by less than the square of this.
_SETTLED = 1e-6


class Physical(NamedTuple):
    """Possible values of the unknown parameters, in their order, and their covariance, given the model with its `spread`."""

    values: np.ndarray
    covariance: np.ndarray


@dataclass
class _Problem:
    """Least squares over z: θ of every body, properties of joints ≥ 0, log(1/K) of unknown drives."""

    unknowns: Unknowns
    base: BaseParameters
    equations: LogEquations
    start: np.ndarray
    spreads: np.ndarray

    def values(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The parameters, and their derivatives with respect to z."""
        count = len(self.unknowns.names)
        values, slopes = z[:count].copy(), np.eye(count, len(z))
        for k in range(len(self.unknowns.bodies)):
            own = slice(SIZE * k, SIZE * (k + 1))
            values[own], slopes[own, own] = inertia_numbers(z[own])
        return values, slopes

    def weighted(self, noise: np.ndarray) -> list[tuple[np.ndarray, int | None]]:
        """Triangles in units of the noise, with the index of their drive; those of all known drives are one."""
        drives = self.unknowns.drives
        scaled = self.equations.triangles / noise[:, None, None]
        known = [triangle for i, triangle in enumerate(scaled) if i not in drives]
        pooled: list[tuple[np.ndarray, int | None]] = []
        if known:
            pooled.append((np.asarray(np.linalg.qr(np.vstack(known), mode="r")), None))
        return pooled + [(scaled[i], len(self.unknowns.names) + k) for k, i in enumerate(drives)]

    def residuals(self, z: np.ndarray, triangles: list[tuple[np.ndarray, int | None]]) -> np.ndarray:
        beta = self.base.G @ self.values(z)[0]
        parts = []
        for R, drive in triangles:
            x = 1.0 if drive is None else np.exp(z[drive])
            parts.append(R @ np.concatenate([x * beta, [x, -1.0]]))
        return np.concatenate([*parts, (z - self.start) / self.spreads])

    def slopes(self, z: np.ndarray, triangles: list[tuple[np.ndarray, int | None]]) -> np.ndarray:
        """∂residuals/∂z."""
        values, by_z = self.values(z)
        beta, by_z = self.base.G @ values, self.base.G @ by_z
        blocks = []
        for R, drive in triangles:
            x = 1.0 if drive is None else np.exp(z[drive])
            block = x * R[:, :-2] @ by_z
            if drive is not None:
                block[:, drive] += x * (R[:, :-2] @ beta + R[:, -2])
            blocks.append(block)
        return np.vstack([*blocks, np.diag(1.0 / self.spreads)])


def physical(
    unknowns: Unknowns, base: BaseParameters, equations: LogEquations, found: Fit, reach: np.ndarray, spread: float
) -> Physical:
    """The most probable possible parameters, for the noises of the fit that was `found` without regard to what is possible.

    `reach`: for each property of a joint, a value that would explain all efforts alone; `spread`: how far, in logarithms,
    bodies may be from the model, about 1 for factors of 3.
    """
    model, inertial, drives = unknowns.values, unknowns.inertial, np.zeros(len(unknowns.drives))
    thetas, joints = [logarithms(model[k : k + SIZE]) for k in range(0, inertial, SIZE)], model[inertial:]
    spreads = np.concatenate([*map(scales_of, thetas), np.maximum(joints, reach), drives + 1.0])
    problem = _Problem(unknowns, base, equations, np.concatenate([*thetas, joints, drives]), spread * spreads)
    z = problem.start.copy()
    largest = float(equations.sizes(base.G @ unknowns.values).max(initial=0.0))
    tried = []
    for part in (*_STAGES, 0.0):
        if part == 0.0 or (found.noise < part * largest).any():
            z = _lowest(problem, z, np.maximum(found.noise, part * largest))
            tried += [z, _moved_to(problem, z, found)]
    triangles = problem.weighted(found.noise)
    z = _lowest(problem, min(tried, key=lambda z: float(np.sum(problem.residuals(z, triangles) ** 2))), found.noise)
    values, by_z = problem.values(z)
    J = problem.slopes(z, triangles)
    held = _at_zero(problem, z) & (J.T @ problem.residuals(z, triangles) > 0.0)
    half = by_z[:, ~held] @ np.linalg.pinv(J[:, ~held])
    return Physical(values, half @ half.T)


def _moved_to(problem: _Problem, z: np.ndarray, found: Fit) -> np.ndarray:
    """z moved by the shortest steps towards the base parameters that were found: exact if these are possible."""
    z, drives = z.copy(), slice(len(problem.unknowns.names), None)
    z[drives] = np.log(found.reciprocals[list(problem.unknowns.drives)])
    inner, joints = slice(0, drives.start), slice(problem.unknowns.inertial, drives.start)
    for _ in range(_STEPS):
        values, by_z = problem.values(z)
        gap = found.beta - problem.base.G @ values
        if np.abs(gap).max(initial=0.0) <= 1e-14 * np.abs(found.beta).max(initial=0.0):
            break
        A, spreads = problem.base.G @ by_z[:, inner], problem.spreads[inner]
        free, step = np.ones(drives.start, dtype=bool), np.zeros(drives.start)
        beyond = free
        while beyond.any():
            left = gap - A[:, ~free] @ step[~free]
            step[free] = spreads[free] * np.linalg.lstsq(A[:, free] * spreads[free], left, rcond=None)[0]
            step[free] *= min(1.0, 1.0 / max(float(np.abs(step[free] / spreads[free]).max(initial=0.0)), 1e-300))
            beyond = np.zeros_like(free)
            beyond[joints] = free[joints] & (z[joints] + step[joints] < 0.0)
            step[beyond], free = -z[inner][beyond], free & ~beyond
        z[inner] += step
        z[joints] = np.maximum(z[joints], 0.0)
    return z


def _at_zero(problem: _Problem, z: np.ndarray) -> np.ndarray:
    """Which properties of joints are at their least value."""
    found = np.zeros(len(z), dtype=bool)
    own = slice(problem.unknowns.inertial, len(problem.unknowns.names))
    found[own] = z[own] <= 0.0
    return found


def _lowest(problem: _Problem, z: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """The z of the least sum of squares (Levenberg and Marquardt); properties of joints that would pass 0 are held there."""
    joints = slice(problem.unknowns.inertial, len(problem.unknowns.names))
    triangles = problem.weighted(noise)
    damping, r = 1e-3, problem.residuals(z, triangles)
    for _ in range(_STEPS):
        J = problem.slopes(z, triangles)
        free = ~(_at_zero(problem, z) & (J.T @ r > 0.0))
        taken = False
        while not taken and damping < 1e9:
            step = _step(J, r, z, problem.spreads, free, joints, damping)
            there = z + step
            there[joints] = np.maximum(there[joints], 0.0)
            r_there = problem.residuals(there, triangles)
            taken = bool(r_there @ r_there < r @ r)
            damping = damping * 0.2 if taken else damping * 5.0
        if not taken:
            return z
        gained = float(r @ r - r_there @ r_there)
        z, r = there, r_there
        if gained <= _SETTLED * float(r @ r) or gained <= _SETTLED**2:
            return z
    return z


def _step(
    J: np.ndarray, r: np.ndarray, z: np.ndarray, spreads: np.ndarray, free: np.ndarray, joints: slice, damping: float
) -> np.ndarray:
    """A damped step of the free variables; those properties of joints that would pass 0 go there, and the others again."""
    free, step = free.copy(), np.zeros(len(z))
    while True:
        scaled = J[:, free] * spreads[free]
        Q, R = np.linalg.qr(np.vstack([scaled, np.sqrt(damping) * np.diag(np.linalg.norm(scaled, axis=0))]))
        step[free] = spreads[free] * np.linalg.solve(R, -Q[: len(r)].T @ (r + J[:, ~free] @ step[~free]))
        step[free] *= min(1.0, 2.0 / max(float(np.abs(step[free] / spreads[free]).max(initial=0.0)), 1e-300))
        beyond = np.zeros(len(z), dtype=bool)
        beyond[joints] = free[joints] & (z[joints] + step[joints] < 0.0)
        if not beyond.any():
            return step
        step[beyond], free = -z[beyond], free & ~beyond


# --- bodies that can exist, by ten numbers without limits: logarithmic Cholesky factors of the pseudo-inertia -------------
# A body of positive density has a positive definite pseudo-inertia P = ∫ [x; 1] [x; 1]ᵀ dm (4, 4): positive mass, and principal
# moments that fulfil the triangle inequality. It is P = U Uᵀ with U = e^α [[e^d₁, s₁₂, s₁₃, t₁], [0, e^d₂, s₂₃, t₂],
# [0, 0, e^d₃, t₃], [0, 0, 0, 1]] for exactly one θ = (α, d₁, d₂, d₃, s₁₂, s₂₃, s₁₃, t₁, t₂, t₃).
#
# Rucker, Wensing, Smooth parameterization of rigid-body inertia, IEEE Robotics and Automation Letters 7(2), 2022.

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
    return np.array([1.0] * 4 + [np.exp(theta[1:4]).max()] * 6)


def _numbers(P: np.ndarray) -> np.ndarray:
    """The ten numbers of a pseudo-inertia."""
    x, y, z = P[0, 0], P[1, 1], P[2, 2]
    return np.array([P[3, 3], *P[:3, 3], y + z, x + z, x + y, -P[0, 1], -P[0, 2], -P[1, 2]])
