"""Derivatives of whole steps: against 50-digit differences, in two ways, as a semigroup, and in closed form."""

from __future__ import annotations

from dataclasses import replace

import mpmath
import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError
from kumitate.kinematics import difference, integrate
from kumitate.scalar import trace
from kumitate.slopes.direct import Along

from ..dynamics.test_derivatives import in_fifty_digits
from ..mechanisms import random_mechanism, random_state

STEP = 0.01


def tree(seed: int, integrator: str, root: str | None = "floating", count: int = 3):
    """A simulation of a small random tree with a wrench on its last body, and a state of it."""
    rng = np.random.default_rng(seed)
    kinds = [str(kind) for kind in rng.choice(["revolute", "prismatic", "cylindrical", "spherical", "universal"], count)]
    case = random_state(random_mechanism(rng, kinds, root=root), rng)
    place = case.mechanism.bodies[-1].name
    sim = km.Simulation(case.mechanism, step=STEP, integrator=integrator, wrenches={place: None})
    return sim, np.array(case.q), np.array(case.v), np.array([*case.tau, *rng.normal(size=6)])


def slopes_of(sim, q, v, u):
    found = sim._sloped(0.0, q, v, u)
    return found.q, found.v, found.A, found.B


def fifty_digits(sim, q, v, u):
    """A and B by central differences of the step's program in 50 digits, along the degrees of freedom."""
    m, program = sim.mechanism, sim.compiled.code.program
    moved = trace(lambda q, dq: integrate(m.tree, q, dq), {"q": m.nq, "dq": m.nv}, "moved")
    apart = trace(lambda a, b: difference(m.tree, a, b), {"a": m.nq, "b": m.nq}, "apart")
    n, size = m.nv, len(u)
    with mpmath.workdps(50):
        small = mpmath.mpf(10) ** -15
        q, v, u = ([mpmath.mpf(float(x)) for x in part] for part in (q, v, u))
        q = in_fifty_digits(moved, [*q, *[mpmath.mpf(0)] * n])  # quaternions of length 1 in all digits

        def after(x):
            start = [*in_fifty_digits(moved, [*q, *x[:n]]), *map(sum, zip(v, x[n : 2 * n], strict=True))]
            return in_fifty_digits(program, [0.0, mpmath.mpf(STEP), *start, 0.0, *map(sum, zip(u, x[2 * n :], strict=True))])

        columns = []
        for k in range(2 * n + size):
            x = [small * (i == k) for i in range(2 * n + size)]
            ahead, behind = after(x), after([-part for part in x])
            turn = in_fifty_digits(apart, [*behind[: m.nq], *ahead[: m.nq]])
            speed = [a - b for a, b in zip(ahead[m.nq : m.nq + n], behind[m.nq : m.nq + n], strict=True)]
            columns.append([float(part / (2 * small)) for part in [*turn, *speed]])
    found = np.array(columns).T
    return found[:, : 2 * n], found[:, 2 * n :]


@pytest.mark.parametrize(("seed", "integrator"), [(0, "semi_implicit_euler"), (1, "rk4")])
def test_trees_in_fifty_digits(seed, integrator):
    """Free bases and joints of several kinds, damping, friction, armature, a wrench."""
    sim, q, v, u = tree(seed, integrator, count=2)
    _, _, A, B = slopes_of(sim, q, v, u)
    expected = fifty_digits(sim, q, v, u)
    for found, wanted in zip((A, B), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * max(1.0, np.abs(wanted).max()))


@pytest.mark.parametrize(
    ("seed", "integrator", "root", "led"),
    [(2, "semi_implicit_euler", "floating", False), (2, "semi_implicit_euler", "floating", True), (3, "rk4", None, False),
     (4, "rkf45", None, False)],
)  # fmt: skip
def test_two_way(seed, integrator, root, led):
    """Formulas of the dynamics with the chain rule, and the differentiated program of the step; springs too."""
    rng = np.random.default_rng(seed)
    m = random_mechanism(rng, ["revolute", "cylindrical", "spherical" if root else "universal"], root=root)
    springs = {"j0": {"stiffness": 40.0, "rest": 0.2, "friction": 0.3, "damping": 2.0}, "j1": {"stiffness": [90.0, 5.0]}}
    m = replace(m, joints=tuple(replace(joint, **springs.get(joint.name, {})) for joint in m.joints))
    case = random_state(m, rng)
    weights = rng.normal(size=m.nv)
    functions = {
        "controller": lambda t, q, v, goal: weights * (goal - v) * np.cos(t) - q[0] * q[-1],
        "inputs": {"goal": m.nv},
    }  # fmt: skip
    sim = km.Simulation(m, step=STEP, integrator=integrator, wrenches={"b1": None}, **(functions if led else {}))
    size = m.nv + 6 + led * m.nv
    q, v, u = np.array([case.q] * 3), rng.normal(size=(3, m.nv)), rng.normal(size=(3, size))
    found = sim._sloped(0.2, q, v, u)
    assert sim._sloped._direct is not None
    code = sim.compiled.code
    *after, slopes = Along(code, sim.actuation.program)(0.2, STEP, q, v, u, np.eye(size))
    expected = [*after, *np.split(slopes, [2 * m.nv], axis=-1)]
    for one, other in zip((found.q, found.v, found.A, found.B), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * max(1.0, np.abs(other).max()))


def test_steps_follow_each_other():
    """The derivatives of two steps are the product of those of each."""
    sim, q, v, u = tree(6, "rk4")
    q1, v1, A1, _ = slopes_of(sim, q, v, u)
    q2, v2, A2, _ = slopes_of(sim, q1, v1, u)
    batch, n, small = sim.batch(q[None], v[None]), sim.mechanism.nv, 1e-4
    x = np.random.default_rng(6).normal(size=2 * n)

    def end(size):
        batch.reset(q=sim.robot.integrate(q, size * x[:n])[None], v=(v + size * x[n:])[None])
        batch.efforts[:] = u
        batch.step(2)
        return np.concatenate([sim.robot.difference(q2, batch.q[0]), batch.v[0] - v2])

    assert np.abs(end(0.0)).max() < 1e-13
    expected = (8.0 * (end(small) - end(-small)) - (end(2.0 * small) - end(-2.0 * small))) / (12.0 * small)
    np.testing.assert_allclose(A2 @ A1 @ x, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_a_damped_mass_in_closed_form():
    """v' = (v + h τ/m)/(1 + h d/m), x' = x + h v' for a mass that slides with implicit damping."""
    m, d = 2.0, 30.0
    body = km.Body("mass", m, inertia=(0.1, 0.1, 0.1))
    slide = km.Joint("slide", "prismatic", "world", "mass", axis=(1, 0, 0), damping=d)
    sim = km.Simulation(km.Mechanism("slider", (body,), (slide,)), step=0.1, integrator="semi_implicit_euler")
    found, gain = sim.slopes(sim.start([0.3], [1.2]), tau=[0.5]), 1.0 / (1.0 + 0.1 * d / m)
    assert found.v == pytest.approx((1.2 + 0.1 * 0.5 / m) * gain, rel=1e-14)
    np.testing.assert_allclose(found.A, [[1.0, 0.1 * gain], [0.0, gain]], rtol=1e-14)
    np.testing.assert_allclose(found.by("tau"), [[0.01 * gain / m], [0.1 * gain / m]], rtol=1e-14)


@pytest.mark.parametrize(("name", "integrator"), [("four_bar", "rk4"), ("four_bars_2", "semi_implicit_euler")])
def test_closed_loops_along_their_motions(name, integrator):
    """Differences of steps from closed states on both sides: what A leaves of them is of third order, and is taken out."""
    robot, rng = km.load(name), np.random.default_rng(5)
    sim = km.Simulation(robot, step=1e-3, integrator=integrator)
    n, tau = robot.nv, 0.05 * rng.normal(size=robot.nv)
    state = sim.step(sim.start(), 30, tau=tau)
    found = sim.slopes(state, tau=tau)
    motions = km.linearize(robot, state.q, state.v).motions
    assert np.abs(found.A @ np.r_[motions[:, 0], np.zeros(n)]).max() > 0.1  # loops leave something to compare

    def both(size):
        start = sim.start(state.q + size * motions[:, 0], state.v + size * motions @ rng.normal(size=motions.shape[1]))
        end = sim.step(start, tau=(1.0 + 20.0 * size) * tau)
        return (np.r_[s.carried["q"], s.carried["v"]] for s in (start, end))

    def missed(size):
        rng.bit_generator.state = drawn
        ahead, after = both(size)
        rng.bit_generator.state = drawn
        behind, before = both(-size)
        return after - before - found.A @ (ahead - behind) - found.by("tau") @ (40.0 * size * tau), after - before

    drawn, small = rng.bit_generator.state, 1e-4
    (once, change), (twice, _) = missed(small), missed(2.0 * small)
    assert np.abs(8.0 * once - twice).max() < 1e-7 * np.abs(change).max()


def test_controllers_and_inputs_are_part_of_the_step():
    """A controller's derivatives enter A, and those by its inputs B."""
    robot = km.load("planar_3r")
    sim = km.Simulation(robot, step=STEP, integrator="rk4", controller=steering, inputs={"goal": np.zeros(3)})
    state = sim.start(np.array([0.3, -0.4, 0.5]), np.array([0.1, 0.2, -0.3]))
    goal = np.array([0.2, 0.1, -0.1])
    found = sim.slopes(state, inputs={"goal": goal})
    assert list(found.places) == ["tau", "goal"]
    assert not found.by("tau").any()

    def end(x):
        after = sim.step(sim.start(state.q + x[:3], state.v + x[3:6]), inputs={"goal": goal + x[6:]})
        return np.concatenate([after.q, after.v])

    for k in range(9):
        x = 1e-4 * np.eye(9)[k]
        expected = (8.0 * (end(x) - end(-x)) - (end(2.0 * x) - end(-2.0 * x))) / 12e-4
        np.testing.assert_allclose(np.hstack([found.A, found.by("goal")])[:, k], expected, rtol=0, atol=1e-10)


def test_values_of_parameters_enter():
    """A simulation with parameters is differentiated at their values, as one of a mechanism that is built with them."""
    robot, q, v = km.load("planar_3r"), [0.3, -0.4, 0.5], [0.1, 0.2, -0.3]
    body = robot.mechanism.bodies[1].name
    varied = km.Simulation(robot, step=STEP, integrator="rk4", parameters=[f"mass:{body}", "gravity"])
    state = varied.start(q, v, parameters={f"mass:{body}": 3.3, "gravity": 5.0})
    mechanism = varied.run(q, v, duration=STEP, parameters={f"mass:{body}": 3.3, "gravity": 5.0}).mechanism
    plain = km.Simulation(mechanism, step=STEP, integrator="rk4")
    found, expected = varied.slopes(state), plain.slopes(plain.start(q, v))
    assert list(found.places) == ["tau", f"mass:{body}", "gravity"]
    np.testing.assert_allclose(found.A, expected.A, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.by("tau"), expected.B, rtol=0, atol=1e-12)
    assert np.abs(found.A - plain.slopes(plain.start([0.5, -0.4, 0.5], v)).A).max() > 1e-5


def steering(t, q, v, goal):
    return 30.0 * np.sin(goal - q) - 2.0 * v


def remembering(t, q, v, seen=[]):  # noqa: B006
    seen.append(t)
    return -v * len(seen)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"integrator": "rkf45_adaptive", "equal_steps": False}, "rkf45_adaptive cannot be differentiated"),
        ({"controller": remembering}, "the controller: called"),
    ],
)
def test_what_cannot_be_differentiated_says_why(options, words):
    sim = km.Simulation(km.load("planar_3r"), **options)
    with pytest.raises(InputError, match=words):
        sim.slopes(sim.start())
