"""The thesis's planar chain and tree (T-3.1, T-3.2) against equations of motion in absolute angles, integrated by SciPy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kumitate as km
from kumitate.model.samples import sample

G = 9.81
#: For each sample of rods: the parent of each rod.
PARENTS = {
    "planar_3r": (None, 0, 1),
    "planar_tree": (None, 0, 1, 0),
    "planar_tree_5": (None, 0, 1, 0, 3),
}
ROWS = [
    pytest.param("planar_3r", marks=pytest.mark.row("T-3.1")),
    pytest.param("planar_tree", marks=pytest.mark.row("T-3.2")),
    pytest.param("planar_tree_5", marks=pytest.mark.row("T-3.2")),
]


def to_absolute(parents) -> np.ndarray:
    """The matrix that sums joint angles to angles from +z."""
    n = len(parents)
    P = np.zeros((n, n))
    for i, parent in enumerate(parents):
        if parent is not None:
            P[i] = P[parent]
        P[i, i] = 1.0
    return P


def reference(name: str, times: np.ndarray) -> np.ndarray:
    """Joint angles at the times, from Lagrange's equations of rods of 1 m and 1 kg in absolute angles θ.

    The middle of rod k is at Σ B_ki (sin θ_i, cos θ_i), with B_ki = 1 for the rods below it and ½ for itself, so that
    Σ_j A_ij [cos(θ_i − θ_j) θ̈_j + sin(θ_i − θ_j) θ̇_j²] + θ̈_i/12 = g Σ_k B_ki sin θ_i with A = BᵀB.
    """
    parents = PARENTS[name]
    P, n = to_absolute(parents), len(parents)
    B = P - 0.5 * np.eye(n)
    A, weights = B.T @ B, G * B.sum(axis=0)

    def rates(t: float, x: np.ndarray) -> np.ndarray:
        theta, omega = x[:n], x[n:]
        between = theta[:, None] - theta[None, :]
        forces = weights * np.sin(theta) - (A * np.sin(between)) @ omega**2
        return np.concatenate([omega, np.linalg.solve(A * np.cos(between) + np.eye(n) / 12.0, forces)])

    start = np.concatenate([P @ sample(name).q, np.zeros(n)])
    solution = solve_ivp(rates, (0.0, times[-1]), start, method="DOP853", t_eval=times, rtol=1e-13, atol=1e-13)
    return np.linalg.solve(P, solution.y[:n]).T


@pytest.mark.parametrize("name", ROWS)
def test_the_motion_is_that_of_lagrange_in_absolute_angles(name):
    expected = reference(name, 0.1 * np.arange(31))
    # these motions are close to chaotic: an error of the first second is a thousand times larger at the third
    for step, tolerance in ((1e-3, 1e-5), (2.5e-4, 1e-8)):
        run = km.simulate(km.load(name), duration=3.0, step=step)
        every = round(0.1 / step)
        np.testing.assert_allclose(run.q[::every], expected, rtol=0.0, atol=tolerance)


@pytest.mark.parametrize("name", ROWS)
def test_energy_is_constant_and_its_drift_falls_with_the_fifth_power_of_the_step(name):
    bar = 1e-7 if name == "planar_3r" else 1e-6
    robot = km.load(name)
    drifts = [km.simulate(robot, duration=3.0, step=1e-3 * 2.0**-k, integrator="rkf45").audit.energy_drift for k in range(3)]
    assert drifts[0] < bar
    for coarse, fine in pairwise(drifts):
        assert fine < coarse / 28.0 or fine < 1e-11, drifts  # 32-fold, until rounding
