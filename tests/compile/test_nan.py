"""NaN of either operand is what `minimum` and `maximum` give, in every form of a program and in procedures.

SymPy alone refuses to compare NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kumitate as km
from kumitate.compile import Kernel
from kumitate.compile.exports import to_casadi
from kumitate.procedure import Floats, apply, over, procedure
from kumitate.scalar import TraceError, evaluate, maximum, minimum, trace

from .lanes import LANES, run_with_lanes
from .test_exports import compiled_c

NUMBERS = (np.nan, -np.inf, -1.0, 0.5, 2.0, np.inf)
PAIRS = np.array([(a, b) for a in NUMBERS for b in NUMBERS])
NAN = float("nan")


def extremes(x: Any) -> list[Any]:
    a, b = x[0], x[1]
    return [minimum(a, b), maximum(a, b), minimum(a, 1.0), maximum(1.0, b), minimum(maximum(a, -1.0), b * b), maximum(NAN, a)]


A, B = PAIRS.T
# NumPy's functions keep NaN
EXPECTED = np.column_stack(
    [np.minimum(A, B), np.maximum(A, B), np.minimum(A, 1.0), np.maximum(1.0, B), np.minimum(np.maximum(A, -1.0), B * B),
     np.full(len(A), NAN)]
)  # fmt: skip
PROGRAM = trace(extremes, {"x": 2}, "extremes")


@procedure
def written(x: Floats[2], y: Floats[6]) -> None:
    for k in range(len(x)):
        a, b = x[k, 0], x[k, 1]
        y[k, 0], y[k, 1] = minimum(a, b), maximum(a, b)
        y[k, 2], y[k, 3] = minimum(a, 1.0), maximum(1.0, b)
        y[k, 4], y[k, 5] = minimum(maximum(a, -1.0), b * b), maximum(NAN, a)


@procedure
def called(x: Floats[2], y: Floats[6]) -> None:
    for k in range(len(x)):
        apply(PROGRAM, x[k], y[k])


@procedure
def called_for_all(x: Floats[2], y: Floats[6]) -> None:
    over(PROGRAM, len(x), x, y)


def by_procedure(call: Callable[..., None]) -> np.ndarray:
    y = np.zeros_like(EXPECTED)
    call(PAIRS.copy(), y)
    return y


def by_casadi() -> list[Any]:
    function = to_casadi(PROGRAM)
    return [np.array(function(pair)).ravel() for pair in PAIRS]


ROUTES: dict[str, Callable[[], Any]] = {
    "floats": lambda: [extremes(pair) for pair in PAIRS.tolist()],
    "arrays": lambda: np.column_stack([km.minimum(A, B), km.maximum(A, B), EXPECTED[:, 2:]]),
    "reference": lambda: [evaluate(PROGRAM, pair) for pair in PAIRS.tolist()],
    "portable": lambda: Kernel(PROGRAM, portable=True)(PAIRS),
    "single precision": lambda: Kernel(PROGRAM, np.float32)(PAIRS),
    **{f"{lanes} lanes": lambda lanes=lanes: run_with_lanes(Kernel(PROGRAM), lanes, PAIRS)[0] for lanes in LANES},
    "CasADi": by_casadi,
    **{
        f"{name}, {page.__name__}": lambda page=page, form=form: by_procedure(form(page))
        for page in (written, called, called_for_all)
        for name, form in (("as written", lambda page: page.plain), ("compiled", lambda page: page))
    },
}


@pytest.mark.parametrize("route", ROUTES)
def test_nan_of_either_operand_is_kept(route):
    np.testing.assert_array_equal(np.array(ROUTES[route](), dtype=float), EXPECTED)


def test_so_does_c(tmp_path: Path):
    run = compiled_c(PROGRAM, tmp_path)
    np.testing.assert_array_equal([run([pair])[0] for pair in PAIRS], EXPECTED)


def test_numpy_s_own_functions_mean_the_same_where_they_are_traced():
    program = trace(lambda x: np.array([np.minimum(x[0], x[1]), np.maximum(x[0], x[1])]), {"x": 2}, "by NumPy")
    np.testing.assert_array_equal(Kernel(program)(PAIRS), EXPECTED[:, :2])
    with pytest.raises(TraceError, match=r"np\.fmin cannot be traced"):  # it leaves NaN out
        trace(lambda x: [np.fmin(x[0], x[1])], {"x": 2})
