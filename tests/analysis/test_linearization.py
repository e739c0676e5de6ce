"""Linear equations about a state: finite differences, closed forms, poles; trees, quaternions, loops and controllers."""

import math

import numpy as np
import pytest

import kumitate as km
from kumitate.analysis import LoopEquations
from kumitate.analysis.linearization import Linearization, linearize
from kumitate.control import gravity_compensation, pd, total
from kumitate.dynamics import Acting, Wrenches, aba_with_loops
from kumitate.errors import InputError, ModelError
from kumitate.kinematics import difference, integrate
from kumitate.model import KINDS, Body, Joint, Mechanism
from studies.papers.runs import wheeled_pendulum

from ..mechanisms import cases, near, random_case, seeds, slope

G = 9.81


def linear(mechanism: Mechanism, q, v=None, tau=None, **options) -> Linearization:
    return linearize(LoopEquations(mechanism), q, v, tau, **options)


# --- finite differences -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(**cases(4, every=1))
def test_slopes_of_trees_are_those_of_finite_differences(make):
    """Every kind of joint, moving, driven, with damping: the rate of a small error along the motion, and of its velocity."""
    case = make()
    m, tree, n = case.mechanism, case.mechanism.tree, case.mechanism.nv
    q, v, tau = np.array(case.q), np.array(case.v), np.array(case.tau)
    found = linear(m, q, v, tau)
    np.testing.assert_array_equal(found.motions, np.eye(n))
    near(found.a, aba_with_loops(tree, case.q, case.v, case.tau, Acting(m.gravity)), 1e-9)
    xi, dv, dtau = np.random.default_rng(n).normal(size=(3, n))
    x_dot = found.A @ [*xi, *dv] + found.B @ dtau

    def moved(q, v, t: float) -> list[float]:
        return integrate(tree, list(q), (t * np.asarray(v)).tolist())

    def error_rate(e: float) -> np.ndarray:
        return slope(lambda t: difference(tree, moved(q, v, t), moved(moved(q, xi, e), v + e * dv, t)))

    def forward(e: float) -> list[float]:
        state = moved(q, xi, e), (v + e * dv).tolist(), (tau + e * dtau).tolist()
        return aba_with_loops(m.base_parameter_tree, *state, Acting(m.gravity))

    near(x_dot[:n], slope(error_rate), 1e-6)
    near(x_dot[n:], slope(forward, h=1e-4), 1e-6)


@pytest.mark.parametrize("name", ["planar_4r", "planar_4r_leaning", "governor", "wheeled_pendulum"])
@pytest.mark.parametrize(**seeds(2))
def test_slopes_of_loops_are_those_of_finite_differences(name, seed):
    """Along the closed configurations, with velocities: redundant loops, springs and gears."""
    mechanism = wheeled_pendulum.mechanism() if name == "wheeled_pendulum" else km.load(name).mechanism
    robot, rng = km.Robot(mechanism), np.random.default_rng(seed)
    start = km.load(name).start[0] if name != "wheeled_pendulum" else np.array([0.1, 0.4, 0.5])
    q, v = robot.assemble(start, rng.normal(size=robot.nv))
    tau = rng.normal(size=robot.nv)
    found = linear(mechanism, q, v, tau)
    Z, m = found.motions, found.motions.shape[1]
    assert m == robot.constraint_report(q).mobility
    np.testing.assert_allclose(Z.T @ Z, np.eye(m), atol=1e-12)
    y, w = rng.normal(size=(2, m))

    def state(e: float):
        return robot.assemble(robot.integrate(q, e * Z @ y), v + e * Z @ w)

    scale = 1.0 + np.abs(found.a).max()
    rates = slope(lambda e: Z.T @ state(e)[1], h=1e-4)
    pushed = slope(lambda e: Z.T @ robot.forward_dynamics(*state(e), tau), h=1e-4)
    near((found.A @ [*y, *w])[:m], rates, 1e-6)
    near((found.A @ [*y, *w])[m:] / scale, pushed / scale, 1e-6)
    dtau = rng.normal(size=robot.nv)
    near((found.B @ dtau)[m:], Z.T @ (robot.forward_dynamics(q, v, tau + dtau) - robot.forward_dynamics(q, v, tau)), 1e-7)


@pytest.mark.parametrize(**seeds(2))
def test_a_controller_and_a_wrench_belong_to_the_equations(seed):
    case = random_case(seed, passive=False, root="floating")
    m, n = case.mechanism, case.mechanism.nv
    law = total(pd(m, case.q, kp=np.linspace(1.0, 2.0, n), kd=0.3), gravity_compensation(m))
    place = m.frames[0].name

    def push(t, q, v):
        return np.array([t, 0.0, 0.0, q[-1], -2.0 * v[-1], 1.0])

    found = linear(m, case.q, case.v, controller=law, wrenches={place: push}, time=0.7)
    rng = np.random.default_rng(seed)
    xi, dv = rng.normal(size=(2, n))

    def forward(e: float):
        q, v = np.array(integrate(m.tree, case.q, (e * xi).tolist())), np.array(case.v) + e * dv
        wrench = {place: np.asarray(push(0.7, q, v), dtype=float).tolist()}
        tau = np.asarray(law(0.7, q, v), dtype=float).tolist()
        return aba_with_loops(m.tree, q.tolist(), v.tolist(), tau, Acting(m.gravity, wrenches=Wrenches(m.tree, wrench)))

    near((found.A @ [*xi, *dv])[n:], slope(forward, h=1e-4), 1e-6)


# --- closed forms ---------------------------------------------------------------------------------------------------------
def test_the_pendulum_hanging_and_standing():
    """θ̈ = −(g/l) sin θ."""
    pendulum = km.load("pendulum").mechanism
    standing, hanging = linear(pendulum, [math.pi]), linear(pendulum, [0.0])
    np.testing.assert_allclose(standing.A, [[0.0, 1.0], [G, 0.0]], atol=1e-12)
    np.testing.assert_allclose(hanging.A, [[0.0, 1.0], [-G, 0.0]], atol=1e-12)
    np.testing.assert_allclose(hanging.B, [[0.0], [1.0]], atol=1e-12)
    (swing,) = hanging.modes
    assert swing.oscillates
    assert swing.frequency == pytest.approx(math.sqrt(G), rel=1e-12)
    assert swing.period == pytest.approx(2.0 * math.pi / math.sqrt(G), rel=1e-12)
    assert abs(swing.damping) < 1e-12
    assert [mode.time_constant for mode in standing.modes] == pytest.approx([1 / math.sqrt(G), -1 / math.sqrt(G)], rel=1e-12)
    assert not standing.stable
    damped = linear(pendulum, [0.0], controller=lambda t, q, v: -0.4 * v)
    assert damped.stable
    assert damped.modes[0].damping == pytest.approx(0.2 / math.sqrt(G), rel=1e-12)
    assert "at an equilibrium" in damped.lines()[0]
    assert "away from equilibrium" in linear(pendulum, [1.0]).lines()[0]


def test_three_masses_on_springs_have_the_frequencies_of_the_book():
    """2 √(k/m) sin((2j − 1)π/14), and shapes as of a string held at one end."""
    from studies.papers.runs import three_masses

    found = linear(three_masses.mechanism(), [0.5, 0.5, 0.5]).modes
    expected = [2.0 * math.sqrt(20.0) * math.sin((2 * j - 1) * math.pi / 14.0) for j in (1, 2, 3)]
    assert [mode.frequency for mode in found] == pytest.approx(expected, rel=1e-12)
    for j, mode in enumerate(found, start=1):
        absolute = np.cumsum([part.real for part in mode.shape.values()])
        string = np.sin(np.arange(1, 4) * (2 * j - 1) * math.pi / 7.0)
        np.testing.assert_allclose(absolute / absolute[0], string / string[0], rtol=1e-9)


def test_a_spinning_body_nutates():
    """A free symmetric top about its axis: ±i s (J − I)/I of the velocity, ±i s of the attitude, all else zero."""
    I, J, s = 0.4, 0.1, 3.0
    joints = (Joint("free", KINDS["floating"], "world", "top"),)
    top = Mechanism("top", (Body("top", 2.0, inertia=(I, I, J)),), joints, gravity=(0.0, 0.0, 0.0))
    found = linear(top, [0.0, 0.0, 0.6, 0.8, 1.0, 2.0, 3.0], [0.0, 0.0, s, 0.0, 0.0, 0.0])
    turning = [0, 1, 6, 7]  # ξ and δω about x and y
    poles = np.linalg.eigvals(found.A[np.ix_(turning, turning)])
    np.testing.assert_allclose(sorted(poles.imag), sorted([s, -s, s * (J - I) / I, -s * (J - I) / I]), atol=1e-12)
    np.testing.assert_allclose(found.A[0, :3], [0.0, s, 0.0], atol=1e-12)  # ξ̇ = δω − ω × ξ
    assert np.abs(poles.real).max() < 1e-12


def test_the_closed_loop_swings_as_its_pendulum():
    """The parallelogram hanging: θ̈ = (6/5)(g/l) sin θ, and its three joints take part alike."""
    loop = km.load("planar_4r")
    q = loop.assemble(np.radians([180.0, -90.0, 270.0]))
    (swing,) = linear(loop.mechanism, q).modes
    assert swing.pole.imag == pytest.approx(math.sqrt(1.2 * G), rel=1e-9)
    assert {name: part.real for name, part in swing.shape.items()} == pytest.approx(
        {"joint1": 1.0, "joint2": -1.0, "joint3": 1.0}, abs=1e-9
    )
    singular = loop.assemble(np.radians([90.0, 0.0, 180.0]))
    with pytest.raises(ModelError, match="singular"):
        linear(loop.mechanism, singular)


@pytest.mark.row("Y-wip")
def test_the_balanced_wheeled_pendulum_has_the_poles_of_its_equations():
    """(8.15) made linear by hand at β = 0, with T = K (α, α̇, β, β̇): −0.376 ± 1.26i and a faster pair."""
    w, K = wheeled_pendulum, np.array([1.0, 0.5, 40.0, 4.0])
    inertia = np.array([[(w.M + w.m) * w.R**2 + w.J, w.m * w.L * w.R], [w.m * w.L * w.R, w.m * w.L**2]])
    push = np.array([[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, w.m * w.G * w.L, 0.0]]) + np.outer([1.0, -1.0], K)
    rates = np.linalg.solve(inertia, push)
    by_hand = np.linalg.eigvals(np.array([[0, 1, 0, 0], rates[0], [0, 0, 0, 1], rates[1]]))

    def torque(t, q, v):
        T = K[0] * q[2] + K[1] * v[2] + K[2] * q[1] + K[3] * v[1]
        return np.array([0.0 * T, -T, T])

    found = linear(w.mechanism(), [0.0, 0.0, 0.0], controller=torque)
    assert found.stable
    np.testing.assert_allclose(np.sort_complex(found.poles), np.sort_complex(by_hand), atol=1e-8)
    assert found.modes[0].pole == pytest.approx(-0.376 + 1.26j, abs=5e-4)
    np.testing.assert_allclose(abs(found.modes[0].shape["x"] / found.modes[0].shape["alpha"]), w.R, rtol=1e-9)  # it rolls


# --- refusals -------------------------------------------------------------------------------------------------------------
def test_what_cannot_be_made_linear_is_refused():
    arm = km.load("planar_3r").mechanism
    q = [0.1, 0.2, 0.3]
    with pytest.raises(InputError, match="cannot be differentiated"):
        linear(arm, q, controller=lambda t, q, v: [1.0 if q[0] > 0 else 0.0, 0.0, 0.0])
    with pytest.raises(InputError, match=r"of shape \(1,\), not 3 real numbers"):
        linear(arm, q, controller=lambda t, q, v: [1.0])
    with pytest.raises(InputError, match="not a body or frame"):
        linear(arm, q, wrenches={"hand": [0.0] * 6})
    with pytest.raises(InputError, match=r"q is \[0\.1\] \(1 value\); it must be 3 numbers"):
        linear(arm, [0.1])
    with pytest.raises(InputError, match="is open by"):
        linear(km.load("planar_4r").mechanism, [2.0, -0.7, 3.0])


def test_a_controller_may_read_loop_joints():
    """The angle of the pin is that of the last bar less those of the others, up to a constant."""
    robot = km.load("planar_4r")
    q, v = robot.assemble(robot.start[0], [0.5, 0.0, 0.0])

    def by_loop(t, q, v, loop_q, loop_v):
        return np.array([0.0, -3.0 * loop_v[0], 2.0 * np.sin(loop_q[0])])

    def by_tree(t, q, v):
        return np.array([0.0, -3.0 * (v[0] + v[1] + v[2]), 2.0 * np.sin(q[0] + q[1] + q[2])])

    run = km.simulate(robot, q, v, duration=2e-3, controller=by_loop)
    sign = np.sign(run.loops["joint4"].v[0, 0] / v.sum())
    shift = run.loops["joint4"].q[0, 0] - sign * q.sum()
    assert abs(np.sin(shift)) < 1e-12  # a half turn or none
    ours = km.linearize(robot, q, v, controller=by_loop)
    theirs = km.linearize(
        robot, q, v, controller=lambda t, q, v: np.array([0.0, sign, sign * np.cos(shift)]) * by_tree(t, q, v)
    )  # fmt: skip
    np.testing.assert_allclose(ours.A, theirs.A, atol=1e-9)
    assert np.abs(ours.A - km.linearize(robot, q, v).A).max() > 0.1
