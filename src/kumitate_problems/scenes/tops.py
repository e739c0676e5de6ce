"""Tops on a rough floor: a rattleback, which reverses its spin, and a tippe top, which turns over."""

from __future__ import annotations

import math

import numpy as np

from kumitate.contact.surface import Surface
from kumitate.model import Body, Ellipsoid, Geometry, Sphere
from kumitate.spatial import pose

from ..contact import RIGID, Trial, unconnected
from ..contract import Measured

__all__ = ["rattleback", "rolling_ellipsoid", "tippe_top"]

G = 9.81

# Kane and Levinson (1982), "Realistic mathematical modeling of the rattleback": half axes, depth of the center of mass below
# the ellipsoid's center [m], and the inertia about the center of mass of 1 kg [kg m²].
AXES, DEPTH = np.array([0.2, 0.03, 0.02]), 0.01
INERTIA = np.array([[2e-4, -2e-5, 0.0], [-2e-5, 1.6e-3, 0.0], [0.0, 0.0, 1.7e-3]])

#: The angle by which the rattlebacks lean at the start [rad].
LEAN = math.radians(0.5)


def rolling_ellipsoid(up: np.ndarray, spin: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The spins (n, 3) [rad/s], in the body's axes, of the rattleback as it rolls without slip (Bondi 1986).

    The floor's normal γ in the body's axes gives the point of contact r(γ); v = r × ω there, and
    I ω̇ + ω × I ω = r × m (v̇ + ω × v + g γ), γ̇ = γ × ω.
    """
    from scipy.integrate import solve_ivp

    squares, offset = AXES**2, np.array([0.0, 0.0, DEPTH])

    def rates(_: float, state: np.ndarray) -> np.ndarray:
        normal, w = state[:3], state[3:]
        turning, length = np.cross(normal, w), math.sqrt(squares @ (normal * normal))
        r = offset - squares * normal / length
        moving = -squares * (turning / length - normal * (squares @ (normal * turning)) / length**3)
        velocity = np.cross(r, w)
        force = np.cross(moving, w) + np.cross(w, velocity) + G * normal
        # r × (r × ω̇) = (r rᵀ − r² 1) ω̇ belongs to the left
        mass = INERTIA - np.outer(r, r) + (r @ r) * np.eye(3)
        return np.concatenate([turning, np.linalg.solve(mass, np.cross(r, force) - np.cross(w, INERTIA @ w))])

    start = np.concatenate([up, spin])
    found = solve_ivp(rates, (0.0, times[-1]), start, method="DOP853", t_eval=times, rtol=1e-7, atol=1e-9)
    return np.asarray(found.y[3:].T)


def rattleback(trial: Trial = RIGID, duration: float = 5.0) -> list[Measured]:
    """Three rattlebacks of Kane and Levinson: one is spun one way, one the other, and one is only tapped.

    Spun against its sense it rattles and reverses; the other way it goes on; tapped, it begins to turn (Garcia and Hubbard
    1988). All are compared with the equations of an ellipsoid that rolls without slip. Rattling grows by e^(σ t) from an angle
    of half a degree; steps of order one change σ by a part of order h, so that the reversal comes early.
    """
    fine = Trial(trial.model, trial.step / 20.0)
    stone, floor = Ellipsoid(tuple(AXES)), np.array([0.0, math.sin(LEAN), math.cos(LEAN)])
    shape = (Geometry(stone, pose((0.0, 0.0, DEPTH))),)
    bodies = [Body(f"stone{k}", 1.0, inertia=tuple(map(tuple, INERTIA)), collisions=shape) for k in range(3)]
    r = np.array([0.0, 0.0, DEPTH]) - AXES**2 * floor / np.linalg.norm(AXES * floor)
    turned = (math.sin(0.5 * LEAN), 0.0, 0.0, math.cos(0.5 * LEAN))
    spins = [np.array([0.0, 0.0, -5.0]), np.array([0.0, 0.0, 5.0]), np.array([0.5, 0.0, 0.0])]
    q = [x for k in range(3) for x in (*turned, 0.0, float(k), -r @ floor)]
    v = [x for spin in spins for x in (*spin, *np.cross(r, spin))]
    run = fine.run(unconnected(*bodies), q, v, duration=duration, surface=Surface(2.0))
    rows = slice(0, None, 20)
    against, along, tapped = (rolling_ellipsoid(floor, spin, run.time[rows])[:, 2] for spin in spins)
    ours, time = run.v[rows, 2::6], run.time[rows]
    reversed_at = [float(time[np.argmax(spin > 0.0)]) for spin in (ours[:, 0], against)]
    return [
        Measured("when it reverses", reversed_at[0], 0.1 * reversed_at[1], "s", reversed_at[1]),
        Measured("spin in its sense", ours[:, 1], 1e-3 * 5.0, "rad/s", along),
        Measured("spin of the tapped one", ours[:, 2], 0.05 * float(np.abs(tapped).max()), "rad/s", tapped),
    ]


def tippe_top(trial: Trial = RIGID, duration: float = 8.0) -> list[Measured]:
    """A ball with its center of mass off its middle, spun upright, turns over (Cohen 1977).

    The top of Rauch-Wojciechowski and Rutstam (2014): m = 20 g, R = 20 mm, α = 0.3, I3 = 2/5 m R², I1 = 131/350 m R², μ = 0.3.
    Whatever the friction, Jellett's L·r stays, r from the center of mass to the floor; upside down it spins at
    (1 − α)/(1 + α) of its first rate, but for the square of the angle by which it leans then.
    """
    mass, radius, off, spin = 0.02, 0.02, 0.3, 155.0
    i3, i1 = 0.4 * mass * radius**2, 131.0 / 350.0 * mass * radius**2
    middle = np.array([0.0, 0.0, off * radius])
    body = Body("top", mass, inertia=(i1, i1, i3), collisions=(Geometry(Sphere(radius), pose(tuple(middle))),))
    lean = 0.1
    q = [math.sin(0.5 * lean), 0.0, 0.0, math.cos(0.5 * lean), 0.0, 0.0, radius * (1.0 - off * math.cos(lean))]
    run = trial.run(unconnected(body), q, [0.0, 0.0, spin, 0.0, 0.0, 0.0], duration=duration, surface=Surface(0.3))
    x, y, z, w = run.q[:, :4].T
    up = np.column_stack([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)])  # in the top's axes
    jellett = (run.v[:, :3] * [i1, i1, i3] * (radius * up - middle)).sum(axis=1)
    around = float((run.v[-1, :3] * up[-1]).sum())
    ends = spin * (1.0 - off * math.cos(lean)) / (1.0 + off)  # L·r of the start, which leans
    return [
        Measured("the axis at the end, from downwards", math.acos(min(1.0, -float(up[-1, 2]))), 0.1, "rad"),
        Measured("Jellett's invariant", jellett / jellett[0], 3.0 * trial.step, "of the first", 1.0),
        Measured("spin at the end", around / spin, 2.0 * 0.1**2 * ends / spin, "of the first", ends / spin),
    ]
