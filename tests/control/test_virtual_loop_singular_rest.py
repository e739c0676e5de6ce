"""The slider-crank at its singular posture (T-7.5): where the thesis's law swings on, and another one comes to rest."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kumitate as km
from studies.papers.four_link_arm import (
    as_slider_crank,
    as_slider_crank_by_crank,
    four_link_arm,
    moment_arm,
    stretched,
    tip,
    tip_velocity,
)

START = np.radians([80.0, 15.0, 0.0, 85.0])
HEIGHT = math.cos(START[0]) + 2.0 * math.cos(START[0] + START[1])


def by_tip(arm):
    return as_slider_crank(arm, START, 3.0)


def by_crank(arm):
    return as_slider_crank_by_crank(arm, START)


def simulated(law):
    arm = four_link_arm()
    return km.simulate(arm, START, np.zeros(4), duration=20.0, step=1e-3, integrator="rk4", controller=law(arm))


def slider(theta):
    """x of joint 4, dx/dθ, and the inertia that the crank feels: its own, a rod's of 2 m and 2 kg, the slider's."""
    a = math.acos((HEIGHT - math.cos(theta)) / 2.0)
    turn = -math.sin(theta) / (2.0 * math.sin(a))  # da/dθ
    x = math.sin(theta) + 2.0 * math.sin(a)
    slope = math.cos(theta) + 2.0 * math.cos(a) * turn
    middle = (math.cos(theta) + math.cos(a) * turn, -math.sin(theta) - math.sin(a) * turn)
    inertia = 1.0 / 3.0 + 2.0 * (middle[0] ** 2 + middle[1] ** 2) + 2.0 * 4.0 / 12.0 * turn**2 + slope**2
    return x, slope, inertia


def crank_motion(torque, time):
    """θ1 of the linkage as a mechanism with one degree of freedom: I θ̈ + ½ I' θ̇² = torque(θ, θ̇)."""

    def rate(_, state):
        theta, speed = state
        growth = (slider(theta + 1e-5)[2] - slider(theta - 1e-5)[2]) / 2e-5
        return [speed, (torque(theta, speed) - 0.5 * growth * speed**2) / slider(theta)[2]]

    return solve_ivp(rate, (0.0, time[-1]), [START[0], 0.0], "DOP853", time, rtol=1e-11, atol=1e-12).y[0]


@pytest.mark.row("T-7.5")
def test_the_thesis_law_does_not_come_to_rest():
    run = simulated(by_tip)
    assert run.settings["forcing"] == "compiled"

    def torque(theta, speed):
        x, slope, _ = slider(theta)
        return slope * (10.0 * (3.0 - x) - 10.0 * slope * speed)

    np.testing.assert_allclose(run.q[::100, 0], crank_motion(torque, run.time[::100]), rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(tip(run.q)[:, 1], tip(START)[1], rtol=0.0, atol=1e-9)
    last = run.time >= 15.0
    assert np.sum(np.diff(np.sign(run.q[:, 1])) != 0) == 2  # through the posture, back, and through it again
    assert np.abs(tip(run.q)[last, 0] - 3.0).max() > 5e-3
    assert np.abs(run.v[last]).max() > 2e-2


@pytest.mark.row("T-7.5")
def test_a_law_on_a_regular_coordinate_comes_to_rest():
    run = simulated(by_crank)
    assert run.settings["forcing"] == "compiled"
    goal = stretched(START)
    expected = crank_motion(lambda theta, speed: 10.0 * (goal - theta) - 10.0 * speed, run.time[::100])
    np.testing.assert_allclose(run.q[::100, 0], expected, rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(tip(run.q)[:, 1], tip(START)[1], rtol=0.0, atol=1e-9)
    last = run.time >= 15.0
    off, speed = np.abs(tip(run.q)[last, 0] - 3.0).max(), np.abs(run.v[last]).max()
    print(f"T-7.5: over the last 5 s |x - 3| < {off:.2e} m, joints slower than {speed:.2e} rad/s")
    assert off < 1e-6
    assert speed < 1e-4
    assert np.abs(run.tau - run.tau[-1])[last].max() < 1e-6


@pytest.mark.row("T-7.5")
def test_the_force_loses_its_arm_and_with_it_stiffness_and_damping():
    """x = x_max − ¾ φ²: the arm goes as φ, the spring's torque as φ³, the damper's as φ² φ̇."""
    goal = stretched(START)
    assert moment_arm(START, goal) == pytest.approx(0.0, abs=1e-12)
    for phi in (1e-2, 1e-3):
        arm = float(moment_arm(START, goal + phi))
        assert arm == pytest.approx(-1.5 * phi, rel=5e-3)
        x, slope, _ = slider(goal + phi)
        assert slope == pytest.approx(arm, rel=1e-9)
        assert math.sqrt(9.0 - HEIGHT**2) - x == pytest.approx(0.75 * phi**2, rel=5e-3)


@pytest.mark.row("T-7.3")
def test_tip_and_its_velocity_are_those_of_the_mechanism():
    rng = np.random.default_rng(1)
    q, v = rng.normal(size=(5, 4)), rng.normal(size=(5, 4))
    arm = km.Robot(four_link_arm())
    for k in range(5):
        np.testing.assert_allclose(tip(q)[k], arm.pose(q[k], "tip")[[0, 2], 3], atol=1e-14)
        np.testing.assert_allclose(tip_velocity(q, v)[k], (arm.jacobian(q[k], "tip") @ v[k])[[3, 5]], atol=1e-14)
