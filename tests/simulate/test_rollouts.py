"""Reverse mode through rollouts: against products of the steps' derivatives, and differences of whole rollouts."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError


def moving(rows=3, **options):
    robot, rng = km.load("floating_arm"), np.random.default_rng(8)
    sim = km.Simulation(robot, step=2e-3, integrator="semi_implicit_euler", **options)
    q = robot.integrate(np.tile(robot.start[0], (rows, 1)), 0.2 * rng.normal(size=(rows, robot.nv)))
    return sim, sim.batch(q, 0.3 * rng.normal(size=(rows, robot.nv))), rng


@pytest.mark.parametrize("every", [1, 3, 12])
def test_gradients_are_products_of_steps(every):
    """⟨w, J x⟩ = ⟨Jᵀ w, x⟩ with J x by the derivatives of every step, forward; however many states are kept."""
    sim, batch, rng = moving()
    steps, nv = 12, sim.mechanism.nv
    tau = 0.1 * rng.normal(size=(3, steps, nv))
    x, du = rng.normal(size=(3, 2 * nv)), rng.normal(size=(3, steps, nv))
    weights = rng.normal(size=(3, steps // every + 1, 2 * nv))
    rollout = sim.rollout(batch, {"tau": tau}, steps=steps, every=every)
    gradient = rollout.back(weights[..., :nv], weights[..., nv:])
    reverse = (gradient.by_q * x[:, :nv] + gradient.by_v * x[:, nv:]).sum(axis=1)
    reverse += (gradient.efforts["tau"] * du).sum(axis=(1, 2))
    forward = (weights[:, 0] * x).sum(axis=1)
    for k in range(steps):
        batch.tau[:] = tau[:, k]
        found = sim.slopes(batch)
        x = np.einsum("nij,nj->ni", found.A, x) + np.einsum("nij,nj->ni", found.by("tau"), du[:, k])
        batch.step()
        if (k + 1) % every == 0:
            forward += (weights[:, (k + 1) // every] * x).sum(axis=1)
    np.testing.assert_allclose(reverse, forward, rtol=1e-12)
    np.testing.assert_array_equal(rollout.q[:, -1], batch.q)


def test_a_rollout_with_a_controller_against_differences():
    """Time and a goal act in every step, by a controller; differences of whole rollouts, of order four."""
    robot = km.load("planar_3r")
    sim = km.Simulation(robot, step=5e-3, integrator="rk4", controller=swaying, inputs={"goal": np.zeros(3)})
    batch = sim.batch(np.tile([0.3, -0.4, 0.5], (4, 1)), np.tile([0.1, 0.2, -0.3], (4, 1)))
    batch.step(7)  # time does not begin at zero
    goals, along = np.random.default_rng(2).normal(size=(2, 20, 3))
    rollout = sim.rollout(batch, {"goal": goals}, steps=20, every=5)
    gradient = rollout.back(by_q=2.0 * rollout.q)  # L = Σ q²
    sizes = 1e-3 * np.array([-2.0, -1.0, 1.0, 2.0])
    ends = sim.rollout(batch, {"goal": goals + sizes[:, None, None] * along}, steps=20, every=5)
    L = (ends.q**2).sum(axis=(1, 2))
    expected = (8.0 * (L[2] - L[1]) - (L[3] - L[0])) / 12e-3
    assert (gradient.efforts["goal"][0] * along).sum() == pytest.approx(expected, rel=1e-9)


def swaying(t, q, v, goal):
    return 30.0 * np.sin(goal + 0.2 * np.sin(40.0 * t) - q) - 2.0 * v


def test_wrong_efforts_are_refused():
    sim, batch, _ = moving()
    with pytest.raises(InputError, match="did you mean 'tau'"):
        sim.rollout(batch, {"taus": np.zeros((4, 11))}, steps=4)
    with pytest.raises(InputError, match=r"must be \(4, 11\) or \(3, 4, 11\)"):
        sim.rollout(batch, {"tau": np.zeros((3, 11))}, steps=4)
    with pytest.raises(InputError, match="must divide"):
        sim.rollout(batch, steps=4, every=3)
    with pytest.raises(InputError, match=r"by_v has shape \(3, 2, 11\)"):
        sim.rollout(batch, steps=4, every=2).back(by_v=np.zeros((3, 2, 11)))


def test_slopes_by_parameters_are_columns_of_b():
    """Of a mass m on a rail with damping: v' = (v + h τ/m)/(1 + h d/m)."""
    body = km.Body("mass", 2.0, inertia=(0.1, 0.1, 0.1))
    rail = km.Mechanism("rail", (body,), (km.Joint("rail", "prismatic", "world", "mass", axis=(1, 0, 0), damping=0.5),))
    sim = km.Simulation(rail, step=0.1, integrator="semi_implicit_euler", parameters=["mass:mass", "damping:rail"])
    at = sim.slopes(sim.start([0.0], [1.5], parameters={"mass:mass": 3.0}), tau=[4.0])
    m, d, h, v, tau = 3.0, 0.5, 0.1, 1.5, 4.0
    after = (v * m + h * tau) / (m + h * d)
    assert at.v[0] == pytest.approx(after)
    assert at.by("mass:mass")[1, 0] == pytest.approx((v - after) / (m + h * d), rel=1e-9)
    assert at.by("damping:rail")[1, 0] == pytest.approx(-h * after / (m + h * d), rel=1e-9)
    with pytest.raises(InputError, match="'mass:mass', and parameters stay over all steps: give them to the batch"):
        sim.rollout(sim.batch(1), {"mass:mass": np.ones((3, 1))}, steps=3)
    two = km.Simulation(
        km.load("planar_3r"), step=0.01, parameters=["gain:kp"], controller=lambda t, q, v, kp=[1.0, 2.0, 3.0]: -kp * q
    )
    with pytest.raises(InputError, match="'gain:kp' stands for numbers that differ"):
        two.slopes(two.start())


@pytest.mark.parametrize("robot", ["planar_3r", "four_bar"])
def test_gradients_by_parameters_are_those_of_differences(robot):
    """Of masses, places, joints and gains, a value for each row, after many steps; in trees and closed loops."""
    rows, rng = 3, np.random.default_rng(4)
    values = {"mass:*": 1.1, "gravity": 9.0, "damping:*": 0.3, "gain:kp": 5.0}
    sim = km.Simulation(
        km.load(robot),
        step=5e-3,
        integrator="rk4",
        controller=lambda t, q, v, kp=4.0: -kp * q - 0.5 * v,
        parameters=list(values),
    )
    q = np.tile(sim.robot.start[0], (rows, 1))
    w = rng.normal(size=(2, rows, sim.mechanism.nv))
    given = {name: x * (1.0 + 0.1 * rng.random(rows)) for name, x in values.items()}

    def moved(changed):
        return sim.rollout(sim.batch(q, parameters=changed), steps=20, every=10)

    motion = moved(given)
    by_q, by_v = np.zeros_like(motion.v), np.zeros_like(motion.v)
    by_q[:, -1], by_v[:, -1] = w
    found = motion.back(by_q, by_v).parameters
    for name, x in given.items():
        up, down = (moved({**given, name: x + sign * 1e-5 * x}) for sign in (1.0, -1.0))
        turned = sim.robot.difference(down.q[:, -1], up.q[:, -1])
        wanted = (turned * w[0] + (up.v[:, -1] - down.v[:, -1]) * w[1]).sum(axis=1) / (2e-5 * x)
        np.testing.assert_allclose(found[name].sum(axis=1), wanted, rtol=1e-6, atol=1e-8 * np.abs(wanted).max())
