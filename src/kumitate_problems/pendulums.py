"""Pendulums: closed forms by elliptic functions, the textbooks' equations of motion, modes, a pivot that is shaken."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

import kumitate as km
from kumitate.model.samples import distance_pendulum, planar_chain

from .contract import Measured, Problem

__all__ = ["A01_END", "PROBLEMS", "bob"]

G = 9.81
#: A01: where the point mass is after ten seconds (x, height) [m].
A01_END = (-0.275087462576117, -0.961419205099125)
#: K(m = 1/2), the complete elliptic integral (Abramowitz and Stegun, table 17.1).
K_HALF = 1.854074677301372
#: Zeros of Laguerre's polynomial L3 (Abramowitz and Stegun, table 25.9).
LAGUERRE_3 = (0.415774556783, 2.294280360279, 6.289945082937)
#: Mathieu functions at q = 5 (Abramowitz and Stegun, table 20.1): the characteristic value a0, ce0(0) and ce0(π/2).
MATHIEU_A0, MATHIEU_CE0 = -5.80004602, (0.04480018, 1.33484870)


def bob(length: float = 1.0, **options: Any) -> km.Body:
    """A point mass of 1 kg, so far below its frame."""
    return km.Body("bob", 1.0, (0.0, 0.0, -length), **options)


def a01() -> list[Measured]:
    """The same swing by a hinge, by a ball joint, and by a rod to a free point."""
    # a point mass has no inertia about the rod: without some, its spin has no equation of motion; the swing does not feel it
    ball = km.Mechanism("A01", (bob(inertia=(0.0, 0.0, 1e-3)),), (km.Joint("ball", "spherical", "world", "bob"),))
    half = math.sqrt(0.5)
    ways = {
        "hinge": (km.load("pendulum").mechanism, [0.5 * math.pi]),
        "ball joint": (ball, [0.0, half, 0.0, half]),
        "rod": (distance_pendulum(), [-1.0, 0.0, 0.0]),
    }
    found = []
    for way, (mechanism, start) in ways.items():
        end = km.simulate(mechanism, start, duration=10.0, step=1e-3).center_of_mass[-1]
        found += [Measured(f"{axis} by a {way}", end[k], 1e-9, "m", A01_END[k // 2]) for axis, k in (("x", 0), ("z", 2))]
    return found


def rod_swings() -> list[Measured]:
    """A rod let go level: at the bottom after T/4 = √(2L/3g) K, at the rate √(3g/L), its pin carrying 5/2 m g."""
    quarter = math.sqrt(2.0 / (3.0 * G)) * K_HALF
    robot = km.Robot(planar_chain(1))  # measured from upright: it hangs at π
    run = km.simulate(robot, [0.5 * math.pi], duration=quarter, step=quarter / 1000)
    force = run.joint_wrenches()["joint1"][-1, 3:]
    return [
        Measured("angle after a quarter", run.q[-1, 0], 1e-9, "rad", math.pi),
        Measured("rate", run.v[-1, 0], 1e-9, "rad/s", math.sqrt(3.0 * G)),
        Measured("force of the pin", float(np.linalg.norm(force)), 1e-8, "N", 2.5 * G),
    ]


def rod_let_go() -> list[Measured]:
    """A level rod whose one end is let go: it turns at 3g/2L, so that its tip falls faster than g; the pin carries m g/4."""
    robot, still = km.Robot(planar_chain(1)), np.zeros(1)
    turning = robot.forward_dynamics([0.5 * math.pi], still, still)[0]
    force = robot.joint_wrenches([0.5 * math.pi], still, still)["joint1"][3:]
    return [
        Measured("acceleration", turning, 1e-12, "rad/s²", 1.5 * G),
        Measured("force of the pin", float(np.linalg.norm(force)), 1e-12, "N", 0.25 * G),
    ]


def conical() -> list[Measured]:
    """A bob that goes round at 40 deg: ω² = g/(l cos β), and the string pulls with m g/cos β."""
    lean = math.radians(40.0)
    c, s = math.cos(lean), math.sin(lean)
    rate = math.sqrt(G / c)
    mechanism, quarter = distance_pendulum(), 0.5 * math.pi / rate
    run = km.simulate(mechanism, [s, 0.0, -c], [0.0, rate * s, 0.0], duration=5.0 * quarter, step=quarter / 500)
    pull = np.linalg.norm(run.joint_wrenches()["string"][-1, 3:])
    return [
        Measured("place after 5/4 turns", run.q[-1], 1e-9, "m", np.array([0.0, s, -c])),
        Measured("height all the way", run.q[:, 2], 1e-10, "m", -c),
        Measured("pull", float(pull), 1e-9, "N", G / c),
    ]


def hanging_chain() -> list[Measured]:
    """Three equal masses on equal strings: ω² l/g of the modes are the zeros of Laguerre's polynomial L3."""
    bodies = tuple(km.Body(f"bob{k}", 1.0, (0.0, 0.0, -1.0)) for k in range(3))
    joints = tuple(
        km.Joint(
            f"hinge{k}", "revolute", f"bob{k - 1}" if k else "world", f"bob{k}", km.pose((0, 0, -1.0 if k else 0)),
            axis=(0, 1, 0),
        )
        for k in range(3)
    )  # fmt: skip
    poles = km.linearize(km.Robot(km.Mechanism("chain", bodies, joints)), np.zeros(3)).poles
    rates = np.sort(poles.imag[poles.imag > 0.0])
    names = ("slowest", "middle", "fastest")
    return [
        Measured(f"{name} mode, ω² l/g", rate**2 / G, 1e-10, "1", zero)
        for name, rate, zero in zip(names, rates, LAGUERRE_3, strict=True)
    ]


def shaken_pivot() -> list[Measured]:
    """An upright pendulum on the border of being held up by its pivot's shaking: the Mathieu function ce0 with q = 5.

    l θ̈ = (g + z̈) θ with the pivot at z = −A cos ωt is y'' + (a − 2q cos 2x) y = 0 in x = ωt/2, with a = −4g/(l ω²) and
    q = 2A/l. On the border a = a0(q), where the motion repeats itself after one shake.
    """
    rate = 2.0 * math.sqrt(-G / MATHIEU_A0)
    pivot = km.Body("pivot", 1.0, inertia=(0.1,) * 3)
    joints = (
        km.Joint("shake", "prismatic", "world", "pivot"), km.Joint("hinge", "revolute", "pivot", "bob", axis=(0, 1, 0)),
    )  # fmt: skip
    period, lean = 2.0 * math.pi / rate, 1e-7
    run = km.simulate(
        km.Mechanism("kapitza", (pivot, bob(-1.0)), joints), [-2.5, lean], duration=period, step=period / 4000,
        integrator="rk4", motions={"shake": lambda t: -2.5 * np.cos(rate * t)},
    )  # fmt: skip
    return [
        Measured("after half a shake", run.q[2000, 1] / lean, 1e-5, "of the start", MATHIEU_CE0[1] / MATHIEU_CE0[0]),
        Measured("after a whole one", run.q[-1, 1] / lean, 1e-5, "of the start", 1.0),
    ]


# --- equations of motion ----------------------------------------------------------------------------------------------
def _states(seed: int) -> Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(seed)
    for _ in range(20):
        yield rng.uniform(-4.0, 4.0, 2), 3.0 * rng.normal(size=2), rng.normal(size=2)


def double_pendulum() -> list[Measured]:
    """Two point masses: in absolute angles from hanging, M = [2, c; c, 1] with c = cos(θ1 − θ2)."""
    robot, found, exact, kinetic = km.load("double_pendulum"), [], [], []
    for q, v, tau in _states(1):
        first, second, w1, w2 = q[0], q[0] + q[1], v[0], v[0] + v[1]
        c, s = math.cos(first - second), math.sin(first - second)
        forces = [-s * w2**2 - 2.0 * G * math.sin(first) + tau[0] - tau[1], s * w1**2 - G * math.sin(second) + tau[1]]
        a1, a2 = np.linalg.solve([[2.0, c], [c, 1.0]], forces)
        found.append(robot.forward_dynamics(q, v, tau) / max(1.0, abs(a1), abs(a2)))
        exact.append(np.array([a1, a2 - a1]) / max(1.0, abs(a1), abs(a2)))
        kinetic.append(0.5 * v @ robot.mass_matrix(q) @ v - (w1**2 + 0.5 * w2**2 + c * w1 * w2))
    return [
        Measured("accelerations", np.array(found), 1e-12, "of them", np.array(exact)),
        Measured("kinetic energy", np.array(kinetic), 1e-12, "J"),
    ]


def acrobot() -> list[Measured]:
    """Spong's form: I1, I2 about the joints, angle zero hanging."""
    m1, m2, l1, lc1, lc2, Ic1, Ic2 = 1.3, 0.7, 1.1, 0.45, 0.6, 0.083, 0.33
    bodies = (km.Body("upper", m1, (0, 0, -lc1), (0.0, Ic1, 0.0)), km.Body("lower", m2, (0, 0, -lc2), (0.0, Ic2, 0.0)))
    joints = (
        km.Joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0)),
        km.Joint("elbow", "revolute", "upper", "lower", km.pose((0, 0, -l1)), axis=(0, 1, 0)),
    )
    I1, I2, coupling = Ic1 + m1 * lc1**2, Ic2 + m2 * lc2**2, m2 * l1 * lc2
    expected = []
    for q, v, _ in _states(2):
        c2, s1, s2, s12 = math.cos(q[1]), math.sin(q[0]), math.sin(q[1]), math.sin(q[0] + q[1])
        M = [[I1 + I2 + m2 * l1**2 + 2.0 * coupling * c2, I2 + coupling * c2], [I2 + coupling * c2, I2]]
        C = [[-2.0 * coupling * s2 * v[1], -coupling * s2 * v[1]], [coupling * s2 * v[0], 0.0]]
        expected.append((M, C @ v, [m1 * G * lc1 * s1 + m2 * G * (l1 * s1 + lc2 * s12), m2 * G * lc2 * s12]))
    return _equations(km.Robot(km.Mechanism("acrobot", bodies, joints)), 2, expected)


def cart_pole() -> list[Measured]:
    """A cart along x and a pole with a point mass, angle zero hanging and positive towards +x."""
    mc, mp, length = 2.0, 0.3, 0.8
    joints = (
        km.Joint("rail", "prismatic", "world", "cart", axis=(1, 0, 0)),
        km.Joint("pivot", "revolute", "cart", "pole", axis=(0, -1, 0)),
    )
    expected = []
    for q, v, _ in _states(3):
        c, s = math.cos(q[1]), math.sin(q[1])
        M = [[mc + mp, mp * length * c], [mp * length * c, mp * length**2]]
        expected.append((M, [-mp * length * s * v[1] ** 2, 0.0], [0.0, mp * G * length * s]))
    bodies = (km.Body("cart", mc), km.Body("pole", mp, (0, 0, -length)))
    return _equations(km.Robot(km.Mechanism("cart_pole", bodies, joints)), 3, expected)


def _equations(robot: km.Robot, seed: int, expected: list) -> list[Measured]:
    """M, the forces of the rates and those of gravity at random states, beside the textbook's."""
    M, rates, gravity = (np.array([part[k] for part in expected]) for k in range(3))
    states = [(q, v) for q, v, _ in _states(seed)]
    return [
        Measured("mass matrices", np.array([robot.mass_matrix(q) for q, _ in states]), 1e-13, "kg m²", M),
        Measured("gravity", np.array([robot.gravity_forces(q) for q, _ in states]), 1e-12, "N m", gravity),
        Measured("all of the bias", np.array([robot.bias_forces(q, v) for q, v in states]), 1e-11, "N m", rates + gravity),
    ]


_KIND = "pendulums"
PROBLEMS = (
    Problem(
        "A01",
        _KIND,
        "Point mass on a rod, level at rest, 10 s, by three kinds of joints",
        "IFToMM Multibody Benchmark library, A01; θ = −2 asin(sin(π/4) cd(√g t, 1/2))",
        a01,
    ),
    Problem(
        "rod, large swing",
        _KIND,
        "A rod let go level: T/4 = √(2L/3g) K(1/2), 5/2 m g at the bottom",
        "Kane and Levinson, Dynamics; Abramowitz and Stegun, table 17.1",
        rod_swings,
    ),
    Problem(
        "rod let go",
        _KIND,
        "A level rod loses one support: 3g/2L, and m g/4 on the other",
        "Kleppner and Kolenkow, An Introduction to Mechanics, ch. 6",
        rod_let_go,
    ),
    Problem("conical pendulum", _KIND, "ω² = g/(l cos β), pull m g/cos β", "Huygens, Horologium oscillatorium, 1673", conical),
    Problem(
        "hanging chain",
        _KIND,
        "Modes of three masses on a chain: ω² l/g are zeros of Laguerre's L3",
        "Gantmacher and Krein, Oscillation matrices; Abramowitz and Stegun, table 25.9",
        hanging_chain,
    ),
    Problem(
        "shaken pivot",
        _KIND,
        "Upright pendulum on a pivot that shakes, on the border of stability: ce0 of Mathieu at q = 5",
        "Abramowitz and Stegun, table 20.1",
        shaken_pivot,
    ),
    Problem(
        "double pendulum",
        _KIND,
        "Accelerations and energy at random states",
        "Landau and Lifshitz, Mechanics, § 5",
        double_pendulum,
    ),
    Problem(
        "acrobot", _KIND, "Mass matrix, gravity and bias at random states", "Tedrake, Underactuated Robotics, ch. 3", acrobot
    ),
    Problem("cart-pole", _KIND, "The same of a cart with a pole", "Tedrake, Underactuated Robotics, ch. 3", cart_pole),
)
