"""The linear inverted pendulum: the motion of the center of mass for a given zero-moment point.

A center of mass that stays at one height z above the floor, of a body that does not change its angular momentum, obeys
ẍ = ω²(x − p) with ω² = g/z, p being the zero-moment point (Kajita et al. 2003). Split into ξ = x + ẋ/ω, which diverges, and x,
which follows ξ, it has exactly one solution that stays with p: ξ̇ = ω(ξ − p) is solved backwards in time (Takenaka et al. 2009).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...errors import InputError


class MassCenterPlan(NamedTuple):
    """A horizontal motion of the center of mass: position [m], velocity [m/s], acceleration [m/s²], shaped like zmp."""

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


def mass_center_plan(times: Any, zmp: Any, height: float, gravity: float = 9.81) -> MassCenterPlan:
    """The bounded motion of the center of mass for a zero-moment point, exact for one that is piecewise linear.

    Args:
        times: (n,) [s], increasing; before the first and after the last the zero-moment point rests.
        zmp: p (n,) or (n, k) [m].
        height: z of the center of mass above the floor [m]; gravity: g > 0 [m/s²].

    Raises:
        InputError: if the times do not increase, shapes do not fit, or height and gravity are not positive.

    In the middle of a slow shift of p the center of mass is in the middle too; while p rests for long, it rests above p:

    >>> plan = mass_center_plan([0.0, 3.0, 4.0, 7.0], [0.0, 0.0, 0.1, 0.1], height=0.25)
    >>> [round(float(x), 6) for x in plan.position]
    [0.0, 0.007967, 0.092033, 0.1]
    """
    t, p = np.asarray(times, dtype=float), np.asarray(zmp, dtype=float)
    if t.ndim != 1 or len(t) < 2 or not (np.diff(t) > 0.0).all() or p.shape[:1] != t.shape:
        raise InputError(
            f"a zero-moment point of shape {p.shape} at times of shape {t.shape}; give increasing times, a row each"
        )
    if not (height > 0.0 and gravity > 0.0):
        raise InputError(f"the height is {height} m and gravity {gravity} m/s²; both must be positive")
    omega = float(np.sqrt(gravity / height))
    h = np.diff(t)
    lead = (np.diff(p, axis=0).T / (h * omega)).T  # ξ − p for a p of constant velocity
    decay = np.exp(-omega * h)
    ahead = np.empty_like(p)  # ξ
    ahead[-1] = p[-1]
    for k in reversed(range(len(h))):
        ahead[k] = p[k] + lead[k] + (ahead[k + 1] - p[k + 1] - lead[k]) * decay[k]
    x = np.empty_like(p)
    x[0] = 0.5 * (p[0] + ahead[0])  # the value if p has always been at rest
    for k in range(len(h)):
        away = ahead[k] - p[k] - lead[k]
        growing = 0.5 * (ahead[k + 1] - p[k + 1] - lead[k])
        x[k + 1] = p[k + 1] + growing + (x[k] - p[k] - 0.5 * away) * decay[k]
    return MassCenterPlan(x, omega * (ahead - x), omega**2 * (x - p))
