"""Systems written as energies: the lecture's equations, two choices of coordinates, closed forms, and what is refused."""

import math
import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kumitate.errors import DivergenceError, InputError
from kumitate.lagrange import (
    System,
    coordinates,
    coulomb,
    generalised_force,
    gravity,
    quadratic_drag,
    rotation,
    rotation_in_space,
    spring,
    translation,
    viscous,
)  # fmt: skip
from studies.papers.runs import three_masses, two_link_arm, wheeled_pendulum

sympy = pytest.importorskip("sympy")
sin, cos, Derivative = sympy.sin, sympy.cos, sympy.Derivative
M, m, g, l, r, I = sympy.symbols("M m g l r I")
ALPHA, BETA = coordinates("alpha beta")
BOB = [r * ALPHA + l * sin(BETA), r + l * cos(BETA)]
KINETIC = translation(M, [r * ALPHA, r]) + translation(m, BOB) + rotation(I, ALPHA)
POTENTIAL = gravity(m, l * cos(BETA), g)


def wheeled(**options):
    return System([ALPHA, BETA], KINETIC, POTENTIAL, parameters=[M, m, g, l, r, I], name="wheeled", **options)


def bare(latex: str) -> str:
    """LaTeX without what is not seen: spaces, braces around one sign, sizes of brackets."""
    latex = re.sub(r"\\left|\\right|\\\{|\\\}|\s", "", latex.replace(r"\{", "(").replace(r"\}", ")"))
    return re.sub(r"\{(\\?[A-Za-z0-9]+)\}", r"\1", latex)


# --- the lecture's equations ------------------------------------------------------------------------------------------
@pytest.mark.row("Y-8", "Y-wip")
def test_equation_8_15_comes_out_as_printed():
    F = sympy.symbols(r"\mathcal{F}_\alpha \mathcal{F}_\beta")
    found = wheeled(forces=[(F[0], ALPHA), (F[1], BETA)]).equations()
    printed = sympy.Matrix([[(M + m) * r**2 + I, m * l * r * cos(BETA)], [m * l * r * cos(BETA), m * l**2]])
    assert printed == found.A or (found.A - printed).expand().is_zero_matrix
    right = sympy.Matrix([m * l * r * BETA.diff() ** 2 * sin(BETA), m * g * l * sin(BETA)])
    assert (found.b - right).expand().is_zero_matrix
    assert sympy.Matrix(F) == found.F
    in_print = (
        r"\underbrace{\begin{bmatrix} (M+m)r^2 + I & mlr \cos \beta \\ mlr \cos \beta & ml^2 \end{bmatrix}}_A "
        r"\underbrace{\begin{bmatrix} \ddot{\alpha} \\ \ddot{\beta} \end{bmatrix}}_{\ddot{q}} = "
        r"\underbrace{\begin{bmatrix} mlr \dot{\beta}^2 \sin \beta \\ mgl \sin \beta \end{bmatrix}}_b + "
        r"\underbrace{\begin{bmatrix} \mathcal{F}_\alpha \\ \mathcal{F}_\beta \end{bmatrix}}_{\mathcal{F}}"
    )
    assert bare(found.latex(braces=True)) == bare(in_print)


@pytest.mark.row("Y-9")
def test_equation_11_12_comes_out_as_printed():
    f = sympy.symbols("f_x f_y")
    F = generalised_force(f, BOB, [ALPHA, BETA])
    assert sympy.Matrix([[r, 0], [l * cos(BETA), -l * sin(BETA)]]) * sympy.Matrix(f) == F
    system = wheeled(forces=[(f, BOB)])
    assert (system.equations().F - F).expand().is_zero_matrix
    in_print = (
        r"\begin{bmatrix} f_\alpha \\ f_\beta \end{bmatrix} = "
        r"\begin{bmatrix} r & 0 \\ l \cos \beta & -l \sin \beta \end{bmatrix}"
        r"\begin{bmatrix} f_x \\ f_y \end{bmatrix}"
    )
    assert bare(system.force_latex(0, ["f_\\alpha", "f_\\beta"])) == bare(in_print)


@pytest.mark.row("Y-9")
def test_a_torque_between_two_bodies_and_between_two_sets_of_coordinates():
    """Example 3.6: (T, −T). Forces along absolute angles, put along relative ones, do the same work."""
    T = sympy.Symbol("T")
    assert sympy.Matrix([T, -T]) == wheeled(forces=[(T, ALPHA - BETA)]).equations().F
    q = coordinates("p_1 p_2 p_3")
    absolute = [q[0], q[0] + q[1], q[0] + q[1] + q[2]]
    F = sympy.symbols("F_1:4")
    along = generalised_force(F, absolute, q)
    assert along == sympy.Matrix([F[0] + F[1] + F[2], F[1] + F[2], F[2]])
    power = sum(force * x.diff() for force, x in zip(F, absolute, strict=True))
    assert sympy.expand(power - sum(force * x.diff() for force, x in zip(along, q, strict=True))) == 0


@pytest.mark.row("Y-8")
def test_reduction_to_first_order():
    """(8.18): x = (α, α̇, β, β̇); the rates are those that the code computes."""
    reduced = wheeled().first_order()
    assert reduced.states == (ALPHA, ALPHA.diff(), BETA, BETA.diff())
    assert reduced.rates[0] == ALPHA.diff()
    values = {M: 1, m: 5, g: 9.8, l: 1, r: 0.2, I: 0.1, ALPHA.diff(): 0.3, BETA.diff(): -0.7, BETA: 0.2, ALPHA: 0.1}
    numbers = [float(reduced.rates[k].subs(values)) for k in (1, 3)]
    assert np.allclose(wheeled_pendulum.system().compile()([0.1, 0.2], [0.3, -0.7]), numbers, rtol=1e-13)
    assert reduced.latex().count(r"\dot{x}") == 4


# --- table 1 ------------------------------------------------------------------------------------------------------------
@pytest.mark.row("Y-8")
def test_the_terms_of_table_1_give_the_forces_they_are_named_after():
    """The derivative by the rate must be the whole force: νR sgn ẋ, where print has a half, and D|ẋ|ẋ, where print has Dẋ."""
    x = coordinates("x")
    c, nu, R, D, eps = sympy.symbols("c nu R D epsilon", positive=True)
    rate = sympy.Symbol("rate", real=True)

    def force(term):
        return term.xreplace({x.diff(): rate}).diff(rate)

    assert force(viscous(c, x)) == c * rate
    assert force(coulomb(nu, R, x)) == nu * R * sympy.sign(rate)
    assert sympy.simplify(force(quadratic_drag(D, x)) - D * rate * abs(rate)) == 0
    smooth = force(coulomb(nu, R, x, smooth=eps))
    assert smooth.subs(rate, 0) == 0
    assert sympy.limit(smooth, rate, sympy.oo) == nu * R
    y = coordinates("y")
    planar = quadratic_drag(D, [x, y]).xreplace({x.diff(): 3 * rate, y.diff(): 4 * rate})
    assert sympy.simplify(planar - D * (5 * abs(rate)) ** 3 / 3) == 0
    assert spring(c, [x, 2 * x]) == sympy.Rational(5, 2) * c * x**2
    J, omega = sympy.diag(1, 2, 3), sympy.symbols("w_1:4")
    assert rotation_in_space(J, omega) == (omega[0] ** 2 + 2 * omega[1] ** 2 + 3 * omega[2] ** 2) / 2


def test_a_block_sliding_to_rest_and_a_body_falling_to_its_final_speed():
    """Closed forms: friction stops a block after v₀²/(2νg), but for the smoothing; drag lets a body fall with √(mg/D)."""
    x = coordinates("x")
    slide = System(x, translation(2.0, x), dissipation=coulomb(0.3, 2.0 * 9.81, x, smooth=1e-4))
    motion = slide.simulate([0.0], [1.0], duration=0.6, step=1e-4)
    assert motion.q[-1, 0] == pytest.approx(1.0 / (2.0 * 0.3 * 9.81), abs=1e-4)
    fall = System(x, translation(2.0, x), gravity(2.0, x, 9.81), dissipation=quadratic_drag(0.5, x))
    motion = fall.simulate([0.0], [0.0], duration=5.0, step=1e-2)
    final = math.sqrt(2.0 * 9.81 / 0.5)
    assert motion.v[-1, 0] == pytest.approx(-final * math.tanh(9.81 * 5.0 / final), rel=1e-12)


def test_dry_friction_holds_what_rests():
    """sgn 0 = 0, in the code too: a derivative of |ẋ| that is ±1 at rest would set the block in motion."""
    x = coordinates("x")
    resting = System(x, translation(1.0, x), dissipation=coulomb(0.5, 9.81, x)).compile()
    assert resting([0.0], [0.0]) == 0.0
    assert resting([0.0], [1e-9]) == -0.5 * 9.81


# --- two choices of coordinates -----------------------------------------------------------------------------------------
@pytest.mark.row("Y-8a")
@pytest.mark.parametrize("start", [(1.5, 0.5), (math.pi / 2.0, math.pi / 6.0), (2.5, -1.0)])
def test_absolute_and_relative_angles_give_one_motion(start):
    options = {"duration": 3.0, "step": 2e-3}
    absolute = two_link_arm.system(absolute=True).simulate([start[0], sum(start)], [0.0, 0.4], **options)
    relative = two_link_arm.system(absolute=False).simulate(start, [0.0, 0.4], **options)
    moved = np.column_stack([absolute.q[:, 0], absolute.q[:, 1] - absolute.q[:, 0]])
    assert np.abs(moved - relative.q).max() < 1e-9
    assert np.ptp(relative.total) < 1e-9


@pytest.mark.row("Y-8a")
def test_the_two_link_arm_is_the_one_written_by_hand():
    """Absolute angles, M and h by hand: l²(2, c; c, 1), c = cos(q₁ − q₂)."""
    a = two_link_arm.system(absolute=True).compile()
    rng = np.random.default_rng(3)
    for q, v in rng.normal(size=(5, 2, 2)):
        c, s = math.cos(q[0] - q[1]), math.sin(q[0] - q[1])
        right = [2.0 * 9.81 * math.sin(q[0]) - s * v[1] ** 2, 9.81 * math.sin(q[1]) + s * v[0] ** 2]
        assert np.allclose(a(q, v), np.linalg.solve([[2.0, c], [c, 1.0]], right), rtol=1e-12, atol=1e-12)


@pytest.mark.row("Y-8")
def test_three_masses_swing_in_their_closed_form():
    """A chain fixed at one end: ω_j = 2√(k/m) sin((2j − 1)π/14), modes sin(i (2j − 1)π/7)."""
    duration = 10.0
    motion = three_masses.system(absolute=True).simulate([0.6, 1.05, 1.55], [0.0] * 3, duration=duration, step=1e-2)
    rest = three_masses.LENGTH * np.arange(1, 4)
    angles = (2 * np.arange(1, 4) - 1) * math.pi / 14.0
    modes = np.sin(2.0 * np.outer(np.arange(1, 4), angles))
    amplitudes = np.linalg.solve(modes, np.array([0.6, 1.05, 1.55]) - rest)
    omega = 2.0 * math.sqrt(three_masses.STIFFNESS / three_masses.MASS) * np.sin(angles)
    exact = rest + (modes @ (amplitudes[:, None] * np.cos(np.outer(omega, motion.time)))).T
    assert np.abs(motion.q - exact).max() < 1e-12


@pytest.mark.row("Y-8")
def test_three_masses_in_both_coordinates():
    relative = three_masses.system(absolute=False).simulate(three_masses.START, [0.0] * 3, duration=5.0, step=1e-2)
    absolute = three_masses.system(absolute=True).simulate(np.cumsum(three_masses.START), [0.0] * 3, duration=5.0, step=1e-2)
    assert np.abs(np.cumsum(relative.q, axis=1) - absolute.q).max() < 1e-12


# --- the wheeled pendulum -------------------------------------------------------------------------------------------------
def code_4(torque):
    """The right side of code 4, as the lecture prints it, in NumPy."""
    M, J, m, r, l, g = 1.0, 0.1, 5.0, 0.2, 1.0, 9.8

    def rate(_, x):
        a, da, b, db = x
        A = [[(M + m) * r**2 + J, m * l * r * math.cos(b)], [m * l * r * math.cos(b), m * l**2]]
        T = torque(a, da, b, db)
        h = np.linalg.solve(A, [m * l * r * db**2 * math.sin(b) + T, m * g * l * math.sin(b) - T])
        return [da, h[0], db, h[1]]

    return rate


@pytest.mark.row("Y-wip")
def test_free_motion_is_that_of_code_4():
    motion = wheeled_pendulum.system().simulate([0.0, 0.2], [0.0, 0.0], duration=10.0, step=2e-3)
    solved = solve_ivp(code_4(lambda *_: 0.0), (0.0, 10.0), [0.0, 0.0, 0.2, 0.0], "DOP853", [10.0], rtol=1e-13, atol=1e-13)
    assert np.allclose([*motion.q[-1], *motion.v[-1]], solved.y[[0, 2, 1, 3], -1], atol=1e-8)
    assert np.ptp(motion.total) < 1e-10


@pytest.mark.row("Y-wip")
def test_pd_control_balances_it():
    """Exercise 3.2: K = (1, 0.5, 40, 4) along α − β."""
    alpha, beta = coordinates("alpha beta")
    torque = alpha + 0.5 * alpha.diff() + 40 * beta + 4 * beta.diff()
    motion = wheeled_pendulum.system(torque=torque).simulate([0.0, 0.2], [0.0, 0.0], duration=10.0, step=2e-3)
    solved = solve_ivp(
        code_4(lambda a, da, b, db: a + 0.5 * da + 40 * b + 4 * db), (0.0, 10.0), [0.0, 0.0, 0.2, 0.0], "DOP853", [10.0],
        rtol=1e-12, atol=1e-12,
    )  # fmt: skip
    assert np.allclose(motion.q[-1], solved.y[[0, 2], -1], atol=1e-9)
    half = len(motion) // 2
    assert np.abs(motion.q[half:, 1]).max() < 0.1 * np.abs(motion.q[:, 1]).max()  # the lean dies out


# --- code ---------------------------------------------------------------------------------------------------------------
def test_order_of_the_steps():
    """Order 8, by the slope of the error of a pendulum's swing."""
    system = wheeled_pendulum.system()
    exact = system.simulate([0.0, 0.2], [0.0, 0.0], duration=1.0, step=2e-3).q[-1]
    errors = [
        np.abs(system.simulate([0.0, 0.2], [0.0, 0.0], duration=1.0, step=h).q[-1] - exact).max() for h in (0.1, 0.05)
    ]  # fmt: skip
    assert math.log2(errors[0] / errors[1]) > 7.0


def test_values_at_compile_time_at_call_time_and_in_batches():
    system = wheeled()
    fixed = {M: 1.0, m: 5.0, g: 9.8, l: 1.0, r: 0.2, I: 0.1}
    whole = system.compile(parameters=fixed)
    called = system.compile(parameters={k: v for k, v in fixed.items() if k not in (l, g)}, inputs=[l, g])
    q, v = np.random.default_rng(0).normal(size=(2, 100, 2))
    assert np.allclose(whole(q, v), called(q, v, [1.0, 9.8]), rtol=1e-14)
    assert np.allclose(called(q[0], v[0], [0.7, 9.8]), system.compile(parameters={**fixed, l: 0.7})(q[0], v[0]), rtol=1e-14)


def test_the_time_may_occur():
    """A point hung from a support that moves as a(t): ẍ = −k(x − a sin 3t), by its closed form; and a force in t."""
    x, t = coordinates("x"), sympy.Symbol("t")
    carried = System(x, translation(1.0, x + sympy.sin(3 * t)), spring(4.0, x))
    kernel = carried.compile()
    assert [array.name for array in kernel.inputs] == ["q", "v", "t"]
    assert np.allclose(kernel([0.3], [0.0], [0.5]), -4.0 * 0.3 + 9.0 * math.sin(1.5), rtol=1e-14)
    pushed = System(x, translation(1.0, x), forces=[(t**2, x)]).simulate([0.0], [0.0], duration=2.0, step=0.1)
    assert pushed.q[-1, 0] == pytest.approx(2.0**4 / 12.0, rel=1e-13)


def test_functions_and_cases_become_code():
    x = coordinates("x")
    expressions = [
        sympy.tan(x), sympy.atan(x), sympy.asin(x / 2), sympy.acos(x / 2), sympy.sinh(x), sympy.cosh(x), sympy.tanh(x),
        sympy.exp(-x), sympy.log(x**2 + 1), sympy.sqrt(x**2 + 1), (x**2 + 1) ** sympy.Rational(-3, 2), (x**2 + 1) ** 1.3,
        sympy.Abs(x), sympy.sign(x), sympy.Max(x, 0, -x / 2), sympy.Min(x, 1), sympy.Heaviside(x), sympy.pi * x, x / 3,
        sympy.Piecewise((x**2, x < 0), (x**3, sympy.And(x >= 0, x < 1)), (1, True)), 2**x, sympy.atan2(x, 2),
    ]  # fmt: skip
    kernel = System(x, translation(1, x)).compile_expressions(expressions)
    for value in (-0.8, 0.0, 0.6, 1.7):
        expected = [float(sympy.N(e.subs(x, value))) for e in expressions]
        assert np.allclose(kernel([value], [0.0]), expected, rtol=1e-14)


# --- what is refused ----------------------------------------------------------------------------------------------------
def test_a_coordinate_without_inertia_is_named():
    with pytest.raises(InputError, match=r"singular.*beta has inertia"):
        System([ALPHA, BETA], translation(m, ALPHA), gravity(m, cos(BETA), g)).equations()
    both = System([ALPHA, BETA], translation(m, ALPHA + BETA), spring(1, BETA))
    with pytest.raises(InputError, match="alpha and beta together"):
        both.equations()
    with pytest.raises(InputError, match="alpha has inertia"):
        System([ALPHA, BETA], KINETIC.subs(r, 0), parameters={m: 1, I: 0, l: 1}).compile()


def test_light_and_heavy_coordinates_are_not_taken_for_singular():
    p, s = coordinates("p s")
    assert sympy.diag(1e-9, 1e9) == System([p, s], translation(1e-9, p) + translation(1e9, s)).equations().A


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: System(sympy.Symbol("x"), 1), r"x is not a function of the time.*coordinates\(\"x\"\)"),
        (lambda: System([ALPHA], KINETIC), r"beta\(t\).*not a coordinate of the system \(alpha\)"),
        (lambda: System([ALPHA, ALPHA], KINETIC), "each once"),
        (lambda: System([BETA], translation(m, BETA.diff())), "accelerations"),
        (lambda: System([BETA], translation(m, BETA), BETA.diff()), "potential energy depends on velocities"),
        (lambda: wheeled(forces=[sympy.Symbol("f")]), r"forces\[0\] = f has no point to act at"),
        (lambda: wheeled(forces=[([1, 2], [ALPHA, BETA, 0])]), "2 components and its point 3"),
        (lambda: wheeled(forces=[([1, 2], [r, l])]), "does not depend on alpha, beta"),
        (lambda: wheeled(forces=[(1, BETA.diff())]), "the point of .* depends on velocities"),
        (lambda: wheeled().compile(), "no value is given for I, M, g, l, m, r"),
        (lambda: wheeled().compile(parameters={sympy.Symbol("k"): 1.0}), "no symbol k"),
        (lambda: wheeled().compile(parameters={m: "five"}), "'five'"),
        (lambda: wheeled().compile(inputs=[sympy.Symbol("k")]), "k is among the inputs, but no energy"),
        (lambda: System(BETA, "T"), "'T' is a string, not an expression"),
        (lambda: System(BETA, [1, 2]), "one scalar expression"),
        (lambda: System(BETA, translation(1, BETA), sympy.gamma(BETA)).compile(), "gamma"),
        (lambda: wheeled_pendulum.system().simulate([0.0], [0.0], duration=1.0, step=0.1), "2 numbers, of alpha, beta"),
        (lambda: wheeled_pendulum.system().simulate([0, 0], [0, 0], duration=1.0, step=0.0), "positive"),
    ],
)
def test_mistakes_are_named(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_four_coordinates_are_not_solved_on_paper():
    q = coordinates("q_1 q_2 q_3 q_4")
    with pytest.raises(InputError, match="no readable formula"):
        System(q, translation(1, q)).first_order()


def test_a_motion_that_runs_away_keeps_what_it_had():
    x = coordinates("x")
    system = System(x, translation(1.0, x), -(x**6))
    with pytest.raises(DivergenceError, match=r"x became infinite or NaN at t = ") as caught:
        system.simulate([1.0], [1.0], duration=10.0, step=0.05)
    assert 1 < len(caught.value.result) < 200
    assert np.isfinite(caught.value.result.q).all()
