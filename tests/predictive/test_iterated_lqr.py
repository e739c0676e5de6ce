"""Trajectory optimization: the linear problem in one round, a swing-up that cannot be improved, and a closed loop."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError
from kumitate.gym.tasks.cart_pole import mechanism as cart_pole
from kumitate.model import Body, Joint, Mechanism
from kumitate.predictive import iterated_lqr

MASS, STEP = 2.0, 0.05


def rail():
    body = Body("mass", MASS, inertia=(0.1, 0.1, 0.1))
    mechanism = Mechanism("rail", (body,), (Joint("rail", "prismatic", "world", "mass", axis=(1.0, 0.0, 0.0)),))
    return km.Simulation(mechanism, step=STEP, integrator="semi_implicit_euler")


def test_a_linear_problem_is_solved_in_one_round_by_riccatis_gains():
    """The plant x' = A x + B u and the recursion are written out here."""

    def solved(**options):
        return iterated_lqr(
            rail(), lambda q, v, u: np.stack([q[0], 0.3 * v[0], 0.1 * u[0]]), lambda q, v: np.stack([2.0 * q[0], v[0]]),
            np.zeros((40, 1)), q=[1.0], v=[-0.2], **options,
        )  # fmt: skip

    found = solved(rounds=3)
    A, B = np.array([[1.0, STEP], [0.0, 1.0]]), np.array([[STEP**2 / MASS], [STEP / MASS]])
    Q, R, P = np.diag([1.0, 0.09]), np.array([[0.01]]), np.diag([4.0, 1.0])
    gains = []
    for _ in range(40):
        K = -np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
        gains.append(K)
        P = Q + A.T @ P @ (A + B @ K)
    x = np.array([1.0, -0.2])
    assert found.cost[1] == pytest.approx(0.5 * x @ P @ x, rel=1e-7)  # after the first round
    assert found.settled
    np.testing.assert_allclose(found.gains, gains[::-1], rtol=1e-5, atol=1e-7)
    for k in range(40):
        np.testing.assert_allclose([found.q[k, 0], found.v[k, 0]], x, atol=1e-7)
        x = (A + B @ gains[-1 - k]) @ x
    assert all(np.diff(solved(tolerance=0.0).cost) < 0.0)  # what only rounding changes is not taken


def swing_up():
    def drive(t, q, v, push):
        return np.stack([push[0], 0.0 * push[0]])

    sim = km.Simulation(cart_pole(), step=0.03, integrator="semi_implicit_euler", inputs={"push": 1}, controller=drive)

    def running(q, v, u):
        return np.stack([0.1 * q[0], 0.1 * (1.0 - np.cos(q[1])), 0.01 * v[0], 0.01 * v[1], 0.01 * u[0]])

    def final(q, v):
        return np.stack([10.0 * q[0], 20.0 * np.sin(0.5 * q[1]), 3.0 * v[0], 3.0 * v[1]])

    guess = 0.1 * np.random.default_rng(0).normal(size=(90, 1))
    return sim, iterated_lqr(sim, running, final, guess, q=[0.0, np.pi], v=[0.0, 0.0], action="push", rounds=80), running, final


def test_a_pole_swings_up_and_no_action_can_be_improved():
    sim, found, running, final = swing_up()
    assert np.cos(found.q[-1, 1]) > 0.999
    assert np.abs(found.v[-1]).max() < 0.1
    assert all(np.diff(found.cost) < 0.0)

    def cost(actions):
        batch, total = sim.batch(len(actions)), np.zeros(len(actions))
        batch.reset(slice(None), [0.0, np.pi], [0.0, 0.0])
        for k in range(actions.shape[1]):
            total += 0.5 * np.sum(running(batch.q.T, batch.v.T, actions[:, k].T) ** 2, axis=0)
            batch.inputs["push"][:] = actions[:, k]
            batch.step()
        return total + 0.5 * np.sum(final(batch.q.T, batch.v.T) ** 2, axis=0)

    steps = np.eye(90)[:, :, None] * 1e-3
    assert cost(found.actions[None])[0] == pytest.approx(found.cost[-1], rel=1e-12)
    slopes, gentle = (cost(around + steps) - cost(around - steps) for around in (found.actions, np.ones((90, 1))))
    assert np.abs(slopes).max() < 1e-3 * np.abs(gentle).max()


def test_the_crank_of_a_closed_loop_is_turned_to_rest_at_an_angle():
    robot = km.load("four_bar")
    angle = robot.start[0][0] + 0.3
    sim = km.Simulation(robot, step=0.01, integrator="semi_implicit_euler")
    found = iterated_lqr(
        sim, lambda q, v, u: np.concatenate([0.1 * v, 0.01 * u]),
        lambda q, v: np.concatenate([30.0 * (q[:1] - angle), 3.0 * v]), np.zeros((60, robot.nv)), rounds=40,
    )  # fmt: skip
    assert abs(found.q[-1, 0] - angle) < 0.02
    assert np.abs(found.v[-1]).max() < 0.1
    assert np.abs(sim._loops.gaps_of_rows(found.q, found.v)[:, :, 0]).max() < 1e-6


def test_mistakes_are_named():
    def squares(q, v, u):
        return q

    with pytest.raises(InputError, match="no input 'pull' for actions"):
        iterated_lqr(rail(), squares, lambda q, v: q, np.zeros((5, 1)), action="pull")
    with pytest.raises(InputError, match=r"actions have shape \(5, 2\); give \(steps, 1\)"):
        iterated_lqr(rail(), squares, lambda q, v: q, np.zeros((5, 2)))
    for wrong in (np.zeros(5), np.zeros((0, 1))):
        with pytest.raises(InputError, match=r"actions have shape .*; give \(steps, size of an action\)"):
            iterated_lqr(rail(), squares, lambda q, v: q, wrong)
    with pytest.raises(InputError, match="the motion of the first actions diverges"):
        iterated_lqr(rail(), squares, lambda q, v: q, np.full((5, 1), 1e200))
