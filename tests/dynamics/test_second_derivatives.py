"""Second derivatives of inverse dynamics, contracted: against the first ones in 50 digits, a closed form, and symmetry."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import kumitate as km
from kumitate.dynamics import Wrenches
from kumitate.dynamics.derivatives import rnea_derivatives, rnea_second_derivatives
from kumitate.kinematics import integrate
from kumitate.scalar import trace

from ..mechanisms import every_kind, random_case
from .test_derivatives import close, in_fifty_digits

CASES = {"every kind": lambda: every_kind(3), "seed2": lambda: random_case(2), "seed5": lambda: random_case(5)}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_differences_of_the_first_derivatives_in_fifty_digits(case):
    """Along one direction, with joints of every kind, damping and friction, and a wrench on one body."""
    case = case()
    m, tree, n = case.mechanism, case.mechanism.base_parameter_tree, case.mechanism.nv
    weights, push = np.random.default_rng(n).normal(size=n).tolist(), {m.bodies[-1].name: [0.3, -0.2, 0.5, 2.0, -1.0, 0.7]}
    found = rnea_second_derivatives(
        tree, case.q, case.v, case.a, weights, gravity=m.gravity, wrenches=Wrenches(tree, push)
    )  # fmt: skip

    def first(q, v, a):
        slopes = rnea_derivatives(tree, q, v, a, gravity=m.gravity, wrenches=Wrenches(tree, push))
        parts = (slopes.by_q, slopes.by_v, slopes.by_a)
        return [[sum((w * row[k] for w, row in zip(weights, part, strict=True)), 0.0) for k in range(n)] for part in parts]

    program = trace(first, {"q": m.nq, "v": n, "a": n}, "first")
    moved = trace(lambda q, dq: integrate(tree, q, dq), {"q": m.nq, "dq": n}, "moved")
    step = mpmath.mpf(10) ** -15
    with mpmath.workdps(50):
        q, v, a = ([mpmath.mpf(x) for x in part] for part in (case.q, case.v, case.a))
        q = in_fifty_digits(moved, [*q, *[mpmath.mpf(0)] * n])

        def difference(ahead: list[object], behind: list[object]) -> np.ndarray:
            ends = in_fifty_digits(program, ahead), in_fifty_digits(program, behind)
            return np.array([float((x - y) / (2 * step)) for x, y in zip(*ends, strict=True)]).reshape(3, n)

        along = [mpmath.mpf(x) for x in np.random.default_rng(1).normal(size=n)]
        turned = [in_fifty_digits(moved, [*q, *(sign * step * x for x in along)]) for sign in (1, -1)]
        faster = [[x + sign * step * y for x, y in zip(v, along, strict=True)] for sign in (1, -1)]
        by_q = difference(*([*at, *v, *a] for at in turned))
        by_v = difference(*([*q, *at, *a] for at in faster))
    moves, (qq, qv, vv, qa) = np.array(along, dtype=float), (np.array(part, dtype=float) for part in found)
    for ours, expected in ((qq @ moves, by_q[0]), (moves @ qv, by_q[1]), (moves @ qa, by_q[2]), (qv @ moves, by_v[0])):
        close(ours, expected, 1e-9)
    close(vv @ moves, by_v[1], 1e-9)


def test_a_pendulum():
    """τ = J q̈ − m g l sin q of a pendulum that stands upright at q = 0: ∂²τ/∂q² = m g l sin q, all others are zero."""
    m, length, gravity, q, weight = 2.0, 0.7, 9.81, 0.4, 1.5
    body = km.Body("bob", m, (0.0, 0.0, length), (0.3, 0.3, 0.3))
    robot = km.Robot(km.Mechanism("pendulum", (body,), (km.Joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0)),)))
    found = robot.inverse_second_derivatives([q], [1.7], [0.2], [weight])
    assert found.by_qq == pytest.approx(weight * m * gravity * length * math.sin(q), rel=1e-14)
    for other in (found.by_qv, found.by_vv, found.by_qa):
        assert other == pytest.approx(0.0, abs=1e-15)


def test_compiled_for_many_states():
    """Machine code in lanes gives what the page gives on numbers; joints about one axis give symmetric matrices."""
    robot, rng = km.load("pa10"), np.random.default_rng(4)
    q, v, a, weights = rng.normal(size=(4, 3, robot.nv))
    found = robot.inverse_second_derivatives(q, v, a, weights)
    tree = robot.mechanism.base_parameter_tree
    page = rnea_second_derivatives(tree, *(part[1].tolist() for part in (q, v, a, weights)), gravity=robot.mechanism.gravity)
    for ours, expected in zip(found, page, strict=True):
        close(ours[1], expected, 1e-12)
    for matrix in (found.by_qq, found.by_vv):
        close(matrix, np.swapaxes(matrix, 1, 2), 1e-12)
