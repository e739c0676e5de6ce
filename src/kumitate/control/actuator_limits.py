"""Limits of torque, velocity and position around a controller; traceable."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..model import Mechanism
from ..model.bounds import position_limits
from ..model.values import BOUND, NOT_NEGATIVE, POSITIVE, checked_array, checked_number
from ..scalar import arrays, maximum
from .controllers import Controller, mechanism_of
from .paths import blend, smooth_clamp


def limited(robot: Any, controller: Controller, *, limits: Any = None, smooth: bool = False) -> Controller:
    """The controller with its forces kept within ±limits [N·m, N].

    Args:
        limits: one for all, or (nv); by default the joints' `Limits.effort`, unlimited where it is not given.
        smooth: saturate smoothly near the limit (`smooth_clamp`) instead of cutting off at it.

    Raises:
        InputError: if a limit is not positive.
    """
    mechanism = mechanism_of(robot)
    bounds = _bounds(mechanism, "effort", limits)
    free, finite = np.isinf(bounds), np.where(np.isinf(bounds), 1.0, bounds)

    def law(t: Any, q: Any, v: Any) -> Any:
        tau = np.asarray(controller(t, q, v))
        kept = smooth_clamp(tau, finite) if smooth else arrays.maximum(-finite, arrays.minimum(finite, tau))
        return np.where(free, tau, kept)

    return law


def speed_limited(robot: Any, controller: Controller, *, limits: Any = None, margin: float = 0.1) -> Controller:
    """The controller with forces that would accelerate a joint beyond ±limits [rad/s, m/s] faded out, as drives do.

    Forces along the velocity fall from full to zero over the last `margin` of the limit, by a fifth-order step; forces
    against it are unchanged. Other forces on the joint can still carry it beyond.

    Args:
        limits: one for all, or (nv); by default the joints' `Limits.velocity`, unlimited where it is not given.

    Raises:
        InputError: if a limit is not positive, or `margin` is not between 0 and 1.
    """
    mechanism = mechanism_of(robot)
    bounds = _bounds(mechanism, "velocity", limits)
    if not 0.0 < margin <= 1.0:
        raise InputError(f"margin is {margin}; it is a fraction of the limit, above 0 and up to 1")
    free, finite = np.isinf(bounds), np.where(np.isinf(bounds), 1.0, bounds)

    def law(t: Any, q: Any, v: Any) -> Any:
        tau, speed = np.asarray(controller(t, q, v)), np.asarray(v) / finite
        forward = np.array([maximum(0.0, x) for x in tau.tolist()])
        backward = tau - forward
        kept = forward * blend(speed, 1.0, 1.0 - margin) + backward * blend(-speed, 1.0, 1.0 - margin)
        return np.where(free, tau, kept)

    return law


def joint_stops(robot: Any, *, stiffness: Any, damping: Any = 0.0, width: float = 0.01) -> Controller:
    """Springs and dampers that push joints back into their position limits; add it to a controller by `total`.

    For simulations with `limits=False`: joints otherwise stop at their limits without give.

    The damping sets in over the first `width` [rad, m] beyond the limit, so that the force has no jump. Joints without
    limits, and those whose coordinates are not angles or lengths, have no stops.

    Args:
        stiffness: [N·m/rad, N/m], one for all or (nv); damping: [N·m·s/rad, N·s/m], likewise.

    Raises:
        InputError: if one of them is negative, or the width is not positive.
    """
    mechanism = mechanism_of(robot)
    k, d = (
        checked_array(mechanism.name, f"the {what} of joint stops", x, (mechanism.nv,), NOT_NEGATIVE)
        for what, x in (("stiffness", stiffness), ("damping", damping))
    )
    width = checked_number(mechanism.name, "the width of joint stops", width, POSITIVE, error=InputError)
    stops = list(position_limits(mechanism))

    def law(t: Any, q: Any, v: Any) -> Any:
        tau: list[Any] = [0.0] * mechanism.nv
        for i, j, lower, upper in stops:
            for bound, sign in ((upper, 1.0), (lower, -1.0)):
                if np.isfinite(bound):
                    over = maximum(0.0, sign * (q[i] - bound))
                    tau[j] = tau[j] - (sign * float(k[j]) * over + float(d[j]) * blend(over, 0.0, width) * v[j])
        return np.array(tau)

    return law


def _bounds(mechanism: Mechanism, what: str, given: Any) -> np.ndarray:
    """The bounds (nv), infinite where none is given."""
    if given is None:
        said = [getattr(limit, what) for joint in mechanism.joints for limit in joint.limits]
        bounds = np.array([np.inf if x is None else x for x in said], dtype=float)
    else:
        bounds = checked_array(mechanism.name, f"the limit of {what}", given, (mechanism.nv,), BOUND)
    if not (bounds > 0.0).all():
        worst = int(np.argmin(np.nan_to_num(bounds, nan=-np.inf)))
        raise InputError(
            f"{mechanism.name}: the limit of {what} of {mechanism.v_names[worst]!r} is {bounds[worst]}; it must be positive"
        )
    return bounds
