"""Sine and cosine within 2 ulp of the truth, for all arguments that a simulation meets."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kumitate.compile import Kernel
from kumitate.scalar import cos, sin, trace

from .lanes import LANES, run_with_lanes

mpmath = pytest.importorskip("mpmath")


def arguments() -> np.ndarray:
    """Over all sizes up to 1e5, and the neighbours of multiples of π/2, where the remainder cancels."""
    rng = np.random.default_rng(6)
    near = []
    for k in [*range(-8, 9), *rng.integers(-60_000, 60_000, 150)]:
        multiple = float(k * mpmath.pi / 2)
        near += [
            multiple,
            math.nextafter(multiple, math.inf),
            math.nextafter(multiple, -math.inf),
            multiple + 1e-9,
            multiple + math.pi / 4,
        ]
    spread = [*rng.uniform(-1e5, 1e5, 300), *rng.uniform(-10.0, 10.0, 300), *(10.0 ** rng.uniform(-300, 5, 100))]
    # the worst cases for remainders: doubles close to multiples of π/2 by continued fractions of π/2
    edge = [0.0, 1e-20, -1e-8, 0.5, 1.0, 355.0, 710.0 / 2, 103993.0 / 2, 22.0, 99999.999]
    x = np.array([*near, *spread, *edge])
    return x[np.abs(x) <= 1e5]


def ulps(value: float, exact) -> float:
    return float(abs(mpmath.mpf(value) - exact) / math.ulp(float(exact)))


@pytest.mark.parametrize("lanes", LANES)
def test_within_two_ulp(lanes):
    x = arguments()
    kernel = Kernel(trace(lambda a: [sin(a), cos(a)], {"a": ()}, "sincos"))
    (out,) = run_with_lanes(kernel, lanes, x)
    with mpmath.workprec(200):
        worst = max(
            (max(ulps(s, mpmath.sin(mpmath.mpf(a))), ulps(c, mpmath.cos(mpmath.mpf(a)))), a)
            for a, (s, c) in zip(x, out, strict=True)
        )
    assert worst[0] <= 2.0, f"{worst[0]:.2f} ulp at {worst[1]!r}"


def test_what_is_not_finite_gives_nan():
    kernel = Kernel(trace(lambda a: [sin(a), cos(a)], {"a": ()}, "sincos"))
    for a in (math.inf, -math.inf, math.nan):
        assert np.isnan(kernel(a)).all()
