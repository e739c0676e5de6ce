"""Derivatives of forward dynamics with closed loops: against automatic ones, 50 digits, and differences along a motion.

Only directions that keep the loops closed have a meaning: ξ = Z y with δv = P y + W w (`analysis.closed_directions`).
"""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import kumitate as km
from kumitate.analysis import LoopEquations, closed_directions
from kumitate.dynamics import Acting, Wrenches, aba_with_loops
from kumitate.dynamics.derivatives import loop_derivatives
from kumitate.kinematics import integrate, rate
from kumitate.model.samples import four_bars, four_bars_start
from kumitate.scalar import directional, evaluate, trace

from ..mechanisms import Case, closed_cases, random_ring
from .test_derivatives import in_fifty_digits

R, S, U, P, C = "revolute", "spherical", "universal", "prismatic", "cylindrical"
#: Kinds of the hinges of a ring, and which of them is the loop: every kind that can close one, and every kind on the way.
RINGS = {
    "planar": ([R, R, R, R], 3, {"planar": True}),
    "planar slider": ([R, R, R, P], 2, {"planar": True}),
    "ball": ([R, S, R, S], 1, {}),
    "universal": ([R, S, R, C, U], 4, {}),
    "cylinder": ([U, R, S, R, C], 4, {}),
    "six on the way": ([R, "floating", U, S], 3, {}),
    "plane": ([R, U, "planar", R, R], 2, {}),
    "weld": ([S, R, U, R, R, R, "fixed"], 6, {}),
    "angles": (["spherical_euler", R, R, R, S], 0, {}),
    "on a floating base": ([R, S, R, U, R], 1, {"base": "floating"}),
}


def ring(name: str, seed: int = 1) -> Case:
    kinds, cut, options = RINGS[name]
    (case, _), *_ = closed_cases(seed, random_ring(seed, kinds, **options), [f"h{cut}"])
    return case


def forward(case: Case, push: dict[str, list[float]] | None = None):
    """(q, v, tau) → v̇ by articulated bodies and the forces in the loops, which is not differentiated by hand."""
    m, tree = case.mechanism, case.mechanism.base_parameter_tree
    acting = Acting(m.gravity, Wrenches(tree, push) if push else None)

    def page(q, v, tau):
        return aba_with_loops(tree, q, v, tau, acting)

    return trace(page, {"q": m.nq, "v": m.nv, "tau": m.nv}, "forward")


def directions(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Z, W and P as arrays (directions, nv)."""
    Z, W, P = closed_directions(LoopEquations(case.mechanism), np.array(case.q), np.array(case.v))
    return Z.T, W.T, P.T


def along(slopes, Z, W, P) -> list[np.ndarray]:
    """The derivatives along the directions that keep the loops closed, a row each."""
    by_q, by_v, by_tau = (np.array(part, dtype=float).T for part in slopes[1:])
    return [Z @ by_q + P @ by_v, W @ by_v, by_tau]


def close(found: object, expected: object, bound: float = 1e-9) -> None:
    found, expected = np.array(found, dtype=float), np.array(expected, dtype=float)
    assert np.abs(found - expected).max(initial=0.0) <= bound * max(1.0, np.abs(expected).max(initial=0.0))


@pytest.mark.parametrize("name", RINGS)
def test_against_automatic_derivatives(name):
    """Armature, springs, damping and friction in the loops and in the tree, and a wrench on a body."""
    case = ring(name)
    m, tree, n = case.mechanism, case.mechanism.base_parameter_tree, case.mechanism.nv
    push = {m.bodies[-1].name: [0.3, -0.2, 0.5, 2.0, -1.0, 0.7]}
    slopes = loop_derivatives(tree, case.q, case.v, case.tau, Acting(m.gravity, Wrenches(tree, push)))
    both, still = directional(forward(case, push)), [0.0] * n
    Z, W, P = directions(case)

    def column(xi, dv, dtau) -> list[float]:
        return evaluate(both, [*case.q, *case.v, *case.tau, *rate(tree, case.q, list(xi)), *dv, *dtau])[n:]

    expected = [[column(z, p, still) for z, p in zip(Z, P, strict=True)], [column(still, w, still) for w in W]]
    expected.append([column(still, still, unit) for unit in np.eye(n)])
    assert len(Z) > 0
    for found, other in zip(along(slopes, Z, W, P), expected, strict=True):
        close(found, np.array(other).reshape(found.shape))


@pytest.mark.parametrize("name", ["planar slider", "universal", "on a floating base"])
def test_in_fifty_digits(name):
    """Central differences of forward dynamics in 50 digits: off the loops by the square of the step, in both directions."""
    case = ring(name, seed=2)
    m, n, step = case.mechanism, case.mechanism.nv, mpmath.mpf(10) ** -15
    tree = m.base_parameter_tree
    program = forward(case)
    moved = trace(lambda q, dq: integrate(tree, q, dq), {"q": m.nq, "dq": n}, "moved")
    slopes = loop_derivatives(tree, case.q, case.v, case.tau, Acting(m.gravity))
    Z, W, P = directions(case)
    with mpmath.workdps(50):
        q, v, tau = ([mpmath.mpf(x) for x in part] for part in (case.q, case.v, case.tau))
        q = in_fifty_digits(moved, [*q, *[mpmath.mpf(0)] * n])  # quaternions of length 1 in all digits

        def difference(xi, dv) -> list[float]:
            ends = []
            for h in (step, -step):
                at = in_fifty_digits(moved, [*q, *(h * mpmath.mpf(x) for x in xi)])
                ends.append(in_fifty_digits(program, [*at, *(x + h * mpmath.mpf(y) for x, y in zip(v, dv, strict=True)), *tau]))
            return [float((x - y) / (2 * step)) for x, y in zip(*ends, strict=True)]

        expected = [[difference(z, p) for z, p in zip(Z, P, strict=True)], [difference([0.0] * n, w) for w in W]]
    for found, other in zip(along(slopes, Z, W, P), expected, strict=False):
        close(found, other)


@pytest.mark.parametrize("robot", [km.Robot(four_bars(1)), km.load("andrews")], ids=["four_bar", "andrews"])
def test_compiled_for_many_states(robot):
    """Machine code in lanes gives what the page gives on numbers; N is symmetric, and J N = 0."""
    q, v = robot.start
    tau = np.random.default_rng(3).normal(size=(3, robot.nv))
    found = robot.derivatives(np.tile(q, (3, 1)), v, tau)
    page = loop_derivatives(
        robot.mechanism.base_parameter_tree, q.tolist(), v.tolist(), tau[1].tolist(), Acting(robot.mechanism.gravity)
    )
    for ours, expected in zip(found, page, strict=True):
        close(ours[1], expected)
    close(found.by_tau[2], found.by_tau[2].T)
    close(LoopEquations(robot.mechanism).state(q, v).J @ found.by_tau[0], 0.0)


def test_a_parallelogram_along_its_motion():
    """Differences of its accelerations at neighbouring angles, where its loop is closed by construction."""
    robot, angle, speed, h = km.Robot(four_bars(1)), 0.4, 0.8, 1e-3
    q, v = (np.array(part) for part in four_bars_start(1, angle, speed))
    still = np.zeros(robot.nv)
    found = robot.derivatives(q, v, still)

    def at(angle: float) -> np.ndarray:
        q, v = four_bars_start(1, angle, speed)
        return np.concatenate([q, v, robot.forward_dynamics(np.array(q), np.array(v), still)])

    differences = (45 * (at(angle + h) - at(angle - h)) - 9 * (at(angle + 2 * h) - at(angle - 2 * h))
                   + at(angle + 3 * h) - at(angle - 3 * h)) / (60 * h)  # fmt: skip
    dq, dv, da = np.split(differences, 3)
    close(found.by_q @ dq + found.by_v @ dv, da)
