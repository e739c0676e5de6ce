"""The arm PA-10 in free fall (T-PA10) against Lagrange's equations, written in NumPy alone and derived by complex steps."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import kumitate as km

#: Axis, height above the joint before, mass, mass centre above the joint (mission's table; inertias are all diag(1, 1, 1)).
LINKS = [
    ("z", 0.200, 9.78, -0.0518), ("y", 0.115, 8.41, 0.0618), ("z", 0.280, 3.52, 0.0771), ("y", 0.170, 4.31, 0.0446),
    ("z", 0.250, 3.45, 0.0838), ("y", 0.250, 1.46, -0.0315), ("z", 0.080, 0.24, -0.0305),
]  # fmt: skip
G = 9.81
TINY = 1e-40


def turn(axis: str, angle) -> np.ndarray:
    c, s, o, l = np.cos(angle), np.sin(angle), 0.0, 1.0
    return np.array([[c, -s, o], [s, c, o], [o, o, l]] if axis == "z" else [[c, o, s], [o, l, o], [-s, o, c]])


def inertia_and_potential(q: np.ndarray):
    """M(q) = Σ m JᵀJ + Σ 1·J_ωᵀJ_ω, and U(q); q may be complex."""
    R, p, axes, points = np.eye(3, dtype=q.dtype), np.zeros(3, dtype=q.dtype), [], []
    M, U = np.zeros((7, 7), dtype=q.dtype), 0.0
    for k, (axis, height, mass, center) in enumerate(LINKS):
        p = p + R @ [0.0, 0.0, height]
        axes.append(R @ ([0.0, 0.0, 1.0] if axis == "z" else [0.0, 1.0, 0.0]))
        points.append(p)
        R = R @ turn(axis, q[k])
        c = p + R @ [0.0, 0.0, center]
        spin = np.zeros((3, 7), dtype=q.dtype)
        linear = np.zeros((3, 7), dtype=q.dtype)
        for i in range(k + 1):
            spin[:, i] = axes[i]
            linear[:, i] = np.cross(axes[i], c - points[i])
        M = M + mass * linear.T @ linear + spin.T @ spin
        U = U + mass * G * c[2]
    return M, U


def acceleration(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """M⁻¹ (½ ∂(vᵀMv)/∂q − Ṁ v − ∂U/∂q)."""
    M = inertia_and_potential(q.astype(complex))[0].real
    forces, rate = np.zeros(7), np.zeros((7, 7))
    for k in range(7):
        moved = q.astype(complex)
        moved[k] += 1j * TINY
        dM, dU = (part.imag / TINY for part in inertia_and_potential(moved))
        forces[k] = 0.5 * v @ dM @ v - dU
        rate += dM * v[k]
    return np.linalg.solve(M, forces - rate @ v)


@pytest.mark.row("T-PA10")
def test_free_fall_obeys_lagranges_equations():
    run = km.simulate(km.load("pa10"), duration=10.0)
    assert run.audit.energy_drift < 1e-6
    np.testing.assert_allclose(np.degrees(run.q[0]), [0, 45, 10, 0, 0, 0, 0], atol=1e-12)
    for k in range(0, len(run), 400):
        expected = acceleration(run.q[k], run.v[k])
        np.testing.assert_allclose(run.a[k], expected, rtol=0.0, atol=1e-11 * max(1.0, np.abs(expected).max()))
        M, U = inertia_and_potential(run.q[k])
        np.testing.assert_allclose(run.energy.kinetic[k], 0.5 * run.v[k] @ M @ run.v[k], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(run.energy.potential[k], U, rtol=1e-12)


@pytest.mark.row("T-PA10")
def test_energy_drift_falls_with_the_fifth_power_of_the_step():
    robot = km.load("pa10")
    runs = [km.simulate(robot, duration=10.0, step=step, integrator="rkf45") for step in (4e-3, 2e-3, 1e-3)]
    drifts = [run.audit.energy_drift for run in runs]
    for coarse, fine in pairwise(drifts):
        assert fine < coarse / 28.0 or fine < 1e-10, drifts
