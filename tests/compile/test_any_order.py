"""Loops whose passes may be computed in any order: eight at a time for one state, one after the other for a batch."""

from __future__ import annotations

import numpy as np
import pytest

from kumitate.compile import Kernel
from kumitate.scalar import call, evaluate, loop, sin, table, trace

from .lanes import LANES, run_with_lanes

SIZE = 40


def passes(count: int):
    """A loop that reads inputs, tables, its counter and other loops by index, and more inputs than there are registers."""
    numbers = table([0.1 * k * k - 1.0 for k in range(2 * count)])

    def page(x, y):
        _, squares = loop(count, lambda i, _: (None, [x[i] * x[i], y[0] - x[i]]), None)
        _, running = loop(count, lambda i, c: (0.5 * c + x[i], c), y[1])  # its passes have an order

        def body(i, _):
            far = x[SIZE - 1 - i] + x[i + 1] * numbers[i * 2] + (i * 3 + 1).value
            return None, {
                "far": far * numbers[i],
                "near": squares[i][0] + squares[(count - 1) - i][1] + running[i] * sin(y[2]),
                "held": sum((y[k] * float(k + 1) for k in range(20)), 0.0) * x[i],
            }

        _, kept = loop(count, body, None)
        far, near, held = ([kept[i][name] for i in range(count)] for name in ("far", "near", "held"))
        return {"far": far, "some": near[2:], "backward": held[::-1], "twice": far[:4], "ends": [running[count - 1], near[0]]}

    return trace(page, {"x": SIZE, "y": 20}, f"passes{count}")


@pytest.mark.parametrize("count", [8, 9, 12, 16, 19])
def test_passes_in_any_order(count):
    """Every count, whole blocks or not, gives the same bits at every width, called or not, and what evaluation gives."""
    program, rng = passes(count), np.random.default_rng(count)
    called = trace(lambda x, y: call(program, [2.0 * e for e in x], y), {"x": SIZE, "y": 20}, "called")
    x, y = rng.normal(size=(8, SIZE)), rng.normal(size=(8, 20))
    for traced in (program, called):
        expected = [evaluate(traced, [*p, *r]) for p, r in zip(x, y, strict=True)]
        found = [np.hstack(run_with_lanes(Kernel(traced), lanes, x, y)) for lanes in LANES]
        np.testing.assert_allclose(found[0], expected, rtol=1e-13, atol=1e-13)
        assert all(np.array_equal(rows, found[0]) for rows in found)


def test_a_loop_over_columns_is_computed_in_vectors_for_one_state():
    def page(x):
        _, products = loop(16, lambda i, _: (None, x[i] * x[i + 16]), None)
        return [products[i] for i in range(16)]

    kernel = Kernel(trace(page, {"x": 32}, "products"))
    assert "fmul <8 x double>" in kernel.source("llvm", 1)


@pytest.mark.parametrize("lanes", LANES)
def test_many_results_of_calls_are_read_from_memory(lanes):
    """One call's results stay where they are when the next call makes its own."""
    many = trace(lambda x: [x[0] * float(k) + x[1] for k in range(100)], {"x": 2}, "many")

    def page(x):
        first, second = call(many, [x[0], x[1]]), call(many, [x[1], x[0]])
        return {"first": first, "mixed": [first[k] - second[k] for k in range(0, 100, 7)], "part": second[10:40]}

    x = np.random.default_rng(lanes).normal(size=(8, 2))
    first, mixed, part = run_with_lanes(Kernel(trace(page, {"x": 2}, "page")), lanes, x)
    k = np.arange(100.0)
    one, two = x[:, :1] * k + x[:, 1:], x[:, 1:] * k + x[:, :1]
    np.testing.assert_allclose(first, one, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(mixed, (one - two)[:, ::7], rtol=1e-13, atol=1e-12)
    np.testing.assert_allclose(part, two[:, 10:40], rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("count", [3, 4, 6])
def test_a_short_loop_reads_passes_of_a_long_one(count):
    def page(x):
        _, squares = loop(16, lambda i, _: (None, [x[i] * x[i], x[i + 1]]), None)
        _, found = loop(count, lambda i, _: (None, squares[i * 2 + 1][0] - squares[i + 5][1] * squares[3][1]), None)
        return [found[i] for i in range(count)]

    program, x = trace(page, {"x": SIZE}, f"short{count}"), np.random.default_rng(count).normal(size=(8, SIZE))
    expected = [evaluate(program, row) for row in x]
    for lanes in LANES:
        np.testing.assert_allclose(np.hstack(run_with_lanes(Kernel(program), lanes, x)), expected, rtol=1e-13, atol=1e-13)
