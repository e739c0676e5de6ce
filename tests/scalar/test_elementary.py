"""Own functions of mathematics: within 2 ulp of the truth, and the same bits as machine code at every number of lanes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from kumitate import scalar
from kumitate.compile import Kernel
from kumitate.scalar import evaluate, trace
from kumitate.scalar.elementary import PORTABLE, elementary

from ..compile.lanes import LANES, run_with_lanes

mpmath = pytest.importorskip("mpmath")

INFINITE = math.inf


def _angles(rng: np.random.Generator) -> Iterator[float]:
    """Up to 1e6, and the neighbours of multiples of π/2, where the remainder cancels."""
    yield from (*rng.uniform(-1e6, 1e6, 300), *rng.uniform(-10.0, 10.0, 600), *(10.0 ** rng.uniform(-300, 5, 100)))
    for k in [*range(-8, 9), *rng.integers(-600_000, 600_000, 150).tolist()]:
        multiple = float(k * mpmath.pi / 2)
        yield from (multiple, math.nextafter(multiple, INFINITE), math.nextafter(multiple, -INFINITE))


def _single(*parts: np.ndarray) -> list[tuple[float]]:
    return [(x,) for part in parts for x in part.tolist()]


ARGUMENTS: dict[str, Callable[[np.random.Generator], list]] = {
    "sin": lambda rng: [(x,) for x in _angles(rng)],
    "cos": lambda rng: [(x,) for x in _angles(rng)],
    "exp": lambda rng: _single(rng.uniform(-745.1, 709.7, 600), rng.uniform(-2.0, 2.0, 600), np.array([-1e-300, 0.0])),
    "log": lambda rng: _single(rng.uniform(0, 9, 500), rng.uniform(0.9, 1.1, 400), 10.0 ** rng.uniform(-323, 308, 500)),
    "tanh": lambda rng: _single(rng.uniform(-30, 30, 400), rng.uniform(-2, 2, 900), 10.0 ** rng.uniform(-300, 0, 100)),
    "atan2": lambda rng: [
        *rng.normal(size=(900, 2)).tolist(),
        *(rng.normal(size=(400, 2)) * 10.0 ** rng.uniform(-100, 100, (400, 2))).tolist(),
    ],
}


def ulps(value: float, exact) -> float:
    rounded = float(exact)
    return 0.0 if value == rounded else float(abs(mpmath.mpf(value) - exact) / math.ulp(rounded))


@pytest.mark.parametrize("name", ARGUMENTS)
def test_within_two_ulp(name):
    program, k = elementary(name)
    with mpmath.workprec(200):
        worst = max(
            (
                ulps(evaluate(program, given)[k], getattr(mpmath, name)(*map(mpmath.mpf, given))),
                *given,
            )
            for given in ARGUMENTS[name](np.random.default_rng(6))
        )
    assert worst[0] <= 2.0, worst


@pytest.mark.parametrize("name", ARGUMENTS)
def test_machine_code_gives_the_bits_of_the_program(name):
    """At every number of lanes; also of zeros, infinities and NaN."""
    program, k = elementary(name)
    special = [-INFINITE, -1.0, 0.0, 1.0, INFINITE, math.nan]
    given = [list(row) for row in ARGUMENTS[name](np.random.default_rng(7))[::5]]
    count = len(given[0])
    given += [[a, b][:count] for a in special for b in special]
    function = getattr(scalar, name.replace("atan2", "arctan2"))
    calling = trace(lambda x: [function(*(x[k] for k in range(count)))], {"x": count}, name)
    expected = [evaluate(program, row)[k] for row in given]
    assert np.array_equal([evaluate(calling, row, PORTABLE)[0] for row in given], expected, equal_nan=True)
    for lanes in LANES:
        (found,) = run_with_lanes(Kernel(calling, portable=True), lanes, np.array(given))
        np.testing.assert_array_equal(found[:, 0], expected, err_msg=f"{lanes} lanes")


def test_ends():
    """What is not finite, and beyond what a number holds."""
    for name, given, expected in (
        ("exp", 710.0, INFINITE), ("exp", -746.0, 0.0), ("exp", -INFINITE, 0.0), ("log", 0.0, -INFINITE),
        ("log", -1.0, math.nan),
        ("log", INFINITE, INFINITE), ("tanh", -INFINITE, -1.0), ("sin", INFINITE, math.nan), ("cos", math.nan, math.nan),
        ("exp", 0.0, 1.0), ("log", 1.0, 0.0), ("sin", 0.0, 0.0), ("log", 5e-324, math.log(5e-324)),
    ):  # fmt: skip
        np.testing.assert_equal(PORTABLE[name](given), expected, err_msg=f"{name} {given}")
    for y, x in (
        (0.0, 0.0),
        (0.0, -1.0),
        (-1.0, 0.0),
        (1.0, INFINITE),
        (-1.0, -INFINITE),
        (INFINITE, INFINITE),
        (math.nan, 1.0),
    ):
        np.testing.assert_equal(PORTABLE["atan2"](y, x), math.atan2(y, x), err_msg=f"atan2 {y} {x}")
