"""The stiff flyball governor (A05): long steps, and angular momentum kept; against another integrator of another equation."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kumitate.model.samples import sample
from kumitate.study.catalogue import example

G, K, C, REST = 9.81, 8e5, 4e4, 0.5


@pytest.fixture(scope="module")
def run():
    return example("governor").run()


def test_its_steps_are_longer_than_a_millisecond(run):
    assert run.time[-1] == pytest.approx(10.0)
    assert 10.0 / (run.audit.steps - run.audit.rejected_steps) >= 1e-3
    assert 10.0 / run.audit.steps >= 1e-3  # the repeated ones counted too


def test_angular_momentum_about_the_shaft_is_kept(run):
    about = run.momentum[:, 2]
    np.testing.assert_allclose(about, about[0], rtol=0.0, atol=1e-8)


def test_both_arms_swing_alike(run):
    np.testing.assert_allclose(run.q[:, 2], run.q[:, 3], rtol=0.0, atol=1e-7)


def test_it_moves_as_lagrange_says(run):
    # three freedoms by hand: turning ω, height s of the slider, angle a of both arms below level
    rod, ball, slider, width = 0.3, 5.0, 3.0, 0.01
    mass, along = rod + ball, rod * 2 * width**2 / 12
    far = (rod * 0.5 + ball) / mass
    across = rod * (1 + width**2) / 12 + rod * (0.5 - far) ** 2 + ball * (1 - far) ** 2
    about_hinge = across + mass * far**2
    still = along + slider * 0.1**2 / 6  # of the shaft and the slider about z

    def turning(a):  # moment of inertia about z, and its derivative by a
        c, s = np.cos(a), np.sin(a)
        arm = mass * (0.05 + far * c) ** 2 + across * c**2 + along * s**2
        slope = -2 * mass * (0.05 + far * c) * far * s - 2 * across * c * s + 2 * along * c * s
        return still + 2 * arm, 2 * slope

    def pull(s, a, s_dot, a_dot):  # of one spring and damper, with the directions it acts in
        x, z = 0.05 + 0.5 * np.cos(a), 1 - 0.5 * np.sin(a) - s
        length = np.hypot(x, z)
        by_s, by_a = -z / length, (-0.5 * x * np.sin(a) - 0.5 * z * np.cos(a)) / length
        return K * (length - REST) + C * (by_s * s_dot + by_a * a_dot), by_s, by_a

    spin = 2 * np.pi * turning(np.pi / 6)[0]

    def rate(_, y):
        s, a, s_dot, a_dot = y
        force, by_s, by_a = pull(s, a, s_dot, a_dot)
        inertia, slope = turning(a)
        centrifugal = 0.5 * slope * (spin / inertia) ** 2
        return [
            s_dot, a_dot, -G - 2 * force * by_s / slider,
            (centrifugal + 2 * mass * G * far * np.cos(a) - 2 * force * by_a) / (2 * about_hinge),
        ]  # fmt: skip

    solved = solve_ivp(rate, (0, 10), [0.5, np.pi / 6, 0, 0], "Radau", run.time[::200], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(0.5 + run.q[::200, 1], solved.y[0], rtol=0.0, atol=1e-5)
    np.testing.assert_allclose(run.q[::200, 2], solved.y[1], rtol=0.0, atol=1e-5)


def test_its_sample_is_the_reference_problem():
    shaft, slider, *arms = sample("governor")().bodies
    assert [body.mass for body in (shaft, slider, *arms)] == [0.3, 3.0, 5.3, 5.3]
    for loop in sample("governor")().loops:
        assert (loop.stiffness, loop.damping, loop.rest) == ((K,), (C,), (REST,))
