"""The thesis's chapter 4 (T-4.1, T-4.2) as its examples show it, and the same arm five ways."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kumitate as km
from kumitate.model.samples import FLOATING_ARM_START, sample
from studies.papers.five_ways import system, ways
from studies.papers.hybrid_notes import hybrid_apart
from studies.papers.runs import five_ways, floating_arm, planar_7r

from .test_rods import G, to_absolute

MASS = 6.0


def absolute_angles(links: int, times: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Joint angles at the times of a chain of rods of 1 m and 1 kg, from rest, by Lagrange's equations in absolute angles."""
    P = to_absolute([None, *range(links - 1)])
    B = P - 0.5 * np.eye(links)
    A, weights = B.T @ B, G * B.sum(axis=0)

    def rates(_: float, x: np.ndarray) -> np.ndarray:
        theta, omega = x[:links], x[links:]
        between = theta[:, None] - theta[None, :]
        forces = weights * np.sin(theta) - (A * np.sin(between)) @ omega**2
        return np.concatenate([omega, np.linalg.solve(A * np.cos(between) + np.eye(links) / 12.0, forces)])

    begin = np.concatenate([P @ start, np.zeros(links)])
    solution = solve_ivp(rates, (0.0, times[-1]), begin, method="DOP853", t_eval=times, rtol=1e-13, atol=1e-13)
    return np.linalg.solve(P, solution.y[:links]).T


# --- T-4.1 ------------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def planar():
    return planar_7r.run()


@pytest.mark.row("T-4.1")
def test_the_planar_arm_keeps_its_energy(planar):
    total = planar.energy.total
    assert len(total) == 3001
    assert np.ptp(planar.energy.kinetic) > 200.0  # it falls
    assert np.abs(total - total[0]).max() < 1e-8
    assert not planar.tau.any()


@pytest.mark.row("T-4.1")
def test_the_planar_arm_moves_as_lagrange_in_absolute_angles(planar):
    times = planar.time[::100]
    expected = absolute_angles(7, times, np.array(sample("planar_7r").q))
    # ten times what steps of 1 ms leave
    np.testing.assert_allclose(planar.q[::100], expected, rtol=0.0, atol=2e-8)


@pytest.mark.row("T-4.1", "T-4.2")
def test_sub_chains_give_the_accelerations_of_the_whole(planar, floating):
    """4 + 3, 3 + 3; and the comparison can fail: other gravity, other accelerations."""
    assert [len(part) for part in planar_7r.PARTITION] == [4, 3]
    assert [len(part) for part in floating_arm.PARTITION] == [3, 3]
    assert hybrid_apart(planar, planar_7r.PARTITION) < 1e-12
    assert hybrid_apart(floating, floating_arm.PARTITION) < 1e-10
    from dataclasses import replace

    light = replace(planar, mechanism=replace(planar.mechanism, gravity=(0.0, 0.0, -9.80)))
    assert hybrid_apart(light, planar_7r.PARTITION) > 1e-6


# --- T-4.2 ------------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def floating():
    return floating_arm.run()


def body_momenta(robot: km.Robot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Angular momentum about the origin and linear momentum (n, 6), body by body: m r × ṙ + R I Rᵀ ω and m ṙ."""
    total = np.zeros((len(q), 6))
    poses = robot.poses(q)
    for body in robot.mechanism.bodies:
        X, twist = poses[body.name], np.einsum("nij,nj->ni", robot.jacobian(q, body.name), v)
        R, omega = X[:, :3, :3], twist[:, :3]
        arm = R @ np.array(body.center_of_mass)
        p = body.mass * (twist[:, 3:] + np.cross(omega, arm))
        spin = np.einsum("nij,jk,nlk,nl->ni", R, np.array(body.inertia), R, omega)
        total += np.concatenate([np.cross(X[:, :3, 3] + arm, p) + spin, p], axis=1)
    return total


@pytest.mark.row("T-4.2")
def test_the_floating_arm_keeps_energy_and_momenta_and_its_mass_centre_goes_straight(floating):
    """Recorded every 1 ms, in steps chosen by their error: energy to 1e-8 and both momenta to 1e-10, as asked."""
    robot, some = km.Robot(floating.mechanism), slice(None, None, 50)
    assert len(floating) == 10_001
    assert np.ptp(floating.q[:, 7:], axis=0).min() > 1.0  # every joint turns
    total = floating.energy.total
    assert np.abs(total / floating.energy.kinetic[0] - 1.0).max() < 1e-8
    momenta = body_momenta(robot, floating.q[some], floating.v[some])
    assert np.abs(momenta - momenta[0]).max() < 1e-10
    np.testing.assert_allclose(floating.momentum[some], momenta, rtol=0.0, atol=1e-12)
    velocity = momenta[0, 3:] / MASS
    assert np.linalg.norm(velocity) == pytest.approx(0.013744, abs=5e-7)
    line = floating.center_of_mass[0] + np.outer(floating.time, velocity)
    np.testing.assert_allclose(floating.center_of_mass, line, rtol=0.0, atol=1e-9)


@pytest.mark.row("T-4.2")
def test_the_momenta_of_steps_of_1_ms_drift_by_the_integrators_error(floating):
    """With rkf45 at the thesis's step the same dynamics leaves 2e-8: short of 1e-10, and all of it from one fold at 9.8 s."""
    fixed = floating_arm.run(integrator="rkf45")
    drift = np.abs(fixed.momentum - fixed.momentum[0]).max(axis=1)
    assert 1e-9 < drift.max() < 1e-7
    assert drift[fixed.time < 9.5].max() < 1e-10
    assert np.abs(fixed.energy.total / fixed.energy.kinetic[0] - 1.0).max() < 1e-8
    assert "leaves 2e-8" in " ".join(floating.audit.notes)


@pytest.mark.row("T-4.2", "T-lag")
def test_the_floating_arm_moves_as_lagrange_says(floating):
    """Rod directions for 2 s, the equations from the energies integrated by SciPy."""
    robot = km.Robot(floating.mechanism)
    forward = robot.compile("forward_dynamics", method="lagrange")
    still = np.zeros(robot.nv)

    def rates(_, x):
        q, v = x[: robot.nq], x[robot.nq :]
        x, y, z, w = q[:4]
        E = 0.5 * np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]])
        s = 2.0 / (q[:4] @ q[:4])
        X, Y, Z = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        K = np.array([X, Y, Z])
        R = np.eye(3) + s * (w * K + K @ K)
        return np.concatenate([E @ v[:3], R @ v[3:6], v[6:], forward(q, v, still)])

    start = np.concatenate([*map(np.array, FLOATING_ARM_START)])
    end = solve_ivp(rates, (0.0, 2.0), start, "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    q = end[: robot.nq]
    q[:4] /= np.linalg.norm(q[:4])
    found, expected = robot.poses(floating.q[2000]), robot.poses(q)
    for body in robot.bodies:
        np.testing.assert_allclose(found[body][:3, 2:], expected[body][:3, 2:], rtol=0.0, atol=1e-9)


# --- the same arm five ways -------------------------------------------------------------------------------------------
@pytest.mark.row("T-lag", "T-aba", "T-ada")
def test_five_ways_are_one_motion():
    motions = five_ways.motions()
    assert list(motions) == ["ABA", "ADA", "hybrid", "Lagrange", "SymPy"]
    first, _ = motions["ABA"]
    expected = absolute_angles(3, 0.1 * np.arange(31), np.array(sample("planar_3r").q))
    for name, (q, _) in motions.items():
        assert np.abs(q - first).max() < 1e-10, name  # rounding, which the motion magnifies
        np.testing.assert_allclose(q[::100], expected, rtol=0.0, atol=2e-8)  # five times what steps of 1 ms leave
    told = five_ways.run().audit.notes
    assert [note.split(" ")[0] for note in told] == list(motions)
    assert "Difference to ABA" in [panel.quantity for panel in five_ways.plates(None)["differences"].panels]


@pytest.mark.row("T-lag")
def test_the_arm_of_five_ways_reads_as_on_paper():
    """M of a uniform chain, by hand: the tip's link has l²m/3 at its joint, and couples by ½ l²m cos θ₃."""
    import sympy

    A = system().equations(seconds=0.0).A
    m, l, _ = system().parameters
    theta = system().names.q
    assert sympy.simplify(A[2, 2] - m * l**2 / 3) == 0
    assert sympy.simplify(A[1, 2] - m * l**2 * (sympy.Rational(1, 3) + sympy.cos(theta[2]) / 2)) == 0
    operations = {way.name: way.operations for way in ways()}
    assert operations["SymPy"] is None
    assert operations["ABA"] < operations["ADA"] < operations["Lagrange"]
