"""The pendulum A01 of IFToMM all along its way; its end, and the textbooks' equations, are problems of `kumitate validate`."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ellipj

import kumitate as km
from kumitate_problems.pendulums import A01_END, bob

G = 9.81


def closed_form(time: np.ndarray) -> np.ndarray:
    """The angle from hanging, of a pendulum of 1 m that starts at −90 deg: −2 asin(sin(π/4) cd(√g t | 1/2))."""
    _, cn, dn, _ = ellipj(math.sqrt(G) * time, 0.5)
    return -2.0 * np.arcsin(math.sin(math.pi / 4.0) * cn / dn)


def test_a01_by_a_revolute_joint():
    run = km.simulate(km.load("pendulum"), [math.pi / 2.0], duration=10.0)
    theta = closed_form(run.time)
    np.testing.assert_allclose(run.center_of_mass[-1], (A01_END[0], 0.0, A01_END[1]), rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(run.center_of_mass[:, 0], np.sin(theta), rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(run.center_of_mass[:, 2], -np.cos(theta), rtol=0.0, atol=1e-9)
    assert run.audit.energy_drift < 5e-5  # the library's bar
    assert run.audit.energy_drift < 1e-9  # ours


@pytest.mark.parametrize("axial", [1.0, 1e-3, 1e-6])
def test_a01_by_a_spherical_joint(axial):
    # a point mass has no inertia about the rod: without some, its spin has no equation of motion; the swing does not feel it
    mechanism = km.Mechanism("A01", (bob(inertia=(0.0, 0.0, axial)),), (km.Joint("ball", "spherical", "world", "bob"),))
    half = math.pi / 4.0
    run = km.simulate(mechanism, [0.0, math.sin(half), 0.0, math.cos(half)], duration=10.0)
    np.testing.assert_allclose(run.center_of_mass[-1], (A01_END[0], 0.0, A01_END[1]), rtol=0.0, atol=1e-9)
    assert run.audit.energy_drift < 1e-9
    assert run.audit.quaternion_error < 1e-12
