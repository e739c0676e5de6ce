"""Integrators have the order that they state, with quaternions too, measured by the slope over four halvings (T-5.1)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kumitate as km

ROUNDING = 1e-11
STEPS = {"rk4": 0.02, "rkf45": 0.04, "semi_implicit_euler": 2e-3, "midpoint": 8e-3}
ORDERS = {"rk4": 4, "rkf45": 5, "semi_implicit_euler": 1, "midpoint": 2}


def double_pendulum() -> tuple[km.Robot, list[float], list[float]]:
    return km.load("double_pendulum"), [1.2, 0.4], [0.3, -0.5]


def heavy_top_with_an_arm() -> tuple[km.Robot, list[float], list[float]]:
    """An unsymmetric body on a ball joint under gravity, with an arm hinged to it."""
    bodies = (
        km.Body("base", 1.5, (0.1, 0.05, 0.3), ((0.45, 0.02, 0.0), (0.02, 0.6, 0.05), (0.0, 0.05, 0.35))),
        km.Body("arm", 0.5, (0.0, 0.2, 0.1), (0.05, 0.03, 0.05)),
    )
    joints = (
        km.Joint("ball", "spherical", "world", "base"),
        km.Joint("hinge", "revolute", "base", "arm", km.pose((0.2, 0.0, 0.4), (0.3, 0.2, 0.1)), axis=(1, 1, 0)),
    )
    q = [0.5, 0.1, -0.3, math.sqrt(1.0 - 0.35), 0.4]
    return km.Robot(km.Mechanism("heavy_top", bodies, joints)), q, [0.8, -1.0, 0.6, 0.5]


def floating_body() -> tuple[km.Robot, list[float], list[float]]:
    """A free body whose frame is not at its mass centre, under gravity."""
    body = km.Body("body", 2.0, (0.1, -0.2, 0.15), (0.3, 0.2, 0.4))
    q = [0.5, 0.1, -0.3, math.sqrt(1.0 - 0.35), 0.2, 0.0, 1.0]
    mechanism = km.Mechanism("free", (body,), (km.Joint("f", "floating", "world", "body"),))
    return km.Robot(mechanism), q, [2.0, -3.0, 1.5, 0.5, 0.0, 1.0]


def states(run: km.Run) -> np.ndarray:
    return np.hstack([run.q, run.v])


CASES = [double_pendulum, heavy_top_with_an_arm, floating_body]


@pytest.mark.row("T-5.1")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
@pytest.mark.parametrize("name", list(ORDERS))
def test_order_by_slope(case, name):
    robot, q, v = case()
    duration, reference_step = 0.8, 2.5e-4
    steps = [STEPS[name] * 2.0**-k for k in range(5)]
    exact = states(km.simulate(robot, q, v, duration=duration, step=reference_step, integrator="rkf45"))
    errors = []
    for k, step in enumerate(steps):
        run = states(km.simulate(robot, q, v, duration=duration, step=step, integrator=name))
        # root mean square over the motion: at one time the terms of an error may happen to cancel
        errors.append(np.sqrt(np.mean((run[:: 2**k] - exact[:: round(steps[0] / reference_step)]) ** 2)))
    above = [k for k, error in enumerate(errors) if error > ROUNDING]
    assert len(above) >= 4, errors
    slope = np.polyfit(np.log([steps[k] for k in above]), np.log([errors[k] for k in above]), 1)[0]
    assert abs(slope - ORDERS[name]) < 0.15, (slope, errors)


@pytest.mark.row("T-5.1")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_adaptive_steps_keep_the_tolerance(case):
    robot, q, v = case()
    exact = km.simulate(robot, q, v, duration=2.0, step=5e-4, integrator="rkf45")
    errors = []
    for tolerance in (1e-5, 1e-8, 1e-11):
        run = km.simulate(robot, q, v, duration=2.0, step=0.1, integrator="rkf45_adaptive", tolerance=tolerance)
        errors.append(np.abs(run.q[-1] - exact.q[-1]).max())
        assert errors[-1] < 1e3 * tolerance
    assert errors[0] > 10.0 * errors[1] or errors[0] < ROUNDING
