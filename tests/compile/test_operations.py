"""Every operation and every block, compiled at 1, 2, 4 and 8 lanes, against evaluation on floats."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kumitate import scalar as s
from kumitate.compile import Kernel
from kumitate.scalar.operations import FLOAT

from .lanes import LANES, run_with_lanes
from .test_exports import compiled_c

ONE, ZERO = 1.0, 0.0


def flag(condition):
    return s.select(condition, ONE, ZERO)


OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a, b: -a,
    "power": lambda a, b: a**3 + b**-2,
    "sqrt": lambda a, b: s.sqrt(s.absolute(a)),
    "sin": lambda a, b: s.sin(a),
    "cos": lambda a, b: s.cos(a),
    "exp": lambda a, b: s.exp(a),
    "log": lambda a, b: s.log(s.absolute(b)),
    "tanh": lambda a, b: s.tanh(a),
    "atan2": lambda a, b: s.arctan2(a, b),
    "abs": lambda a, b: s.absolute(a),
    "min": lambda a, b: s.minimum(a, b),
    "max": lambda a, b: s.maximum(a, b),
    "lt": lambda a, b: flag(a < b),
    "le": lambda a, b: flag(a <= b),
    "gt": lambda a, b: flag(a > b),
    "ge": lambda a, b: flag(a >= b),
    "eq": lambda a, b: flag(s.equal(a, b)),
    "and": lambda a, b: flag(s.both(a < b, a < 0.0)),
    "or": lambda a, b: flag(s.either(a < b, a < 0.0)),
    "not": lambda a, b: flag(~(a < b)),
}
VALUES = [(a, b) for a in (-2.5, -1.0, 0.0, 0.5, 1.0, 3.0) for b in (-2.0, -1.0, 0.5, 1.0, 7.0)]


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_operation(name, lanes):
    operation = OPERATIONS[name]
    program = s.trace(lambda x: [operation(x[0], x[1])], {"x": 2}, name)
    (compiled,) = run_with_lanes(Kernel(program), lanes, np.array(VALUES))
    expected = [s.evaluate(program, pair)[0] for pair in VALUES]
    np.testing.assert_allclose(compiled[:, 0], expected, rtol=4 * np.finfo(float).eps, atol=1e-300)


SPECIAL = (math.nan, -math.inf, -2.5, 0.0, 1.0, math.inf)


def defined(program, pair):
    """What the reference gives, or None where Python's own function refuses."""
    try:
        return s.evaluate(program, pair)
    except (ValueError, ZeroDivisionError, OverflowError):
        return None


def test_every_form_means_the_same_for_nan_and_infinities(tmp_path):
    """The reference, machine code and C: all read the same rows of the table."""
    programs = [s.trace(lambda x, f=f: [f(x[0], x[1])], {"x": 2}, "one") for f in OPERATIONS.values()]
    program = s.trace(lambda x: [f(x[0], x[1]) for f in OPERATIONS.values()], {"x": 2}, "all_operations")
    pairs = [(a, b) for a in SPECIAL for b in SPECIAL]
    run = compiled_c(program, tmp_path)
    forms = [Kernel(program)(np.array(pairs)), [Kernel(program, portable=True)(np.array(pair)) for pair in pairs],
             [run([np.array(pair)])[0] for pair in pairs]]  # fmt: skip
    for k, one in enumerate(programs):
        for row, pair in enumerate(pairs):
            expected = defined(one, pair)
            if expected is not None:
                for form in forms:
                    np.testing.assert_allclose(
                        form[row][k], expected[0], rtol=4 * np.finfo(float).eps, err_msg=f"{one} of {pair}"
                    )


def test_every_operation_is_among_them():
    traced = [s.trace(lambda x, f=f: [f(x[0], x[1])], {"x": 2}).operations for f in OPERATIONS.values()]  # type: ignore[misc]
    assert set(FLOAT) == set().union(*traced)


def ordinal(i):
    return i.value if isinstance(i, s.Index) else float(i)


def fibonacci(x):
    last, _ = s.loop(4, lambda i, c: ({"a": c["b"], "b": c["a"] + c["b"]}, None), {"a": x[0], "b": x[1]})
    return list(last.values())


BLOCKS = {
    "carry": lambda x: s.loop(5, lambda i, c: (0.5 * c + x[1], None), x[0])[0],
    "carry of a structure": fibonacci,
    "two carried values swapped": lambda x: list(s.loop(3, lambda i, c: ((c[1], c[0]), None), (x[0], x[1]))[0]),
    "ordinal": lambda x: s.loop(6, lambda i, c: (c + ordinal(i * 2 + 1) * x[0], None), x[1])[0],
    "input by index": lambda x: s.loop(3, lambda i, c: (c + x[i] * x[3 - i], None), ZERO)[0],
    "table": lambda x: s.loop(4, lambda i, c: (c * s.table([0.5, -2.0, 3.0, 0.25])[i] + x[0], None), x[1])[0],
    "table backwards": lambda x: s.loop(4, lambda i, c: (c * s.table([0.5, -2.0, 3.0, 0.25])[3 - i] + x[0], None), x[1])[0],
    "once": lambda x: s.loop(1, lambda i, c: (c + x[i], None), x[1])[0],
    "invariant code": lambda x: s.loop(3, lambda i, c: (c + s.sin(x[0]) * x[1], None), x[2])[0],
    "a constant that stays": lambda x: s.loop(3, lambda i, c: ([c[0] + c[1] * x[0], c[1]], None), [x[1], 2.0])[0],
    "a constant that varies": lambda x: s.loop(3, lambda i, c: ([c[0] + c[1], c[1] + x[0]], None), [x[1], 0.0])[0],
}  # fmt: skip


def stacked(x):
    _, stack = s.loop(4, lambda i, c: (c * x[0], [c, x[i] + c]), x[1])
    again, _ = s.loop(4, lambda i, c: (c + stack[3 - i][1] * stack[i][0], None), ZERO)
    return [again, stack[0][0], stack[3][1], stack[-1][1]]


def nested(x):
    def outer(i, c):
        inner, stack = s.loop(3, lambda j, d: (d + x[j] * c + x[i], d), c)
        total, _ = s.loop(3, lambda j, d: (d + stack[2 - j] * x[i], None), inner)
        return 0.1 * total, inner

    last, stack = s.loop(4, outer, x[0])
    return [last, stack[1], s.loop(4, lambda i, c: (c + stack[i], None), ZERO)[0]]


def early(x):
    return list(
        s.loop(20, lambda i, c: ((c[0] * 0.7, c[1] + 1.0), None), (s.absolute(x[0]), ZERO), while_=lambda c: c[0] > 0.3)[0]
    )


def called(x):
    square = s.trace(lambda a: [a[0] * a[0] + a[1]], {"a": 2}, "square")
    twice = s.trace(
        lambda a, b: {"u": s.call(square, [a[0], b])[0], "v": [s.call(square, [b, a[1]])[0], b]}, {"a": 2, "b": ()}, "twice"
    )

    def body(i, c):
        out = s.call(twice, [c, x[i]], x[1])
        return s.tanh(out["u"]), out["v"]

    last, stack = s.loop(3, body, x[0])
    return [last, stack[0][0], stack[2][0], s.call(twice, [last, x[2]], x[0])["u"]]


def nested_early(x):
    def outer(i, c):
        inner = s.loop(9, lambda j, d: (d * 0.6, None), c + 2.0, while_=lambda d: d > 0.5)[0]
        return inner + x[i], None

    return s.loop(4, outer, s.absolute(x[0]), while_=lambda c: c < 2.5)[0]


BLOCKS |= {"stack": stacked, "nested": nested, "while": early, "calls": called, "nested while": nested_early}


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("name", BLOCKS)
def test_block(name, lanes):
    def listed(x):
        out = BLOCKS[name](x)
        return out if isinstance(out, list) else [out]

    states = np.random.default_rng(5).uniform(-2.0, 2.0, (13, 4))
    program = s.trace(listed, {"x": 4}, "block")
    on_floats = np.array([listed(list(map(float, row))) for row in states])
    evaluated = np.array([s.evaluate(program, list(row)) for row in states])
    (compiled,) = run_with_lanes(Kernel(program), lanes, states)
    np.testing.assert_allclose(evaluated, on_floats, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(compiled, evaluated, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("lanes", LANES)
def test_lanes_stop_at_different_passes(lanes):
    def count(x):
        return [s.loop(50, lambda i, c: (c + 1.0, None), x[1], while_=lambda c: c < x[0])[0]]

    program = s.trace(count, {"x": 2})
    limits = np.array([[float(k), 0.0] for k in (0, 7, 3, 49, 50, 60, -5, 1, 12)])
    (compiled,) = run_with_lanes(Kernel(program), lanes, limits)
    np.testing.assert_array_equal(compiled[:, 0], np.clip(limits[:, 0], 0.0, 50.0))


@pytest.mark.parametrize("lanes", LANES)
def test_a_stack_larger_than_the_processors_stack_goes_to_the_heap(lanes):
    def long(x):
        _, stack = s.loop(30_000, lambda i, c: (c + x[0], [c, -c]), ZERO)
        return [s.loop(30_000, lambda i, c: (c + stack[29_999 - i][0] + 2.0 * stack[i][1], None), ZERO)[0]]

    program = s.trace(long, {"x": 1}, "long")
    (compiled,) = run_with_lanes(Kernel(program), lanes, np.arange(9.0)[:, None])
    np.testing.assert_allclose(compiled[:, 0], -np.arange(9.0) * 30_000 * 29_999 / 2, rtol=1e-10)


def test_infinities_and_nan_pass_through():
    program = s.trace(lambda x: [x[0] + x[1], x[0] * x[1], s.sqrt(x[0]), s.absolute(x[1])], {"x": 2}, "edges")
    kernel = Kernel(program)
    for row in ([math.inf, 1.0], [math.nan, 2.0], [-1.0, math.inf], [math.inf, -math.inf]):
        out = kernel(np.array(row))
        with np.errstate(invalid="ignore"):
            a, b = np.float64(row[0]), np.float64(row[1])
            np.testing.assert_array_equal(out, [a + b, a * b, np.sqrt(a), np.abs(b)])
