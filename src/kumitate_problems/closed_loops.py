"""Mechanisms with closed loops whose motion is published: IFToMM's A02 to A05, the thesis's parallelogram, the car axis."""

from __future__ import annotations

import math

import numpy as np

import kumitate as km
from kumitate.examples.catalogue import example
from kumitate.examples.gallery.car_axis import EPSILON, LENGTH
from kumitate.model.samples import ANDREWS_TORQUE, bricard, four_bars, four_bars_start, planar_4r, sample
from kumitate.run import as_run

from .contract import Measured, Problem

__all__ = ["ANDREWS_END", "PROBLEMS", "car_axis_ends", "elliptic_k"]

G = 9.81
#: A02 with two loops: the angle of its legs after ten seconds [rad], and the corner B0 (x, height) [m].
A02_ANGLE, A02_CORNER = 31.7505971869861, (0.328458111540815, 0.944518538178601)
#: A03 at 0.03 s [rad]; the test set's angles are the sample's joint coordinates, by name.
ANDREWS_END = {
    "beta": 15.81077119629904, "Theta": -15.75637105984298, "gamma": 0.04082224013073101, "Phi": -0.5347301163226948,
    "delta": 0.5244099658805304, "Omega": 0.5347301163226948, "epsilon": 1.048080741042263,
}  # fmt: skip
#: The car axis after 3 s: left end (x, y), right end, and the velocities of both [m, m/s].
CAR_PLACES = (0.493455784275402809122e-1, 0.496989460230171153861, 0.104174252488542151681e1, 0.373911027265361256927)
CAR_RATES = (-0.770583684040972357970e-1, 0.744686658723778553466e-2, 0.175568157537232222276e-1, 0.770341043779251976443)
#: The multiplier of the constraint that holds the left end on the normal of the axle; ε⁻² L λ₁ is its force [N].
CAR_MULTIPLIER = -0.473688659084893324729e-2
#: A05: the slider's height after a second, one swing later, to a centimetre [m], and the fastest mode at the start [1/s].
GOVERNOR_HEIGHT, GOVERNOR_MODE = 0.50, -8100.0


_ENDS = ("left x", "left y", "right x", "right y")


def elliptic_k(m: float) -> float:
    """The complete elliptic integral K(m), by the arithmetic-geometric mean (Gauss)."""
    a, b = 1.0, math.sqrt(1.0 - m)
    for _ in range(60):  # 1 - m may be small; each pass doubles the digits
        a, b = 0.5 * (a + b), math.sqrt(a * b)
    return 0.5 * math.pi / a


def a02() -> list[Measured]:
    """Two four-bars, ten passages through postures where all links are in line."""
    q, v = four_bars_start(2, 0.0, 1.0)
    run = km.simulate(four_bars(2), q, v, duration=10.0, step=1e-3)
    angle = run.q[-1, 0]
    return [
        Measured("angle of the first leg", angle, 1e-8, "rad", A02_ANGLE),
        Measured("angles of the others", run.q[-1, 2::2], 1e-8, "rad", A02_ANGLE),
        Measured("corner", np.array([math.sin(angle), math.cos(angle)]), 1e-8, "m", np.array(A02_CORNER)),
    ]


def a02_turns(count: int = 8) -> list[Measured]:
    """A row of four-bars topples as a pendulum that goes all round: after two turns of 4 K(4k/ω²)/ω it is where it began.

    φ'' = k sin φ with k = g ((N + 1)/2 + N)/((N + 1)/3 + N); ω² = 1 + 4k is the square of the rate at the bottom.
    """
    k = G * ((count + 1) / 2.0 + count) / ((count + 1) / 3.0 + count)
    fastest = math.sqrt(1.0 + 4.0 * k)
    turn = 4.0 * elliptic_k(4.0 * k / fastest**2) / fastest
    q, v = four_bars_start(count, 0.0, 1.0)
    run = km.simulate(four_bars(count), q, v, duration=2.0 * turn, step=turn / 2000)
    return [
        Measured("angles after two turns", run.q[-1, ::2], 1e-8, "rad", 4.0 * math.pi),
        Measured("rates", run.v[-1, ::2], 1e-7, "rad/s", 1.0),
        Measured("rates at the bottom", run.v[len(run.v) // 4, ::2], 1e-7, "rad/s", fastest),
    ]


def parallelogram() -> list[Measured]:
    """θ'' = 6/5 g/l sin θ from 60 deg at rest: at the bottom after 5/4 swings, each 4 K(3/4)/√(6g/5l) long."""
    k = 1.2 * G
    quarter = elliptic_k(0.75) / math.sqrt(k)
    run = km.simulate(planar_4r(), np.deg2rad([60.0, 30.0, 150.0]), duration=5.0 * quarter, step=quarter / 1000)
    return [
        Measured("angle", run.q[-1, 0], 1e-8, "rad", math.pi),
        Measured("rate", run.v[-1, 0], 1e-8, "rad/s", 2.0 * math.sqrt(k) * math.sin(math.radians(60.0))),
        Measured("the loop's other angle", run.q[-1, 1], 1e-8, "rad", -0.5 * math.pi),
    ]


def andrews() -> list[Measured]:
    """Seven angles after 0.03 s, and the energy that the motor has given."""
    run = example("andrews").run()
    found = dict(zip(run.mechanism.q_names, run.q[-1], strict=True))
    energy = run.energy.total[-1] - run.energy.total[0]
    return [
        *(Measured(name, found[name], 1e-8, "rad", angle) for name, angle in ANDREWS_END.items()),
        Measured("energy", energy, 1e-9, "J", ANDREWS_TORQUE * (ANDREWS_END["beta"] - run.q[0, 0])),
    ]


def bricard_moves() -> list[Measured]:
    """One degree of freedom, although one of its equations is redundant; back at its start in just under 5 s."""
    robot = km.Robot(bricard())
    report = robot.constraint_report(np.zeros(5))
    run = km.simulate(robot, duration=7.0, step=1e-3)
    away = np.abs(run.q - run.q[0]).max(axis=1)
    return [
        Measured("mobility", report.mobility, 0.0, "1", 1),
        Measured("redundant rows", report.redundant, 0.0, "1", 1),
        Measured("period", run.time[3000 + int(np.argmin(away[3000:]))], 0.051, "s", 5.0),
        Measured("its way back", float(away[3000:].min()), 1e-2, "rad"),
        Measured("energy", run.energy.total, 1e-8, "J", run.energy.total[0]),
    ]


def governor() -> list[Measured]:
    """The slider is where it began after a swing of a second; the angular momentum about the shaft stays."""
    start = sample("governor")
    poles = km.linearize(km.load("governor"), start.q, start.v).poles
    run = example("governor").run()
    return [
        Measured("fastest mode", float(poles.real.min()), 50.0, "1/s", GOVERNOR_MODE),
        Measured("height after 1 s", 0.5 + run.q[np.searchsorted(run.time, 1.0 - 1e-9), 1], 0.01, "m", GOVERNOR_HEIGHT),
        Measured("angular momentum", run.momentum[:, 2], 1e-8, "N m s", run.momentum[0, 2]),
        Measured("steps above 10 000", float(max(0, run.audit.steps - 10_000)), 0.0, "1"),
    ]


def car_axis_ends(q: np.ndarray, v: np.ndarray) -> tuple[list[float], list[float]]:
    """Both ends of the chassis and their velocities, from the coordinates: axle, left spring, chassis on the left end."""
    (turn, reach, tilt), (turning, reaching, tilting) = q, v
    normal, along = np.array([-np.sin(turn), np.cos(turn)]), np.array([np.cos(turn), np.sin(turn)])
    bar = np.array([np.cos(turn + tilt), np.sin(turn + tilt)])
    left, left_rate = reach * normal, reaching * normal - reach * turning * along
    swing = (turning + tilting) * LENGTH * np.array([-bar[1], bar[0]])
    return [*left, *(left + LENGTH * bar)], [*left_rate, *(left_rate + swing)]


def car_axis() -> list[Measured]:
    """Ends of the chassis after 3 s on a bumpy road, their velocities, and the force on the left end."""
    run = example("car_axis").run()
    places, rates = car_axis_ends(run.q[-1], run.v[-1])
    return [
        *(Measured(name, x, 1e-9, "m", exact) for name, x, exact in zip(_ENDS, places, CAR_PLACES, strict=True)),
        *(Measured(f"rate of {name}", x, 2e-8, "m/s", exact) for name, x, exact in zip(_ENDS, rates, CAR_RATES, strict=True)),
        Measured("force", as_run(run).joint_wrenches()["left"][-1, 3], 5e-6, "N", LENGTH * CAR_MULTIPLIER / EPSILON**2),
    ]


_KIND, _IFTOMM = "closed loops", "IFToMM Multibody Benchmark library"
_TEST_SET = "Mazzia and Magherini, Test Set for IVP Solvers 2.4, Bari 2008"
PROBLEMS = (
    Problem("A02", _KIND, "Two four-bars, 10 s, ten singular postures", f"{_IFTOMM}, A02", a02),
    Problem("A02, N = 8", _KIND, "Eight four-bars, two turns of 4 K(m)/ω", f"{_IFTOMM}, A02, its closed equation", a02_turns),
    Problem(
        "parallelogram", _KIND, "θ'' = 6/5 g/l sin θ through five singular postures", "Takahashi, thesis, 3.3", parallelogram
    ),
    Problem("A03", _KIND, "Andrews' squeezer after 0.03 s", f"{_TEST_SET}; {_IFTOMM}, A03", andrews),
    Problem("A04", _KIND, "Bricard's mechanism, 7 s", f"{_IFTOMM}, A04", bricard_moves),
    Problem("A05", _KIND, "Stiff flyball governor, 10 s", f"{_IFTOMM}, A05", governor),
    Problem("car axis", _KIND, "Chassis on stiff springs, a bumpy road, 3 s", _TEST_SET, car_axis),
)
