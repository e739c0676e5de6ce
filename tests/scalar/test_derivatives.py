"""Derivatives of programs against complex steps and central differences, through every operation and block."""

from __future__ import annotations

import numpy as np
import pytest

from kumitate import scalar as s
from kumitate.compile import Kernel
from kumitate.scalar import TraceError, call, directional, evaluate, gradient, hessian, inlined_slopes, loop, table, trace

LINES = {
    "arithmetic": lambda x: x[0] * x[1] - x[2] / x[0] + (-x[1]) ** 3,
    "trigonometry": lambda x: s.sin(x[0]) * s.cos(x[1]) + s.arctan2(x[1], x[2]),
    "roots and exponentials": lambda x: s.sqrt(x[0] * x[0] + 1.0) + s.exp(-x[1]) * s.log(x[2] * x[2] + 0.5) + s.tanh(x[0]),
    "choices": lambda x: (
        s.minimum(x[0], x[1]) * s.maximum(x[1], x[2]) + s.absolute(x[0]) + s.select(x[0] < x[1], x[2] * x[2], x[0])
    ),
}


def looped(x):
    last, stack = loop(4, lambda i, c: (s.sin(c) * x[0] + table([1.0, 2.0, 0.5, -1.0])[i] * i_value(i), c * x[1]), x[2])
    return last + loop(4, lambda i, c: (c + stack[3 - i] * x[0], None), 0.0)[0]


def i_value(i):
    return i.value if isinstance(i, s.Index) else float(i)


def by_index(x):
    return loop(3, lambda i, c: (c + x[i] * x[2 - i] * c, None), x[0])[0]


def with_call(x):
    inner = trace(lambda a: [a[0] * s.sin(a[1]), a[0] / a[1]], {"a": 2}, "inner")
    u, w = call(inner, [x[0] * x[1], x[2]])
    return u * w + call(inner, [u, x[0]])[1]


def rarely(x):
    """`when` in both ways."""
    taken = s.when(x[2] > 0.0, lambda: [s.exp(x[2]) * x[0], x[1]], [x[0] * x[1], x[2]])
    return taken[0] * s.when(x[0] > 5.0, lambda: s.exp(x[1]), taken[1])


BLOCKS = {"loop": looped, "input by index": by_index, "call": with_call, "when": rarely}
POINTS = [np.array([0.4, -1.3, 0.8]), np.array([-1.1, 0.6, 1.9])]


def slopes(program: s.Program, x: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """By central differences of fourth order."""
    columns = []
    for e in np.eye(len(x)) * step:
        f = {k: np.array(evaluate(program, list(x + k * e))) for k in (-2, -1, 1, 2)}
        columns.append((f[-2] - 8.0 * f[-1] + 8.0 * f[1] - f[2]) / (12.0 * step))
    return np.array(columns).T


@pytest.mark.parametrize("name", [*LINES, *BLOCKS])
@pytest.mark.parametrize("point", range(len(POINTS)))
def test_directional(name, point):
    page, x = {**LINES, **BLOCKS}[name], POINTS[point]
    program = trace(lambda x: [page(x), x[0]], {"x": 3}, "page")
    forward = directional(program)
    assert [array.name for array in forward.inputs] == ["x", "x_dot"]
    for direction in (np.array([1.0, 0.0, 0.0]), np.array([0.3, -0.8, 1.7])):
        value, _, rate, rate_of_first = evaluate(forward, [*x, *direction])
        assert value == pytest.approx(evaluate(program, list(x))[0], rel=1e-14)
        assert rate == pytest.approx(slopes(program, x)[0] @ direction, rel=1e-8, abs=1e-9)
        assert rate_of_first == direction[0]


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("point", range(len(POINTS)))
def test_gradient_and_hessian(name, point):
    x = POINTS[point]
    program = trace(lambda x: LINES[name](x), {"x": 3}, "page")
    reverse = gradient(program, "x")
    np.testing.assert_allclose(evaluate(reverse, list(x)), slopes(program, x)[0], rtol=1e-8, atol=1e-9)
    second = np.array(evaluate(hessian(program, "x"), list(x))).reshape(3, 3)
    np.testing.assert_allclose(second, slopes(reverse, x), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(second, second.T, rtol=1e-12, atol=1e-14)


def test_a_hole_is_differentiated_as_what_fills_it():
    inner = trace(lambda a: [a[0] * s.sin(a[1])], {"a": 2}, "inner")
    hole = s.Hole.of("law", inner.inputs, inner.outputs)
    program = trace(lambda x: [x[0] + call(hole, [x[0], x[1]])[0]], {"x": 2}, "outer")
    found = evaluate(directional(program, {"law": inner}), [0.7, 0.3, 1.0, 2.0])
    assert found == pytest.approx([0.7 + 0.7 * np.sin(0.3), 1.0 + np.sin(0.3) + 1.4 * np.cos(0.3)], rel=1e-15)
    with pytest.raises(TraceError, match="'law'"):
        directional(program)


def test_gradient_by_one_of_several_inputs():
    program = trace(lambda a, b: a[0] * b[1] + s.sin(b[0]), {"a": 1, "b": 2}, "two")
    assert evaluate(gradient(program, "b"), [2.0, 0.0, 5.0]) == [1.0, 2.0]


def test_a_rate_that_is_not_chosen_may_be_infinite():
    program = trace(lambda x: s.select(x[0] < 9.0, x[1], s.sqrt(s.maximum(x[0] - 9.0, 0.0))), {"x": 2}, "chosen")
    assert Kernel(directional(program))([1.0, 2.0], [3.0, 4.0]) == (2.0, 4.0)


def test_what_cannot_be_differentiated_is_refused():
    vector = trace(lambda x: [x[0], x[1]], {"x": 2}, "vector")
    with pytest.raises(TraceError, match="vector has 2 outputs"):
        gradient(vector, "x")
    with pytest.raises(TraceError, match="first has no input 'y'; there are x"):
        gradient(trace(lambda x: x[0], {"x": 2}, "first"), "y")
    with pytest.raises(TraceError, match="use `directional`"):
        gradient(trace(lambda x: loop(3, lambda i, c: (c * x[1], None), x[0])[0], {"x": 2}, "looped"), "x")
    stopping = trace(lambda x: loop(3, lambda i, c: (c * x[1], None), x[0], while_=lambda c: c < 9.0)[0], {"x": 2}, "stopping")
    with pytest.raises(TraceError, match="stops early"):
        directional(stopping)


@pytest.mark.parametrize("name", LINES)
def test_slopes_of_a_straight_line_inlined_are_its_gradient(name):
    program, x = trace(lambda x: [LINES[name](x)], {"x": 3}, "line"), [0.4, 0.7, 1.2]
    found = inlined_slopes(program, [x], [[unit] for unit in np.eye(3).tolist()])
    np.testing.assert_allclose(np.ravel(found), evaluate(gradient(program, "x"), x), rtol=1e-14)
    with pytest.raises(ValueError, match="longer"):
        inlined_slopes(program, [x, x], [[x]])
