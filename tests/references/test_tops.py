"""Free bodies against the closed forms of torque-free tops, and the thesis's free rod as the limit of one (T-3.5)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.special import ellipj

import kumitate as km
from kumitate.model.samples import free_rod, sample
from kumitate_problems.tops import AXIAL, EULER_END, START, SYMMETRIC_END, TRANSVERSE, UPRIGHT, top


def symmetric_top(time: float, transverse: float, axial: float, omega) -> tuple[Rotation, np.ndarray]:
    """Attitude, and ω in the body's axes, at a time; from the identity with ω = `omega`.

    The angular momentum L is constant in space, and ω = L/I + (1 − J/I) ω_z e with the axis e: the body turns about L at
    the rate |L|/I and, within that, about its own axis at (1 − J/I) ω_z. This holds for any J, also for J → 0.
    """
    momentum = np.array([transverse * omega[0], transverse * omega[1], axial * omega[2]])
    spin = (1.0 - axial / transverse) * omega[2]
    own = Rotation.from_rotvec([0.0, 0.0, spin * time])
    return Rotation.from_rotvec(momentum / transverse * time) * own, own.inv().apply(omega)


@pytest.mark.parametrize("kind", ["spherical", "floating"])
def test_symmetric_top(kind):
    start_q = [*UPRIGHT, *([0.0] * 3 if kind == "floating" else [])]
    start_v = [*START, *([0.0] * 3 if kind == "floating" else [])]
    run = km.simulate(top((TRANSVERSE, TRANSVERSE, AXIAL), kind), start_q, start_v, duration=1.23)
    attitude, omega = symmetric_top(1.23, TRANSVERSE, AXIAL, START)
    np.testing.assert_allclose(omega, SYMMETRIC_END, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(run.v[-1][:3], omega, rtol=0.0, atol=1e-11)
    assert (attitude.inv() * Rotation.from_quat(run.q[-1][:4])).magnitude() < 1e-11


@pytest.mark.parametrize("kind", ["spherical", "floating"])
def test_euler_top(kind):
    extra = [0.0] * 3 if kind == "floating" else []
    run = km.simulate(top((1.0, 2.0, 3.0), kind), [*UPRIGHT, *extra], [1.0, 0.0, 1.0, *extra], duration=10.0)
    sn, cn, dn, _ = ellipj(run.time, 1.0 / 3.0)  # Landau and Lifshitz, Mechanics, § 37, for these numbers
    np.testing.assert_allclose(run.v[:, :3], np.column_stack([cn, sn, dn]), rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(run.v[-1][:3], EULER_END, rtol=0.0, atol=1e-11)


@pytest.mark.slow
def test_symmetric_top_over_a_hundred_thousand_steps():
    run = km.simulate(top((TRANSVERSE, TRANSVERSE, AXIAL)), UPRIGHT, START, duration=100.0)
    assert len(run) == 100_001
    assert run.audit.quaternion_error < 1e-12
    attitude, _ = symmetric_top(100.0, TRANSVERSE, AXIAL, START)
    assert (attitude.inv() * Rotation.from_quat(run.q[-1])).magnitude() < 1e-8


# --- the free rod (T-3.5): m = 1 kg, l = 1 m, ω = (0.72, 0.48, 0.24) rad/s, 10 s, no gravity ---------------------------------
ROD = sample("free_rod")
ACROSS = 1.0 / 12.0
MIDDLE = np.array([0.0, 0.0, 0.5])


def rod_run(axial_inertia: float) -> km.Run:
    return km.simulate(free_rod(axial_inertia=axial_inertia), ROD.q, ROD.v, duration=ROD.duration)


def rod_axes(run: km.Run) -> np.ndarray:
    return Rotation.from_quat(run.q[:, :4]).apply([0.0, 0.0, 1.0])


def top_axes(time: np.ndarray, axial_inertia: float) -> np.ndarray:
    return np.array([symmetric_top(t, ACROSS, axial_inertia, ROD.v[:3])[0].apply([0.0, 0.0, 1.0]) for t in time])


@pytest.mark.row("T-3.5")
@pytest.mark.parametrize("axial_inertia", [1e-4, 1e-6, 1e-8])
def test_free_rod_is_a_symmetric_top(axial_inertia):
    run = rod_run(axial_inertia)
    np.testing.assert_allclose(run.center_of_mass, np.tile(MIDDLE, (len(run), 1)), rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(rod_axes(run)[::500], top_axes(run.time[::500], axial_inertia), rtol=0.0, atol=1e-9)
    momentum = [ACROSS * 0.72, ACROSS * 0.48, axial_inertia * 0.24, 0.0, 0.0, 0.0]
    np.testing.assert_allclose(run.momentum, np.tile(momentum, (len(run), 1)), rtol=0.0, atol=1e-9)
    assert run.audit.energy_drift < 1e-10
    assert run.audit.quaternion_error < 1e-12
    # the lower end is where the axis says: half a length behind the mass centre
    np.testing.assert_allclose(run.q[:, 4:], MIDDLE - 0.5 * rod_axes(run), rtol=0.0, atol=1e-9)


@pytest.mark.row("T-3.5")
def test_free_rod_does_not_depend_on_the_axial_inertia_in_the_limit():
    # the limit J = 0: L = (I ω_x, I ω_y, 0) is at right angles to the rod, which turns about it at √(ω_x² + ω_y²)
    runs = {J: rod_run(J) for J in (1e-4, 1e-6, 1e-8)}
    time = runs[1e-8].time
    rate = math.hypot(0.72, 0.48)
    across = np.array([0.48, -0.72, 0.0]) / rate  # L̂ × z
    limit = np.outer(np.cos(rate * time), (0.0, 0.0, 1.0)) + np.outer(np.sin(rate * time), across)
    away = {J: np.abs(rod_axes(run) - limit).max() for J, run in runs.items()}
    # L leans by J ω_z / (I √(ω_x² + ω_y²)) from the limit, and the axis with it by at most twice that
    for J, distance in away.items():
        assert distance < 2.0 * J * 0.24 / (ACROSS * rate) + 1e-9
    # what depends on J at all goes to zero with it: extrapolated to J = 0 the runs give the limit itself
    extrapolated = (100.0 * rod_axes(runs[1e-8]) - rod_axes(runs[1e-6])) / 99.0
    np.testing.assert_allclose(extrapolated, limit, rtol=0.0, atol=1e-9)
    for run in runs.values():
        np.testing.assert_allclose(run.energy.total, 0.5 * ACROSS * rate**2, rtol=0.0, atol=0.5 * 1e-4 * 0.24**2 + 1e-10)
