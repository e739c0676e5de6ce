"""Pendulums and carts against their closed forms: IFToMM's A01 and the textbooks' equations of motion."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ellipj

import kumitate as km

G = 9.81
#: A01: where the point mass is after ten seconds (x, height), by the closed form below in high precision.
A01_END = (-0.275087462576117, -0.961419205099125)


def bob(**options) -> km.Body:
    """A point mass of 1 kg, 1 m below its frame."""
    return km.Body("bob", 1.0, (0.0, 0.0, -1.0), **options)


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


def test_double_pendulum_has_the_textbook_accelerations():
    # two point masses, absolute angles from hanging: M = [2, c; c, 1], s = sin(θ1 − θ2)
    robot, rng = km.load("double_pendulum"), np.random.default_rng(1)
    for _ in range(20):
        q, v, tau = rng.uniform(-4, 4, 2), rng.normal(size=2) * 3.0, rng.normal(size=2)
        first, second = q[0], q[0] + q[1]
        w1, w2 = v[0], v[0] + v[1]
        c, s = math.cos(first - second), math.sin(first - second)
        M = np.array([[2.0, c], [c, 1.0]])
        forces = [-s * w2**2 - 2.0 * G * math.sin(first) + tau[0] - tau[1], s * w1**2 - G * math.sin(second) + tau[1]]
        a1, a2 = np.linalg.solve(M, forces)
        np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), [a1, a2 - a1], rtol=1e-12, atol=1e-12)


def test_acrobot_has_the_textbook_equations():
    # Spong's form, as in Tedrake's Underactuated Robotics: I1, I2 about the joints, angle zero hanging
    m1, m2, l1, lc1, lc2, Ic1, Ic2 = 1.3, 0.7, 1.1, 0.45, 0.6, 0.083, 0.33
    bodies = (
        km.Body("upper", m1, (0, 0, -lc1), (0.0, Ic1, 0.0)),
        km.Body("lower", m2, (0, 0, -lc2), (0.0, Ic2, 0.0)),
    )
    joints = (
        km.Joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0)),
        km.Joint("elbow", "revolute", "upper", "lower", km.pose((0, 0, -l1)), axis=(0, 1, 0)),
    )
    robot, rng = km.load(km.Mechanism("acrobot", bodies, joints)), np.random.default_rng(2)
    I1, I2 = Ic1 + m1 * lc1**2, Ic2 + m2 * lc2**2
    for _ in range(20):
        q, v = rng.uniform(-4, 4, 2), rng.normal(size=2) * 3.0
        c2, s1, s2, s12 = math.cos(q[1]), math.sin(q[0]), math.sin(q[1]), math.sin(q[0] + q[1])
        coupling = m2 * l1 * lc2
        M = [[I1 + I2 + m2 * l1**2 + 2.0 * coupling * c2, I2 + coupling * c2], [I2 + coupling * c2, I2]]
        C = [[-2.0 * coupling * s2 * v[1], -coupling * s2 * v[1]], [coupling * s2 * v[0], 0.0]]
        gravity = [m1 * G * lc1 * s1 + m2 * G * (l1 * s1 + lc2 * s12), m2 * G * lc2 * s12]
        np.testing.assert_allclose(robot.mass_matrix(q), M, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(robot.gravity_forces(q), gravity, rtol=1e-13, atol=1e-12)
        np.testing.assert_allclose(robot.bias_forces(q, v), C @ v + gravity, rtol=1e-13, atol=1e-12)


def test_cart_pole_has_the_textbook_equations():
    # cart along x, point-mass pole, angle zero hanging and positive towards +x
    mc, mp, length = 2.0, 0.3, 0.8
    bodies = (km.Body("cart", mc), km.Body("pole", mp, (0, 0, -length)))
    joints = (
        km.Joint("rail", "prismatic", "world", "cart", axis=(1, 0, 0)),
        km.Joint("pivot", "revolute", "cart", "pole", axis=(0, -1, 0)),
    )
    robot, rng = km.load(km.Mechanism("cart_pole", bodies, joints)), np.random.default_rng(3)
    for _ in range(20):
        q, v = rng.uniform(-4, 4, 2), rng.normal(size=2) * 3.0
        c, s = math.cos(q[1]), math.sin(q[1])
        M = [[mc + mp, mp * length * c], [mp * length * c, mp * length**2]]
        np.testing.assert_allclose(robot.mass_matrix(q), M, rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(robot.gravity_forces(q), [0.0, mp * G * length * s], rtol=1e-13, atol=1e-13)
        bias = [-mp * length * s * v[1] ** 2, mp * G * length * s]
        np.testing.assert_allclose(robot.bias_forces(q, v), bias, rtol=1e-13, atol=1e-13)
