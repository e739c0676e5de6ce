"""Cases whose laws are inequalities: a double pendulum between stops, a ball that bounces and rolls, a stack."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import kumitate as km
from kumitate.model.samples import sample
from kumitate_problems.contact import CUBE, G, at, solid, to, unconnected

from .contract import Case

__all__ = ["ball", "stack", "stops"]

#: Contact cases take shorter steps: where steps end is where impacts are.
_STEPS = (1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4)


def stops() -> Case:
    """Two point masses whose elbow stops at ±0.5 rad and gives nothing back.

    Between stops the textbook's equations; at one the impulse ends the elbow's rate, and the two turn as one body for as long
    as the elbow would turn outward. Each part by DOP853 to 1e-13, its end by root finding.
    """
    most, duration = 0.5, 3.0
    pendulum = sample("double_pendulum").build()
    first, second = pendulum.joints
    stopped = replace(pendulum, joints=(first, replace(second, limits=(km.Limits(-most, most),))))
    q = np.array([1.2, 0.3])

    def free(t: float, y: Any) -> list[float]:
        """Absolute angles from hanging and their rates."""
        a, b, p, w = y
        c, s = math.cos(a - b), math.sin(a - b)
        rates = np.linalg.solve([[2, c], [c, 1]], [-s * w * w - 2 * G * math.sin(a), s * p * p - G * math.sin(b)])
        return [p, w, *rates]

    def held(t: float, y: Any) -> list[float]:
        """At a stop: one body whose moment of inertia about the pivot is 3 + 2 cos(elbow)."""
        a, b, p, _ = y
        rate = -G * (2.0 * math.sin(a) + math.sin(b)) / (3.0 + 2.0 * math.cos(a - b))
        return [p, p, rate, rate]

    def beyond(side: float) -> Any:
        def past(t: float, y: Any) -> float:
            return most - side * (y[1] - y[0])

        return _ends(past)

    def pulled(side: float) -> Any:
        def outward(t: float, y: Any) -> float:
            rates = free(t, y)
            return side * (rates[3] - rates[2])

        return _ends(outward)

    t, y, side = 0.0, np.array([q[0], q.sum(), 0.0, 0.0]), 0.0
    while t < duration:
        events = [pulled(side)] if side else [beyond(1.0), beyond(-1.0)]
        run: Any = solve_ivp(
            held if side else free, (t, duration), y, method="DOP853", rtol=1e-13, atol=1e-14, events=events
        )  # fmt: skip
        t, y = float(run.t[-1]), run.y[:, -1].copy()
        if run.status == 0:
            break
        if side:
            side = 0.0
            continue
        side = math.copysign(1.0, y[1] - y[0])
        c = math.cos(y[0] - y[1])  # what the impulse on the elbow leaves of the momentum about the pivot
        y[2:] = ((2.0 + c) * y[2] + (1.0 + c) * y[3]) / (3.0 + 2.0 * c)
        if pulled(side)(t, y) < 0.0:
            side = 0.0
    end = dict(zip(stopped.q_names, (y[0], y[1] - y[0]), strict=True))
    told = "the textbook's equations between stops and at them, DOP853 to 1e-13 from one event to the next"
    return Case("stops", "Double pendulum with stops, 3 s", told, stopped, q, np.zeros(2), duration, end, steps=_STEPS)


def _ends(event: Any) -> Any:
    event.terminal, event.direction = True, -1.0
    return event


def ball() -> Case:
    """A ball of 0.1 m falls 0.5 m at 1 m/s sideways without turning, e = 0.5: it grips at once, and rolls at 5/7 m/s."""
    radius, drop, e, duration = 0.1, 0.5, 0.5, 2.0
    first = math.sqrt(2.0 * drop / G)
    rolled = 5.0 / 7.0 * (duration - first)
    mechanism = unconnected(solid("ball", km.Sphere(radius)))
    end = {"ball_free.x": first + rolled, "ball_free.z": radius}
    told = "closed form: it grips where 2/7 m v ≤ μ (1 + e) m √(2 g h)"
    contact = km.Contact(surface=km.Surface(friction=0.5, restitution=e))
    return Case(
        "ball",
        "Ball that bounces and rolls, 2 s",
        told,
        mechanism,
        at((0, 0, radius + drop)),
        to((1, 0, 0)),
        duration,
        end,
        steps=_STEPS,
        contact=contact,
    )


def stack() -> Case:
    """Four cubes of 0.2 m and 1 kg stand on each other."""
    mechanism = unconnected(*(solid(f"cube{k}", CUBE) for k in range(4)))
    q = at(*((0.0, 0.0, 0.1 + 0.2 * k) for k in range(4)))
    end = dict(zip(mechanism.q_names, q, strict=True))
    contact = km.Contact(surface=km.Surface(friction=0.5))
    return Case(
        "stack", "Stack of four cubes, 1 s", "nothing moves", mechanism, q, np.zeros(24), 1.0, end,
        steps=_STEPS, contact=contact,
    )  # fmt: skip
