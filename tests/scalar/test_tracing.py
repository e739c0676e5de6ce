"""Tracing: shapes in and out, loops on floats and traced, listings, counts, and what a symbol must not be asked."""

from __future__ import annotations

import math
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import pytest

from kumitate import scalar as s
from kumitate.scalar import TraceError, call, evaluate, loop, table, trace, when


# --- what only a number has ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: [x[0] if x[0] > 0.0 else 0.0], r"no truth value.*km\.where.*scalar\.select"),
        (lambda x: [x[0] and x[1]], "no truth value"),
        (lambda x: [max(x[0], x[1])], "no truth value"),
        (lambda x: [math.sin(x[0])], "cannot be converted to a float: use NumPy's functions instead of math's"),
        (lambda x: [float(x[0])], "cannot be converted to a float"),
        (lambda x: [[1.0, 2.0][x[0]]], "cannot be converted to a float"),
        (lambda x: [2.0 ** x[0]], None),
        (lambda x: [x[0] ** x[1]], r"only constant exponents.*exp\(y\*log\(x\)\)"),
        (lambda x: [[x[0], x[1]], [x[0]]], "rows of different shapes"),
    ],
)
def test_what_cannot_be_traced_is_refused_with_a_remedy(function, words):
    with pytest.raises(TypeError, match=words):
        trace(function, {"x": 2})


def test_symbols_of_another_trace_are_refused():
    kept = []
    trace(lambda x: [kept.append(x[0]) or x[0]], {"x": 1})
    with pytest.raises(TraceError, match=r"x\[0\] belongs to another trace"):
        trace(lambda y: [y[0] + kept[0]], {"y": 1})


def test_symbols_of_a_loops_body_are_refused_outside():
    def leaking(x):
        inside = []
        loop(3, lambda i, c: (inside.append(c) or c * x[0], None), x[0])
        return [inside[-1] + 1.0]

    with pytest.raises((TraceError, KeyError)):
        evaluate(trace(leaking, {"x": 1}), [1.0])


def test_inputs_know_their_size():
    with pytest.raises(IndexError, match="index 2 of the input 'x', which has 2 scalars"):
        trace(lambda x: [x[2]], {"x": 2})


# --- shapes ---------------------------------------------------------------------------------------------------------------
def test_shapes_of_inputs_and_outputs():
    def page(a, M, t):
        assert (len(a), len(M), len(M[0])) == (3, 2, 3)
        assert [*a[1:], a[-1], *a[::2]] == [a[1], a[2], a[2], a[0], a[2]]
        return {"scalar": t + a[0], "matrix": [[M[0][0], 1.0], [0.0, M[1][2]]], "nothing": []}

    program = trace(page, {"a": 3, "M": (2, 3), "t": ()})
    assert [(array.name, array.shape) for array in program.outputs] == [("scalar", ()), ("matrix", (2, 2)), ("nothing", (0,))]
    assert evaluate(program, [1, 2, 3, 10, 11, 12, 13, 14, 15, 100]) == [101, 10, 1, 0, 15]


@dataclass
class Pair:
    a: object
    b: object
    name: str = "kept"


class Position(NamedTuple):
    along: float
    across: float


# --- loops: the same on floats and traced -----------------------------------------------------------------------------------
def geometric(x):
    return [loop(5, lambda i, c: (c * 0.5 + x[0], None), x[1])[0]]


def structured(x):
    def body(i, c):
        return {"pair": Pair(c["pair"].b, c["pair"].a + x[0]), "list": [c["list"][0] * 0.9, x[1]]}, (c["pair"].a, [x[0]])

    last, stack = loop(4, body, {"pair": Pair(x[0], 2.0), "list": [x[1], 0.0]})
    assert last["pair"].name == "kept"
    return [last["pair"].a, last["pair"].b, *last["list"], stack[2][0], stack[0][1][0], float(len(stack))]


def with_table(x):
    weights = table([1.0, -2.0, 0.5])
    total, stack = loop(3, lambda i, c: (c + weights[i] * x[i], c * weights[2 - i]), x[0])
    return [total, loop(3, lambda i, c: (c + stack[2 - i] * x[i + 1 - 1], None), 0.0)[0]]


def early(x):
    return [loop(30, lambda i, c: (c * 0.5, None), x[0] * x[0] + 1.0, while_=lambda c: c > 0.1)[0]]


def nested(x):
    return [loop(3, lambda i, c: (loop(2, lambda j, d: (d * 0.5 + x[j] * c, None), c + x[i])[0], None), x[2])[0]]


def named(x):
    here = loop(5, lambda i, at: (Position(at.along + x[0], at.across * x[1]), None), Position(x[1], x[0]))[0]
    chosen = when(x[0] > 1.0, lambda: here, Position(x[2], 1.0))
    assert isinstance(chosen, Position)
    return [here.along, here.across, chosen.along, chosen.across]


@pytest.mark.parametrize("page", [geometric, structured, with_table, early, nested, named], ids=lambda page: page.__name__)
def test_loops_on_floats_and_traced(page):
    for x in ([0.3, -1.2, 0.7], [2.0, 1.0, -3.0]):
        assert evaluate(trace(page, {"x": 3}), x) == pytest.approx(page(x), rel=1e-14)


def test_a_condition_that_fails_at_once_leaves_the_values():
    program = trace(lambda x: [loop(4, lambda i, c: (c + 1.0, None), x[0], while_=lambda c: c > 0.0)[0]], {"x": 1})
    assert evaluate(program, [-1.0]) == [-1.0]
    assert evaluate(program, [1.0]) == [5.0]


@pytest.mark.parametrize(("bound", "passes"), [(1.0, 4), (0.0, 0)])
def test_a_condition_known_while_tracing_keeps_or_drops_the_loop(bound, passes):
    def page(x):
        carry = loop(4, lambda i, c: ((c[0] + x[0], c[1]), None), (x[0], 0.5), while_=lambda c: c[1] < bound)[0]
        return [carry[0]]

    assert evaluate(trace(page, {"x": 1}), [3.0]) == page([3.0]) == [3.0 * (1 + passes)]


def test_what_does_not_depend_on_the_pass_is_computed_once():
    program = trace(lambda x: [loop(100, lambda i, c: (c + s.sin(x[0]), None), 0.0)[0]], {"x": 1})
    assert program.operations == {"sin": 1, "add": 100}


def test_constants_are_not_carried():
    program = trace(lambda x: [loop(10, lambda i, c: ([c[0] + c[1] * x[0], c[1]], None), [x[0], 0.0])[0][0]], {"x": 1})
    assert "carry" not in str(program) or program.operations.total() == 0


def test_a_table_of_equal_constants_is_that_constant():
    zeros, halves = table([0.0] * 5), table([0.5] * 5)
    program = trace(lambda x: [loop(5, lambda i, c: (c + zeros[i] * x[0] + halves[i], None), x[0])[0]], {"x": 1})
    assert program.operations == {"add": 5}


def test_unread_results_of_a_loop_are_not_computed():
    def page(x):
        (kept, _dropped), _ = loop(3, lambda i, c: ((c[0] + 1.0, c[1] * s.exp(x[0])), s.sin(c[1])), (x[0], x[0]))
        return [kept]

    assert set(trace(page, {"x": 1}).operations) == {"add"}


def test_bodies_must_carry_on_what_they_were_given():
    with pytest.raises(TraceError, match="carries 1 scalars on and was given 2"):
        trace(lambda x: loop(3, lambda i, c: (c[0], None), [x[0], x[0]])[0], {"x": 1})


# --- calls ----------------------------------------------------------------------------------------------------------------
def test_calls_on_floats_and_traced():
    inner = trace(lambda a, b: {"sum": [a[0] + b, a[1]], "product": a[0] * b}, {"a": 2, "b": ()}, "inner")

    def page(x):
        first = call(inner, [x[0], x[1]], 2.0)
        return [*first["sum"], call(inner, first["sum"], x[0])["product"]]

    x = [0.3, -1.2]
    program = trace(page, {"x": 2})
    assert evaluate(program, x) == page(x) == [2.3, -1.2, 2.3 * 0.3]
    assert program.callees == [inner]
    with pytest.raises(TraceError, match="the program 'inner' takes 3 scalars"):
        call(inner, [1.0, 2.0])


# --- as text, and counted ---------------------------------------------------------------------------------------------------
def test_listing_and_counts():
    inner = trace(lambda a: [a[0] * a[0]], {"a": 1}, "square")

    def page(x):
        last, stack = loop(4, lambda i, c: (c + x[i] * table([1.0, 2.0, 3.0, 4.0])[i], c), call(inner, [x[0]])[0])
        return [last, stack[1], s.select(x[0] < 1.0, last, 0.0)]

    program = trace(page, {"x": 4}, "page")
    assert str(program) == "\n".join(
        [
            "program page(x[4]) -> result[3]",
            "  %0 = call square x[0]",
            "  %1 = result %0 0",
            "  %2 = loop 4 %1",
            "    %3 = counter",
            "    %4 = carried",
            "    %5 = load %3 ('x', 1, 0)",
            "    %6 = lookup %3 1 0 [1.0, 2.0, 3.0, 4.0]",
            "    %7 = mul %5 %6",
            "    %8 = add %4 %7",
            "    carry %8",
            "    stack %4",
            "  %9 = result %2 0",
            "  %10 = element %2 (0, 0, 1)",
            "  %11 = lt x[0] 1.0",
            "  %12 = select %11 %9 0.0",
            "  result = %9 %10 %12",
            "program square(a[1]) -> result[1]",
            "  %0 = mul a[0] a[0]",
            "  result = %0",
        ]
    )
    assert program.operations == {"mul": 5, "add": 4, "load": 4, "lookup": 4, "element": 1, "lt": 1, "select": 1}


def test_a_table_is_written_once():
    """However often it is read: tables of planned motions are long, and the text is part of the key on disk."""

    def both_ends(x):
        values = table([1.0, 2.0, 3.0])
        total, _ = loop(3, lambda i, y: (y + x[0] * values[i] + values[2 - i], None), 0.0)
        return [total]

    text = str(trace(both_ends, {"x": 1}))
    assert text.count("[1.0, 2.0, 3.0]") == 1
    first, second = re.findall(r"(%\d+) = lookup .*", text)
    assert f"of {first}" in text.partition(f"{second} = lookup")[2].partition("\n")[0]


def test_traces_in_two_threads_know_nothing_of_each_other():
    """A thread goes on with its loop, in which nothing is hoisted, while another one is in the middle of such a loop."""
    first_inside, second_inside, first_done = threading.Event(), threading.Event(), threading.Event()

    def summed(x, between):
        def body(i, total):
            between()
            return total + when(x[0] > 0.0, lambda: x[0] * x[1], 0.0), None

        return [loop(3, body, 0.0, hoist=False)[0]]

    def let_the_second_in():
        first_inside.set()
        assert second_inside.wait(10.0)

    def let_the_first_end():
        second_inside.set()
        assert first_done.wait(10.0)

    alone = trace(lambda x: summed(x, lambda: None), {"x": 2}, "summed")
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(trace, lambda x: summed(x, let_the_second_in), {"x": 2}, "summed")
        first.add_done_callback(lambda _: first_done.set())
        assert first_inside.wait(10.0)
        second = trace(lambda x: summed(x, let_the_first_end), {"x": 2}, "summed")
        assert str(first.result()) == str(second) == str(alone)
