"""The cases: mechanisms whose end is published, known in closed form, or by equations that are written out by hand."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

import kumitate as km
from kumitate.model.samples import ANDREWS_TORQUE, bricard, four_bars, four_bars_start, planar_chain, sample
from kumitate_problems.closed_loops import ANDREWS_END

from . import parallel_cases, touching_cases
from .contract import Case, converged, solved

__all__ = ["CASES", "cases"]

G = 9.81
_BACK = (0, -1, 0)


def _row(count: int) -> Case:
    """A row of four-bars for a second: φ'' = g ((N + 1)/2 + N)/((N + 1)/3 + N) sin φ."""
    factor = G * ((count + 1) / 2.0 + count) / ((count + 1) / 3.0 + count)
    end = solved(lambda t, y: [y[1], factor * math.sin(y[0])], [0.0, 1.0], 1.0)[0]
    q, v = (np.array(part) for part in four_bars_start(count, 0.0, 1.0))
    return Case(
        f"four-bars-{count}", f"Row of {count} four-bars, 1 s", "its closed equation by DOP853 to 1e-13", four_bars(count),
        q, v, 1.0, {f"pivot{k}": end for k in range(count + 1)},
    )  # fmt: skip


def _andrews() -> Case:
    start = sample("andrews")
    return Case(
        "andrews", "Andrews' squeezer, 0.03 s", "published in the Test Set for IVP Solvers", start.build(), np.array(start.q),
        np.array(start.v), 0.03, ANDREWS_END, {"beta": ANDREWS_TORQUE}, (2e-4, 1e-4, 5e-5, 2e-5, 1e-5, 5e-6, 2e-6, 1e-6),
    )  # fmt: skip


def _chain(count: int, duration: float) -> Case:
    """Rods from level: by Lagrange's equations in absolute angles from the upright.

    Σ A_ij (cos θ_ij θ̈_j + sin θ_ij θ̇_j²) + θ̈_i/12 = g w_i sin θ_i, θ_ij = θ_i − θ_j.
    """
    P = np.tril(np.ones((count, count)))
    B = P - 0.5 * np.eye(count)
    A, weights = B.T @ B, G * B.sum(axis=0)

    def rates(t: float, x: np.ndarray) -> np.ndarray:
        theta, omega = x[:count], x[count:]
        between = theta[:, None] - theta[None, :]
        forces = weights * np.sin(theta) - (A * np.sin(between)) @ omega**2
        return np.concatenate([omega, np.linalg.solve(A * np.cos(between) + np.eye(count) / 12.0, forces)])

    q = np.zeros(count)
    q[0] = 0.5 * math.pi
    end = np.linalg.solve(P, solved(rates, np.concatenate([P @ q, np.zeros(count)]), duration)[:count])
    chain = planar_chain(count)
    return Case(
        f"chain-{count}", f"Chain of {count} rods, {duration:g} s", "Lagrange's equations in absolute angles, DOP853 to 1e-13",
        chain, q, np.zeros(count), duration, dict(zip(chain.q_names, end, strict=True)),
    )  # fmt: skip


def _slider_crank() -> Case:
    """A crank of 1 m, a rod of 2 m and a piston of 1 kg under gravity, from rest: T(θ) θ'²/2 + V(θ) = V(θ0).

    Crank and rod are slender, 1 kg a metre. With sin φ = r sin θ/l, φ' = r cos θ θ'/(l cos φ), and the speeds of the middles.
    """
    r, l, piston = 1.0, 2.0, 1.0

    def parts(a):  # generalized inertia and potential at a crank angle, which may be complex
        s, c = np.sin(a), np.cos(a)
        sine = -r * s / l  # the rod leans back by φ
        cosine = np.sqrt(1.0 - sine * sine)
        turn = -r * c / (l * cosine)  # φ' of θ'
        x, z = -r * s - 0.5 * l * sine * turn, r * c + 0.5 * l * cosine * turn  # of the rod's middle
        slide = -r * s - l * sine * turn
        inertia = r**3 / 3.0 + l * (x * x + z * z) + l**3 / 12.0 * turn * turn + piston * slide * slide
        return inertia, G * (r * 0.5 * r * s + l * (r * s + 0.5 * l * sine))

    def rates(t, y):
        inertia, slope = parts(y[0])[0], np.array(parts(y[0] + 1e-40j)).imag / 1e-40
        return [y[1], -(0.5 * slope[0] * y[1] ** 2 + slope[1]) / inertia]

    start, duration = 1.0, 2.0
    end = solved(rates, [start, 0.0], duration)[0]
    lean = -math.asin(r * math.sin(start) / l)
    along = lambda length: km.pose((length, 0, 0))  # noqa: E731 -- a name for what stands thrice below
    bodies = (
        *(km.Body(name, n, (0.5 * n, 0, 0), (0.0, n**3 / 12, n**3 / 12)) for name, n in (("crank", r), ("rod", l))),
        km.Body("piston", piston, inertia=(0.01,) * 3),
    )  # fmt: skip
    joints = (
        km.Joint("crank", "revolute", "world", "crank", axis=_BACK),
        km.Joint("big_end", "revolute", "crank", "rod", along(r), _BACK),
        km.Joint("bore", "prismatic", "world", "piston", axis=(1, 0, 0)),
    )
    engine = km.Mechanism("slider_crank", bodies, joints, (km.Loop("pin", "revolute", "rod", "piston", along(l), axis=_BACK),))
    q = np.array([start, lean - start, r * math.cos(start) + l * math.cos(lean)])
    return Case(
        "slider-crank", "Slider-crank under gravity, 2 s", "its equation in the crank's angle, DOP853 to 1e-13", engine, q,
        np.zeros(3), duration, {"crank": end},
    )  # fmt: skip


def _double_pendulum() -> Case:
    """Two point masses; in absolute angles from hanging [2, c; c, 1] θ̈ = [−s θ2'² − 2g sin θ1, s θ1'² − g sin θ2]."""

    def rates(t, y):
        a, b, p, w = y
        c, s = math.cos(a - b), math.sin(a - b)
        first, second = np.linalg.solve([[2, c], [c, 1]], [-s * w * w - 2 * G * math.sin(a), s * p * p - G * math.sin(b)])
        return [p, w, first, second]

    pendulum, q = sample("double_pendulum").build(), np.array([1.2, 0.4])
    end = solved(rates, [q[0], q.sum(), 0.0, 0.0], 3.0)
    found = dict(zip(pendulum.q_names, (end[0], end[1] - end[0]), strict=True))
    return Case(
        "double-pendulum",
        "Double pendulum, 3 s",
        "the textbook's equations, DOP853 to 1e-13",
        pendulum,
        q,
        np.zeros(2),
        3.0,
        found,
    )


def _bricard() -> Case:
    return converged("bricard", "Bricard's mechanism, 2 s", bricard(), np.zeros(5), np.zeros(5), 2.0)


def _governor() -> Case:
    start = sample("governor")
    return converged(
        "governor", "Stiff flyball governor, 0.5 s", start.build(), np.array(start.q), np.array(start.v), 0.5,
        integrator="extrapolated_euler", tolerance=1e-11,
    )  # fmt: skip


#: What makes each case, by its name.
CASES = {
    "four-bars-8": lambda: _row(8),
    "slider-crank": _slider_crank,
    "andrews": _andrews,
    "bricard": _bricard,
    "governor": _governor,
    "double-pendulum": _double_pendulum,
    "chain-20": lambda: _chain(20, 1.0),
    "six-bar": parallel_cases.six_bar,
    "delta": parallel_cases.delta,
    "stewart": parallel_cases.stewart,
    "car-axis": parallel_cases.car_axis,
    "stops": touching_cases.stops,
    "ball": touching_cases.ball,
    "stack": touching_cases.stack,
}


@cache
def cases(name: str) -> Case:
    """The case of this name, its reference computed once."""
    return CASES[name]()
