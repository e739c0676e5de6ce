"""Derivatives of the dynamics: by analytic recursions, against automatic ones, 50 digits, and closed forms."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import kumitate as km
from kumitate.dynamics import Acting, Wrenches, aba, rnea
from kumitate.dynamics.derivatives import aba_derivatives, rnea_derivatives
from kumitate.dynamics.derivatives.factors import inverse_factors
from kumitate.kinematics import integrate, rate
from kumitate.scalar import directional, evaluate, trace
from kumitate.scalar.operations import FLOAT

from ..mechanisms import Case, every_kind, random_case, seeds

NAMES = ("by_q", "by_v", "by_a")


def inverse_program(case: Case, wrenches: dict[str, list[float]]):
    """(q, v, a) → tau by the recursive Newton-Euler page."""
    m, tree = case.mechanism, case.mechanism.base_parameter_tree
    applied = Wrenches(tree, wrenches) if wrenches else None

    def page(q, v, a):
        return rnea(tree, q, v, a, gravity=m.gravity, wrenches=applied)

    return trace(page, {"q": m.nq, "v": m.nv, "a": m.nv}, "inverse")


def automatic(case: Case, program, third) -> list[np.ndarray]:
    """The derivatives by q, v and the third input of a traced program, column by column, by automatic differentiation."""
    n, both, tree = case.mechanism.nv, directional(program), case.mechanism.base_parameter_tree
    units, still = np.eye(n).tolist(), [0.0] * n
    along = [
        [(rate(tree, case.q, unit), still, still) for unit in units],
        [([0.0] * len(case.q), unit, still) for unit in units],
        [([0.0] * len(case.q), still, unit) for unit in units],
    ]
    columns = [
        [evaluate(both, [*case.q, *case.v, *third, *dq, *dv, *da])[n:] for dq, dv, da in directions] for directions in along
    ]
    return [np.array(rows).T for rows in columns]


def close(found, expected, bound=1e-11):
    found, expected = np.array(found, dtype=float), np.array(expected, dtype=float)
    assert np.abs(found - expected).max() <= bound * max(1.0, np.abs(expected).max())


CASES = {"every kind": lambda: every_kind(3), **{f"seed{k}": lambda k=k: random_case(k) for k in range(7)}}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_inverse_dynamics_against_automatic_derivatives(case):
    """Joints of every kind, damping and friction, wrenches on every second body."""
    case = case()
    m, rng = case.mechanism, np.random.default_rng(len(case.q))
    wrenches = {body.name: rng.normal(size=6).tolist() for body in m.bodies[::2]}
    tree = m.base_parameter_tree
    slopes = rnea_derivatives(tree, case.q, case.v, case.a, gravity=m.gravity, wrenches=Wrenches(tree, wrenches))
    program = inverse_program(case, wrenches)
    close(slopes.tau, evaluate(program, [*case.q, *case.v, *case.a]), 1e-13)
    for name, expected in zip(NAMES, automatic(case, program, case.a), strict=True):
        close(getattr(slopes, name), expected)


@pytest.mark.parametrize("seed", [2, 5], ids=lambda seed: f"seed{seed}")
def test_inverse_dynamics_in_fifty_digits(seed):
    """Central differences of the same pages, evaluated in 50 digits, along the degrees of freedom and the velocities."""
    case = random_case(seed)
    m = case.mechanism
    program, n, step = inverse_program(case, {}), m.nv, mpmath.mpf(10) ** -15
    moved = trace(lambda q, dq: integrate(m.tree, q, dq), {"q": m.nq, "dq": n}, "moved")
    slopes = rnea_derivatives(m.base_parameter_tree, case.q, case.v, case.a, gravity=m.gravity)
    with mpmath.workdps(50):
        q, v, a = ([mpmath.mpf(x) for x in part] for part in (case.q, case.v, case.a))
        q = in_fifty_digits(moved, [*q, *[mpmath.mpf(0)] * n])  # quaternions of length 1 in all digits
        for k in range(n):
            unit = [step * (i == k) for i in range(n)]
            back = [-x for x in unit]
            by_q = [in_fifty_digits(program, [*in_fifty_digits(moved, [*q, *along]), *v, *a]) for along in (unit, back)]
            by_v = [in_fifty_digits(program, [*q, *map(sum, zip(v, along, strict=True)), *a]) for along in (unit, back)]
            for matrix, (ahead, behind) in ((slopes.by_q, by_q), (slopes.by_v, by_v)):
                differences = [float((x - y) / (2 * step)) for x, y in zip(ahead, behind, strict=True)]
                close([row[k] for row in matrix], differences, 1e-12)


#: The operations of programs on numbers of mpmath.
FIFTY_DIGITS = {
    **FLOAT,
    **{name: getattr(mpmath, name) for name in ("sin", "cos", "sqrt", "exp", "log", "tanh", "atan2")},
}


def in_fifty_digits(program, scalars):
    """The results of a program for numbers of mpmath."""
    return evaluate(program, scalars, FIFTY_DIGITS)


@pytest.mark.parametrize(**seeds(6))
def test_forward_dynamics_against_automatic_derivatives(seed):
    case = random_case(seed)
    m, tree = case.mechanism, case.mechanism.base_parameter_tree
    push = {m.bodies[-1].name: [0.3, -0.2, 0.5, 2.0, -1.0, 0.7]}
    acting = Acting(m.gravity, Wrenches(tree, push))
    slopes = aba_derivatives(tree, case.q, case.v, case.tau, Acting(m.gravity, acting.wrenches))

    def page(q, v, tau):
        return aba(tree, q, v, tau, acting)

    program = trace(page, {"q": m.nq, "v": m.nv, "tau": m.nv}, "forward")
    size = np.linalg.cond(np.array(km.Robot(m).mass_matrix(case.q)))
    close(slopes.a, evaluate(program, [*case.q, *case.v, *case.tau]), 1e-14 * size)
    for found, expected in zip(slopes[1:], automatic(case, program, case.tau), strict=True):
        close(found, expected, 1e-14 * size)


def test_a_pendulum():
    """v̇ = (τ − m g l cos q)/J for a pendulum whose angle is measured from the horizontal."""
    m, length, inertia, gravity = 2.0, 0.7, 0.3, 9.81
    body = km.Body("bob", m, (length, 0.0, 0.0), (inertia, inertia, inertia))
    robot = km.Robot(km.Mechanism("pendulum", (body,), (km.Joint("hinge", "revolute", "world", "bob", axis=(0, -1, 0)),)))
    q, J = 0.4, inertia + m * length**2
    found = robot.derivatives([q], [1.7], [0.2])
    assert found.a == pytest.approx((0.2 - m * gravity * length * math.cos(q)) / J, rel=1e-14)
    assert found.by_q == pytest.approx(m * gravity * length * math.sin(q) / J, rel=1e-14)
    assert found.by_tau == pytest.approx(1.0 / J, rel=1e-14)
    assert found.by_v == pytest.approx(0.0, abs=1e-15)


def test_a_force_keeps_its_direction_in_the_world():
    """A bar turned by q under a force across it at its end, F along y: τ = −F l cos q in addition, ∂τ/∂q = F l sin q."""
    body = km.Body("bar", 1.0, (0.0, 0.0, 0.0), (0.1, 0.1, 0.1))
    frame = km.Frame("end", "bar", km.spatial.pose((0.5, 0.0, 0.0)))
    hinge = km.Joint("hinge", "revolute", "world", "bar")
    robot = km.Robot(km.Mechanism("bar", (body,), (hinge,), frames=(frame,), gravity=(0.0, 0.0, 0.0)))
    found = robot.inverse_derivatives([0.3], [0.0], [0.0], wrenches={"end": [0.0, 0.0, 0.0, 0.0, 4.0, 0.0]})
    assert found.tau == pytest.approx(-4.0 * 0.5 * math.cos(0.3), rel=1e-14)
    assert found.by_q == pytest.approx(4.0 * 0.5 * math.sin(0.3), rel=1e-14)


@pytest.mark.parametrize("name", ["pa10", "floating_arm", "planar_tree"])
def test_compiled_for_many_states(name):
    """Machine code in lanes gives what the page gives on numbers; M ∂v̇/∂x = −∂τ/∂x at the accelerations of forward dynamics."""
    robot, rng = km.load(name), np.random.default_rng(4)
    q = robot.integrate(robot.start[0], 0.3 * rng.normal(size=(3, robot.nv)))
    v, tau = rng.normal(size=(2, 3, robot.nv))
    forward = robot.derivatives(q, v, tau)
    inverse = robot.inverse_derivatives(q, v, forward.a)
    size = 1e-13 * np.abs(inverse.by_a).max() * robot.nv
    np.testing.assert_allclose(inverse.tau, tau, rtol=0, atol=size * np.abs(forward.a).max())
    identity = np.broadcast_to(np.eye(robot.nv), forward.by_tau.shape)
    for ahead, back in ((forward.by_q, inverse.by_q), (forward.by_v, inverse.by_v), (forward.by_tau, -identity)):
        np.testing.assert_allclose(inverse.by_a @ ahead, -back, rtol=0, atol=size * np.abs(ahead).max())
    tree = robot.mechanism.base_parameter_tree
    on_floats = rnea_derivatives(tree, q[1].tolist(), v[1].tolist(), forward.a[1].tolist(), gravity=robot.mechanism.gravity)
    for found, expected in zip(inverse, on_floats, strict=True):
        close(found[1], expected, 1e-12)


@pytest.mark.parametrize("name", ["four_bar", "andrews"])
def test_closed_loops_along_their_motions(name):
    """Along directions that keep the loops closed, the derivatives are those of the linearized equations of motion."""
    robot = km.load(name)
    q, v = robot.start
    linear = km.linearize(robot, q, v)
    found, Z = robot.derivatives(q, v, np.zeros(robot.nv)), linear.motions
    m = Z.shape[1]
    close(Z.T @ found.by_v @ Z, linear.A[m:, m:], 1e-9)
    close(Z.T @ found.by_q @ Z, linear.A[m:, :m], 1e-9)
    close(Z.T @ found.by_tau, linear.B[m:], 1e-9)
    several = robot.derivatives(np.tile(q, (4, 1)), v, np.zeros(robot.nv))
    np.testing.assert_allclose(several.by_q[2], found.by_q, rtol=0, atol=1e-9 * np.abs(found.by_q).max())


def test_factors_of_the_inverse():
    rng = np.random.default_rng(1)
    half = np.tril(rng.normal(size=(6, 6)))
    half[2, 1] = half[4, 3] = half[4, 2] = 0.0
    M = half.T @ half + np.eye(6)
    M[0, 5] = M[5, 0] = 0.0
    factors, right = inverse_factors(M.tolist()), rng.normal(size=6)
    close(factors.solve(right.tolist()), np.linalg.solve(M, right), 1e-13)
    close(factors.dense(), np.linalg.inv(M), 1e-13)


def test_calls_with_other_inputs_than_their_own_are_refused():
    robot = km.load("planar_3r")
    with pytest.raises(km.errors.InputError, match="elbow"):
        robot.derivatives(*robot.start, np.zeros(3), wrenches={"elbow": np.zeros(6)})
    with pytest.raises(km.errors.InputError, match=r"\(3|3"):
        robot.derivatives(np.zeros(2), np.zeros(3), np.zeros(3))
