"""Plans within bounds and constraints, with costs that depend on time, from earlier plans: against least squares and QPs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize

import kumitate as km
from kumitate.compile import engine, pipeline
from kumitate.errors import InputError
from kumitate.inverse_kinematics import CenterOfMassGoal, PoseGoal, PositionGoal, PostureGoal
from kumitate.model import Body, Joint, Limits, Mechanism
from kumitate.predictive import (
    TrajectoryOptimizer,
    exactly,
    friction_cone,
    iterated_lqr,
    not_positive,
    velocity_of,
    within_limits,
)
from kumitate.predictive.terms import Terms

MASS, STEP, N = 2.0, 0.05, 30


def rail(**joint):
    body = Body("mass", MASS, inertia=(0.1, 0.1, 0.1))
    mechanism = Mechanism("rail", (body,), (Joint("rail", "prismatic", "world", "mass", axis=(1.0, 0.0, 0.0), **joint),))
    return km.Simulation(mechanism, step=STEP, integrator="semi_implicit_euler", limits=False)


def states(start=(0.0, 0.0)):
    """x_k = free_k + moved_k u of the rail, (n + 1, 2) and (n + 1, 2, n)."""
    A, B = np.array([[1.0, STEP], [0.0, 1.0]]), np.array([STEP**2, STEP]) / MASS
    free, moved = [np.array(start)], [np.zeros((2, N))]
    for k in range(N):
        free.append(A @ free[-1])
        moved.append(A @ moved[-1])
        moved[-1][:, k] += B
    return np.array(free), np.array(moved)


def effort(q, v, u):
    return 0.1 * u


def test_bounded_actions_are_those_of_least_squares_within_bounds():
    found = iterated_lqr(
        rail(), effort, lambda q, v: np.concatenate([20.0 * (q - 1.0), 5.0 * v]), np.zeros((N, 1)), q=[0.2], v=[-0.1],
        bounds=(-3.0, 2.5), tolerance=1e-14,
    )  # fmt: skip
    free, moved = states((0.2, -0.1))
    weigh = np.array([20.0, 5.0])
    rows = np.vstack([0.1 * np.eye(N), weigh[:, None] * moved[-1]])
    right = np.concatenate([np.zeros(N), weigh * (np.array([1.0, 0.0]) - free[-1])])
    wanted = lsq_linear(rows, right, (-3.0, 2.5), tol=1e-14)
    assert found.settled
    assert (wanted.active_mask != 0).sum() > 5
    np.testing.assert_allclose(found.actions[:, 0], wanted.x, atol=1e-5)
    assert np.abs(found.gains[wanted.active_mask != 0]).max() == 0.0  # actions at bounds do not follow the state
    assert found.cost[-1] == pytest.approx(0.5 * np.sum((rows @ wanted.x - right) ** 2), rel=1e-9)


def test_a_motion_to_an_exact_end_has_the_least_squares_of_efforts():
    found = iterated_lqr(rail(), effort, exactly(lambda q, v: np.concatenate([q - 1.0, v])), np.zeros((N, 1)), q=[0.0], v=[0.0])
    _, moved = states()
    assert found.settled
    assert found.violation < 1e-6
    np.testing.assert_allclose(found.actions[:, 0], np.linalg.pinv(moved[-1]) @ [1.0, 0.0], atol=1e-4)


def test_a_velocity_that_may_not_be_exceeded_is_that_of_a_quadratic_program():
    fastest = 0.8
    found = iterated_lqr(
        rail(), [effort, not_positive(lambda q, v, u: v - fastest)], exactly(lambda q, v: np.concatenate([q - 1.0, v])),
        np.zeros((N, 1)), q=[0.0], v=[0.0], rounds=300,
    )  # fmt: skip
    _, moved = states()
    wanted = minimize(
        lambda u: 0.5 * np.sum((0.1 * u) ** 2), np.zeros(N), jac=lambda u: 0.01 * u, method="SLSQP", tol=1e-12,
        constraints=[
            {"type": "eq", "fun": lambda u: moved[-1] @ u - [1.0, 0.0]},
            {"type": "ineq", "fun": lambda u: fastest - moved[:-1, 1] @ u},
        ],
    )  # fmt: skip
    assert found.settled
    assert found.v[:, 0].max() == pytest.approx(fastest, abs=1e-6)  # without it 1.0
    np.testing.assert_allclose(found.actions[:, 0], wanted.x, atol=2e-3)
    assert found.cost[-1] == pytest.approx(wanted.fun, rel=1e-4)


def test_a_cost_of_time_and_a_target_for_each_step_track_alike():
    times = STEP * np.arange(N)
    by_time = iterated_lqr(
        rail(), lambda t, q, v, u: np.concatenate([30.0 * (q - np.sin(2.0 * t)), effort(q, v, u)]), lambda t, q, v: 0.0 * q,
        np.zeros((N, 1)), q=[0.0], v=[0.0],
    )  # fmt: skip
    goal = PostureGoal(np.sin(2.0 * times)[:, None], weight=900.0)
    by_targets = iterated_lqr(rail(), [goal, effort], lambda q, v: 0.0 * q, np.zeros((N, 1)), q=[0.0], v=[0.0])
    np.testing.assert_allclose(by_targets.actions, by_time.actions, atol=1e-9)
    np.testing.assert_allclose(by_time.q[5:-5, 0], np.sin(2.0 * STEP * np.arange(5, N - 4)), atol=0.02)
    later = TrajectoryOptimizer(rail(), lambda t, q, v, u: np.array([t, 0.0 * u[0]]), lambda t, q, v: 2.0 * t + 0.0 * q, N)
    cost = later(np.zeros((N, 1)), time=10.0, rounds=0).cost[0]
    assert cost == pytest.approx(0.5 * np.sum((10.0 + times) ** 2) + 2.0 * (10.0 + N * STEP) ** 2, rel=1e-12)


def test_an_earlier_plan_leads_by_its_feedback_and_needs_one_round():
    """Of a pendulum swung up, from a state beside the plan: its actions alone miss, its feedback does not."""
    sim = km.Simulation(km.load("pendulum"), step=0.02, integrator="semi_implicit_euler")
    plan = TrajectoryOptimizer(
        sim, lambda q, v, u: np.concatenate([0.03 * v, 0.03 * u]),
        lambda q, v: np.concatenate([20.0 * (q - np.pi), 5.0 * v]), 60,
    )  # fmt: skip
    found = plan(np.full((60, 1), 0.1), q=[0.0], v=[0.0])
    assert found.settled
    beside = {"q": [0.05], "v": [0.2]}
    blind, led = plan(found.actions, **beside, rounds=0), plan(found, **beside, rounds=0)
    assert led.cost[0] < 0.6 * blind.cost[0]
    q, v = found.q.copy(), found.v.copy()
    state, batch = np.array([0.05, 0.2]), sim.batch([beside["q"]], [beside["v"]])
    for k in range(60):  # u + K δx, by hand
        batch.tau[:] = found.actions[k] + found.gains[k] @ (state - np.concatenate([q[k], v[k]]))
        batch.step()
        state = np.concatenate([batch.q[0], batch.v[0]])
    np.testing.assert_allclose(np.concatenate([led.q[-1], led.v[-1]]), state, atol=1e-12)
    once, best = plan(found, **beside, rounds=1), plan(found, **beside, rounds=50)
    assert once.cost[-1] - best.cost[-1] < 0.1 * (led.cost[0] - best.cost[-1])
    shifted = found.later(3)
    np.testing.assert_array_equal(shifted.actions[:-3], found.actions[3:])
    np.testing.assert_array_equal(shifted.gains[-3:], found.gains[[-1, -1, -1]])


def test_a_receding_horizon_brings_an_arm_back_that_is_pushed():
    """A round for every step of 5 ms, from the shifted plan and its gains: the arm holds its posture in spite of pushes."""
    arm = km.load("planar_3r")
    sim = km.Simulation(arm, step=0.005, integrator="semi_implicit_euler")
    rest = np.array([0.4, -0.6, 0.5])
    plan = TrajectoryOptimizer(
        sim, [PostureGoal(rest, weight=1e4), lambda q, v, u: np.concatenate([v, 0.01 * u])],
        [PostureGoal(rest, weight=1e4), lambda q, v: v], 40, bounds=(-60.0, 60.0),
    )  # fmt: skip
    state = sim.start(rest, np.zeros(3))
    motion = plan(np.zeros((40, 3)), q=rest, v=np.zeros(3))
    furthest = 0.0
    for k in range(200):
        motion = plan(motion.later(1), q=state.q, v=state.v, time=state.time, rounds=1)
        push = 30.0 * (20 <= k < 30) * np.array([0.0, 1.0, 0.0])
        state = sim.step(state, tau=motion.actions[0] + push)
        furthest = max(furthest, np.abs(state.q - rest).max())
    assert furthest > 0.005
    assert np.abs(state.q - rest).max() < 1e-3
    assert np.abs(state.v).max() < 1e-2


def flying():
    bodies = (
        Body("base", 3.0, inertia=(0.2, 0.3, 0.4)),
        Body("arm", 1.0, center_of_mass=(0.3, 0.0, 0.1), inertia=(0.02, 0.03, 0.04)),
    )
    joints = (Joint("free", "floating", "world", "base"), Joint("elbow", "revolute", "base", "arm", axis=(0.0, 1.0, 0.0)))
    return Mechanism("flyer", bodies, joints)


def test_gradients_of_costs_and_constraints_are_those_of_differences():
    """On the manifold of a free body; the curvature is Jᵀ J of the residuals that differences give."""
    m, rng = flying(), np.random.default_rng(3)
    X = km.pose([0.3, -0.2, 0.9], [0.2, 0.4, -0.1])
    terms = Terms(
        m,
        [
            lambda t, q, v, u: np.concatenate([u, v[:2] * np.sin(q[6] + t)]), PoseGoal("arm", X, weight=2.0),
            CenterOfMassGoal([0.1, 0.2, 0.3]), velocity_of("arm", [0.1] * 6, weight=0.5),
            exactly(PositionGoal("arm", [0, 0, 1])),
            friction_cone(lambda q, v, u: u[:3], 0.7), not_positive(lambda q, v, u: v[:1] * q[-1] - 10.0),
        ],
        4, 1,
    )  # fmt: skip
    robot = km.Robot(m)
    q = robot.integrate(robot.start[0], rng.normal(size=m.nv))
    v, u, shift = rng.normal(size=m.nv), rng.normal(size=4), rng.normal(size=terms.bound)
    assert terms.bound == 5

    def seen(move):
        n = m.nv
        given = robot.integrate(q, move[:n]), v + move[n : 2 * n], u + move[2 * n :]
        return terms.weigh(0.3, *given, terms.targets[0], shift, 3.0)

    width, h = 2 * m.nv + 4, 1e-6
    gradient, curvature = terms.bend(0.3, q, v, u, terms.targets[0], shift, 3.0)
    by_hand = [sum(seen(h * e)[k] - seen(-h * e)[k] for k in (0, 1)) / (2.0 * h) for e in np.eye(width)]
    np.testing.assert_allclose(gradient, by_hand, atol=1e-7 * np.abs(gradient).max())
    np.testing.assert_allclose(curvature, curvature.T, atol=0.0)
    assert np.linalg.eigvalsh(curvature).min() > -1e-10 * np.abs(curvature).max()
    pushed = seen(np.zeros(width))[2]
    assert pushed[-1] == 0.0  # of the constraint that holds by far
    assert seen(np.zeros(width))[1] == pytest.approx(0.5 * 9.0 * pushed @ pushed)


def test_joints_stay_within_the_limits_of_their_file():
    found = iterated_lqr(
        rail(limits=Limits(-0.5, 0.3)), [effort, within_limits()],
        lambda q, v: np.concatenate([20.0 * q, 10.0 * (v + 1.0)]), np.zeros((N, 1)), q=[0.0], v=[1.0],
    )  # fmt: skip
    assert found.settled
    assert found.q[:-1].max() == pytest.approx(0.3, abs=1e-6)  # without them 0.37
    assert found.q.min() >= -0.5 - 1e-6


def test_mistakes_are_named():
    sim, end, zero = rail(), lambda q, v: q, np.zeros((N, 1))
    with pytest.raises(InputError, match="gives a number; costs are half the squares"):
        iterated_lqr(sim, lambda q, v, u: u[0], end, zero)
    with pytest.raises(InputError, match=r"takes 2 arguments; residuals are functions of \(q, v, u\) or \(t, q, v, u\)"):
        iterated_lqr(sim, lambda q, u: u, end, zero)
    with pytest.raises(InputError, match=r"takes 4 arguments; residuals are functions of \(q, v\) or \(t, q, v\)"):
        iterated_lqr(sim, effort, lambda t, q, v, u: q, zero)
    with pytest.raises(InputError, match="'effort' is not a cost: give a function"):
        iterated_lqr(sim, "effort", end, zero)
    with pytest.raises(InputError, match=r"bounds are 1\.0 and -1\.0; give the least and the largest action"):
        iterated_lqr(sim, effort, end, zero, bounds=(1.0, -1.0))
    with pytest.raises(InputError, match="give the least and the largest action, each a number or 1 of them"):
        iterated_lqr(sim, effort, end, zero, bounds=([0.0, 0.0], 1.0))
    with pytest.raises(InputError, match=r"target has leading axes \(7,\); give one target, or one for each of the 30 nodes"):
        iterated_lqr(sim, [effort, PostureGoal(np.zeros((7, 1)))], end, zero)
    with pytest.raises(InputError, match="'tau' has no effect beside a controller"):
        iterated_lqr(
            km.Simulation(sim.mechanism, step=STEP, controller=lambda t, q, v: -q, integrator="semi_implicit_euler"),
            effort, end, zero,
        )  # fmt: skip
    with pytest.raises(InputError, match="'hand'"):
        iterated_lqr(sim, [effort, velocity_of("hand")], end, zero)
    with pytest.raises(InputError, match=r"actions have shape \(4, 1\); give \(steps, 1\), for 30 steps"):
        TrajectoryOptimizer(sim, effort, end, N)(np.zeros((4, 1)))
    with pytest.raises(InputError, match="the motion of the first actions diverges"):
        TrajectoryOptimizer(sim, effort, end, N)(np.full((N, 1), np.nan))


def test_other_costs_compile_no_step_again(monkeypatch, tmp_path):
    """The step is by far the most code: plans of one simulation call the same."""
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path))  # what is on disk is not written again
    texts = []
    monkeypatch.setattr(pipeline, "generate_image", lambda text, *given, **options: (
        texts.append(text) or engine.generate(text, *given, **options)
    ))  # fmt: skip
    sim = rail()
    for goal in (0.5, 0.6):
        plan = TrajectoryOptimizer(
            sim, lambda q, v, u, goal=goal: 0.01 * (q - goal), lambda q, v, goal=goal: 20.0 * (q - goal), N
        )
        assert plan(np.zeros((N, 1)), q=[0.0]).q[-1, 0] == pytest.approx(goal, abs=0.02)
    lines = [[line for line in text.splitlines() if "@shared_" in line] for text in texts]
    assert sum(any(line.startswith("define") for line in found) for found in lines) == 1
    assert sum(any("call" in line for line in found) for found in lines) == 2
