"""The lecture's codes 5, 6 and 7, as printed, against mechanisms with penalty contact (Y 10, 11)."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kumitate.compile import Kernel
from kumitate.contact.forces import ContactForces
from kumitate.contact.models.penalty import Penalty
from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.simulate.driving.forcing import Forcing
from kumitate.simulate.stepping.equations import dynamics_program
from studies.papers.runs import bouncing_stick, falling_mass, falling_pendulum


def sigmoid(x, s):
    """U_s (10.10)."""
    return 1.0 / (1.0 + math.exp(-s * x)) if s * x > -700.0 else 0.0


def sign(x, s):
    """sgn_s (11.4)."""
    return 2.0 * sigmoid(x, s) - 1.0


def solved(rate, start, times, tolerance):
    """Steps are kept short, as those of free flight would pass over an impact."""
    return solve_ivp(rate, (0.0, times[-1]), start, "LSODA", times, rtol=tolerance, atol=tolerance, max_step=5e-3).y


def code_5(method):
    """The right side of code 5; its l/2 is printed 1/2."""
    m = l = 1.0
    J, g, mu = m * l**2 / 3.0, 9.8, 0.3

    def floor(y, dy):
        if method == 1:
            return sigmoid(-y, 1e4) * (-8e3 * y - 25.0 * dy)
        return sigmoid(-y, 1e4) * (-12e3 * y - sigmoid(-dy, 1e4) * 80.0 * dy)

    def rate(_, state):
        _, dx, y, dy, a, da = state
        force, height, torque = 0.0, -m * g, 0.0
        for side in (-1.0, 1.0):
            u = side * 0.5 * l * math.cos(a), side * 0.5 * l * math.sin(a)
            R = floor(y + u[1], dy + da * u[0])
            F = -sign(dx - da * u[1], 1e4) * mu * R
            force, height, torque = force + F, height + R, torque + u[0] * R - u[1] * F
        return [dx, force / m, dy, height / m, da, torque / J]

    return rate


@pytest.mark.row("Y-stick")
@pytest.mark.parametrize("method", [1, 2])
def test_bouncing_stick_is_that_of_code_5(method):
    """At all 130 outputs, 50 ms apart, through some twenty impacts: both integrations are exact to some 1e-8."""
    result = bouncing_stick.simulated(method, step=0.05, tolerance=1e-11)
    assert len(result) == 130
    state = solved(code_5(method), [0.0, 0.0, 5.0, 0.0, math.pi / 4.0, 0.0], result.time, 1e-11)
    assert np.abs(result.q - state[[0, 2, 4]].T).max() < 1e-6
    assert np.abs(result.v - state[[1, 3, 5]].T).max() < 1e-4  # in an impact accelerations are 1e3 m/s²
    assert np.abs(result.v[-1]).max() < 1e-9  # at rest
    assert result.contact.normal_force[-1].sum() == pytest.approx(9.8, rel=1e-9)
    assert result.contact.work.sum() == pytest.approx(result.audit.work, rel=1e-9)


@pytest.mark.row("Y-stick")
def test_pulling_floors_drive_the_stick():
    """Where the damper holds back, −μ R sgn ẋ points along the slip: method 1 gains energy there, method 2 next to none."""
    one, two = (bouncing_stick.simulated(method, step=1e-3) for method in (1, 2))
    assert bouncing_stick.driven(one) > 0.02
    assert bouncing_stick.pulled(one) > 0.03
    assert bouncing_stick.driven(two) < 1e-3  # what the rounded step leaves
    assert bouncing_stick.pulled(two) == 0.0


@pytest.mark.row("Y-stick")
@pytest.mark.parametrize("method", [1, 2])
def test_falling_mass_rebounds_as_its_oscillator(method):
    """Free fall, then a damped oscillator in closed form about the depth at rest, with real steps (10.6, 10.9)."""
    options = falling_mass.steps(method)
    result = falling_mass.simulated({**options, "friction_sharpness": 1e4}, tolerance=1e-11)
    K, C, g = options["stiffness"], options["damping"], falling_mass.G
    depth, delta = g / K, 0.5 * C
    rho = math.sqrt(K - delta**2)

    def phase(y, dy, damping, width):
        """y and ẏ after a time below the floor."""
        d, w = (delta, rho) if damping else (0.0, math.sqrt(K))
        a, b = y + depth, (dy + d * (y + depth)) / w
        c, s, e = math.cos(w * width), math.sin(w * width), math.exp(-d * width)
        return e * (a * c + b * s) - depth, e * ((b * w - d * a) * c - (a * w + d * b) * s)

    def first(condition, width):
        """By bisection, in the first half of an oscillation."""
        low, high = 1e-6, width
        for _ in range(100):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if condition(middle) else (low, middle)
        return low

    hit, speed = math.sqrt(2.0 / g), -math.sqrt(2.0 * g)
    if method == 1:
        out = first(lambda width: phase(0.0, speed, True, width)[0] < 0.0, 1.5 * math.pi / rho)
        rebound, lasted = phase(0.0, speed, True, out)[1], out
    else:
        turn = first(lambda width: phase(0.0, speed, True, width)[1] < 0.0, math.pi / rho)
        bottom = phase(0.0, speed, True, turn)[0]
        out = first(lambda width: phase(bottom, 0.0, False, width)[0] < 0.0, 1.5 * math.pi / math.sqrt(K))
        rebound, lasted = phase(bottom, 0.0, False, out)[1], turn + out
    flight = (result.time > hit + lasted) & (result.time < hit + lasted + 1.9 * rebound / g)
    since = result.time[flight] - hit - lasted
    assert len(since) > 200
    assert np.abs(result.q[flight, 0] - (rebound * since - 0.5 * g * since**2)).max() < 1e-7
    assert falling_mass.rebounds(result)[0] == pytest.approx(rebound**2 / (2.0 * g), abs=1e-5)  # sampled each 2 ms
    assert rebound / -speed == pytest.approx(falling_mass.restitution(method), abs=0.02)  # the lift of gravity is little
    assert result.q[-1, 0] == pytest.approx(-depth, abs=1e-6)


def code_7(sharpness, *, floor):
    """The right side of code 7, and of code 6 where there is no floor; the codes have the sharpness 100."""
    M, J, m, r, l, g = 1.0, 0.1, 5.0, 0.2, 1.0, 9.8

    def rate(_, state):
        a, da, b, db = state
        T = sigmoid(b + 0.29, sharpness) * sigmoid(0.29 - b, sharpness) * (1.0 * a + 0.5 * da + 40.0 * b + 4.0 * db)
        f_a, f_b = T, -T
        if floor:
            y, dx, dy = r + l * math.cos(b), r * da + l * db * math.cos(b), -l * db * math.sin(b)
            R = sigmoid(-y, 100.0) * (-1e4 * y - 90.0 * dy)
            F = -0.3 * R * sign(dx, 1e4)
            f_a, f_b = f_a + r * F, f_b + l * math.cos(b) * F - l * math.sin(b) * R
        A = [[(M + m) * r**2 + J, m * l * r * math.cos(b)], [m * l * r * math.cos(b), m * l**2]]
        dda, ddb = np.linalg.solve(A, [m * l * r * db**2 * math.sin(b) + f_a, m * g * l * math.sin(b) + f_b])
        return [da, dda, db, ddb]

    return rate


@pytest.mark.row("Y-fall")
@pytest.mark.parametrize(("sharpness", "falls"), [(100.0, True), (150.0, False), (1000.0, False)])
def test_code_6_falls_only_where_the_cut_is_round(sharpness, falls):
    result = falling_pendulum.simulated(sharpness, floor=False, duration=falling_pendulum.FREE, tolerance=1e-11)
    state = solved(code_7(sharpness, floor=False), [0.0, 0.0, 0.0, 1.0], result.time, 1e-11)
    assert np.abs(result.q[:, [2, 1]] - state[[0, 2]].T).max() < 1e-6
    assert (np.abs(result.q[:, 1]).max() > math.pi) == falls
    assert (np.abs(result.q[-1, 1]) < 0.01) != falls


@pytest.mark.row("Y-fall")
def test_code_7_falls_onto_the_floor():
    result = falling_pendulum.simulated(tolerance=1e-11)
    state = solved(code_7(100.0, floor=True), [0.0, 0.0, 0.0, 1.0], result.time, 1e-11)
    assert np.abs(result.q[:, [2, 1]] - state[[0, 2]].T).max() < 1e-6
    record = result.contact
    assert np.abs(record.gap[:, 0] - (0.2 + np.cos(state[2]))).max() < 1e-6
    assert np.abs(result.v[-1]).max() < 2e-2  # all but at rest
    assert record.normal_force[-1, 0] == pytest.approx(5.0 * 9.8, rel=1e-2)  # it stands on its wheel and its tip
    assert max(gap.distance + gap.angle for gap in result.audit.loop_gaps) < 1e-12


@pytest.mark.row("Y-fall")
def test_the_floor_pushes_as_in_lagranges_equations():
    """Accelerations at random states around the moment of touching: (∂x/∂q)ᵀ f of SymPy, and forces on links."""
    pytest.importorskip("sympy")
    rng = np.random.default_rng(1)
    n = 50
    beta = np.arccos(rng.uniform(-0.24, -0.17, n)) * rng.choice([-1.0, 1.0], n)
    alpha, rates = rng.uniform(-3.0, 3.0, n), rng.uniform(-5.0, 5.0, (n, 2))
    wanted = falling_pendulum.system().compile()(np.column_stack([alpha, beta]), rates)
    mechanism = falling_pendulum.mechanism()
    forcing = Forcing(mechanism, falling_pendulum.torque(falling_pendulum.SHARPNESS))
    contact = Contact("penalty", surface=Surface(falling_pendulum.FRICTION), options=falling_pendulum.FLOOR)
    forces = ContactForces.of(mechanism, contact, Penalty(**falling_pendulum.FLOOR))
    q = np.column_stack([0.2 * alpha, beta, alpha])
    v = np.column_stack([0.2 * rates[:, 0], rates[:, 1], rates[:, 0]])
    u = np.array([forcing(0.0, *state) for state in zip(q, v, strict=True)])
    kernel = Kernel(dynamics_program(forcing, implicit_damping=False, pressing=forces))
    found = kernel(0.0, q, v, u)[0]
    assert np.allclose(found[:, [2, 1]], wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())
