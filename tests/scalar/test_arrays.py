"""NumPy's functions on traced values give what they give on numbers."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.scalar import TraceError, evaluate, trace
from kumitate.scalar.arrays import SymbolArray

MATRIX = np.arange(9.0).reshape(3, 3) - 4.0


def written(array, k, value):
    array[k] = value
    return array


FUNCTIONS = {
    "clip": lambda x: np.clip(x, -0.5, [0.1, 0.2, 0.3]),
    "clip of one": lambda x: [np.clip(x[0], -0.3, 0.3), np.clip(x[1], a_min=None, a_max=0.1)],
    "clip as a method": lambda x: x.clip(-0.1, 0.1),
    "where": lambda x: np.where(x > 0.0, x, 2.0 * x),
    "where of one": lambda x: [np.where((x[0] > 0.0) & (x[1] < 0.5), 1.0, x[1])],
    "where of constants": lambda x: np.where([True, False, True], x, 0.0),
    "conditions": lambda x: np.where(~((x >= x[::-1]) | (x < -0.2)), 1.0, 0.0),
    "any and all": lambda x: [np.where(np.any(x > 0.0), 1.0, 0.0), np.where(np.all(x > -0.5), 1.0, 0.0)],
    "minimum": lambda x: np.minimum(x, 0.1),
    "extremes": lambda x: [np.minimum(x[0], 0.1), np.maximum(x[1], x[2]), x.max(), np.min(x)],
    "sign": lambda x: [*np.sign(x), np.sign(0.0 * x[0])],
    "absolute": lambda x: [*np.abs(x), abs(x[0])],
    "products": lambda x: [np.dot(x, x), x @ x, x @ MATRIX[0], np.prod(x), np.linalg.norm(x), *np.linalg.norm([x, x], axis=1)],
    "matrices": lambda x: MATRIX @ x + np.cross(x, MATRIX[1]) + np.einsum("i,ij->j", x, MATRIX),
    "joined": lambda x: np.concatenate([x[:2], [1.0], [x[2]], np.stack([x[0], x[1]]), np.hstack([x[0], 2.0])]),
    "moved": lambda x: [*np.roll(x, 1), *np.cumsum(x), *np.diff(x), *np.tile(x, 2), *np.append(x, x[0])],
    "NumPy's numbers": lambda x: [np.float64(2.0) * x[0], x[0] * np.float64(3.0), np.float64(1) - x[1], np.float64(2) / x[2]],
    "arrays times one": lambda x: MATRIX[0] * x[0] + x[1] * np.ones(3),
    "angles": lambda x: [np.sin(x[0]), np.tan(x[1]), np.arctan2(x[0], x[1]), np.arctan2(0.5, x[0]), np.deg2rad(x[0])],
    "inverse angles": lambda x: [np.arcsin(0.1 * x[0]), np.arccos(0.1 * x[1]), np.arctan(x[2]), np.hypot(x[0], x[1])],
    "hyperbolic": lambda x: [np.sinh(x[0]), np.cosh(x[1]), np.tanh(x[2]), np.exp(x[0]), np.log(2.0 + np.square(x[1]))],
    "numbers among symbols": lambda x: np.sin(np.concatenate([x, [0.3]])),
    "powers": lambda x: [*(x**2), np.power(x[0], 3), np.sqrt(1.0 + x[0] * x[0])],
    "written to": lambda x: written(np.zeros_like(x), 1, 2.0 * x[0]),
    "ones and full": lambda x: [*written(np.ones_like(x), 0, x[1]), *np.full_like(x, 3.0)],
    "km.zeros": lambda x: written(km.zeros(3), 2, x[0]),
    "km's own": lambda x: [*km.clip([x[0], 0.5], -0.2, 0.2), km.minimum(x[0], 0.1), km.maximum(0.1, x[1]), km.sign(x[2])],
    "km.where": lambda x: km.where([x[0] > 0.1, True, x[1] <= x[2]], [1.0, 2.0, 3.0], np.array([x[2], x[1], 0.5])),
}  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_functions_of_numpy_give_for_symbols_what_they_give_for_numbers(function):
    program = trace(lambda x: list(np.asarray(function(SymbolArray(x)))), {"x": 3})
    rng = np.random.default_rng(4)
    for x in rng.normal(size=(5, 3)):
        np.testing.assert_allclose(evaluate(program, list(x)), np.ravel(function(x)), rtol=1e-13, atol=1e-15, err_msg=str(x))


def test_kumitates_own_take_numbers_as_numpy_does():
    x = np.array([-2.0, 0.0, 3.0])
    np.testing.assert_array_equal(km.clip(x, -1.0, 1.0), np.clip(x, -1.0, 1.0))
    np.testing.assert_array_equal(km.where(x > 0.0, x, 0.0), np.where(x > 0.0, x, 0.0))
    np.testing.assert_array_equal(km.sign(x), np.sign(x))
    assert km.zeros((2, 3)).dtype == float
    assert km.zeros((2, 3)).shape == (2, 3)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: written(np.zeros(3), 0, x[0]), "cannot be converted to a float"),
        (lambda x: np.add(np.ones(3), x, out=np.zeros(3)), r"written into an array of float64.*np\.zeros_like.*km\.zeros"),
        (lambda x: np.floor(x), r"np\.floor cannot be traced"),
        (lambda x: np.where(x > 0.0), r"np\.where\(condition\) alone cannot be traced"),
        (lambda x: x if x[0] == 0.3 else -x, r"equal to another is not known yet.*np\.equal"),
        (lambda x: x if (x > 0.0).any() else -x, r"no truth value.*km\.where"),
    ],
)  # fmt: skip
def test_what_cannot_be_traced_says_what_to_write_instead(function, words):
    with pytest.raises(TraceError, match=words):
        trace(lambda x: list(function(SymbolArray(x))), {"x": 3})
