"""What expressions simplify to while they are built, as one table, and that equal expressions are one node."""

from __future__ import annotations

import re

import numpy as np
import pytest

from kumitate import scalar as s
from kumitate.scalar import Symbol, evaluate, trace
from kumitate.scalar.evaluate import evaluate_rows

# expression of a, b, c → the listing's right-hand sides, in order, and the result
RULES = {
    "zero added": (lambda a, b, c: a + 0.0, [], "a"),
    "zero before": (lambda a, b, c: 0 + a, [], "a"),
    "zero taken away": (lambda a, b, c: a - 0.0, [], "a"),
    "from zero": (lambda a, b, c: 0.0 - a, ["neg a"], "%0"),
    "times zero": (lambda a, b, c: a * 0.0, [], "0.0"),
    "times one": (lambda a, b, c: 1.0 * a, [], "a"),
    "times minus one": (lambda a, b, c: -1.0 * a, ["neg a"], "%0"),
    "over one": (lambda a, b, c: a / 1.0, [], "a"),
    "zero over": (lambda a, b, c: 0.0 / a, [], "0.0"),
    "over a constant": (lambda a, b, c: a / 4.0, ["mul 0.25 a"], "%0"),
    "itself over itself": (lambda a, b, c: a / a, [], "1.0"),
    "itself less itself": (lambda a, b, c: a - a, [], "0.0"),
    "twice itself": (lambda a, b, c: a + a, ["mul 2.0 a"], "%0"),
    "constants fold": (lambda a, b, c: 2.0 * (3.0 * a), ["mul 6.0 a"], "%0"),
    "constants stand first": (lambda a, b, c: a * 3.0, ["mul 3.0 a"], "%0"),
    "minus a minus": (lambda a, b, c: 0.0 - (0.0 - a), [], "a"),
    "plus a minus": (lambda a, b, c: a + (-b), ["sub a b"], "%0"),
    "a minus plus": (lambda a, b, c: -a + b, ["sub b a"], "%0"),
    "minus of a difference": (lambda a, b, c: -(a - b), ["sub b a"], "%0"),
    "less a minus": (lambda a, b, c: a - (-b), ["add a b"], "%0"),
    "signs leave products": (lambda a, b, c: (-a) * (-b), ["mul a b"], "%0"),
    "signs leave quotients": (lambda a, b, c: (-a) / b, ["div a b", "neg %0"], "%1"),
    "negative constants too": (lambda a, b, c: a + -2.0 * b, ["mul 2.0 b", "sub a %0"], "%1"),
    "a negative number added": (lambda a, b, c: a + -2.0, ["sub a 2.0"], "%0"),
    "sums are commutative": (lambda a, b, c: (a + b) * (b + a), ["add a b", "mul %0 %0"], "%1"),
    "products are commutative": (lambda a, b, c: a * b + b * a, ["mul a b", "mul 2.0 %0"], "%1"),
    "opposite differences": (lambda a, b, c: (a - b) * (b - a), ["sub a b", "mul %0 %0", "neg %1"], "%2"),
    "sums are not reordered": (lambda a, b, c: (a + b) + c, ["add a b", "add c %0"], "%1"),
    "square": (lambda a, b, c: a**2, ["mul a a"], "%0"),
    "fifth power": (lambda a, b, c: a**5, ["mul a a", "mul %0 %0", "mul a %1"], "%2"),
    "power zero": (lambda a, b, c: a**0, [], "1.0"),
    "negative power": (lambda a, b, c: a**-1, ["div 1.0 a"], "%0"),
    "half power": (lambda a, b, c: a**0.5, ["sqrt a"], "%0"),
    "sine is odd": (lambda a, b, c: s.sin(-a), ["sin a", "neg %0"], "%1"),
    "cosine is even": (lambda a, b, c: s.cos(-a), ["cos a"], "%0"),
    "tanh is odd": (lambda a, b, c: s.tanh(-a), ["tanh a", "neg %0"], "%1"),
    "absolute is even": (lambda a, b, c: s.absolute(-a), ["abs a"], "%0"),
    "functions of constants": (lambda a, b, c: a * s.cos(0.0), [], "a"),
    "select by a constant": (lambda a, b, c: s.select(True, a, b), [], "a"),
    "select of the same": (lambda a, b, c: s.select(a < b, c, c), [], "c"),
    "minimum of the same": (lambda a, b, c: s.minimum(a, a), [], "a"),
    "greater is less": (lambda a, b, c: s.select(a > b, a, c), ["lt b a", "select %0 a c"], "%1"),
    "dead code goes": (lambda a, b, c: [a * b, c][1], [], "c"),
}


def lines_of(expression) -> tuple[list[str], str]:
    program = trace(lambda x: [expression(x[0], x[1], x[2])], {"x": 3})
    text = [re.sub(r"x\[(\d)\]", lambda found: "abc"[int(found[1])], line.strip()) for line in str(program).splitlines()[1:]]
    return [line.split(" = ")[1] for line in text[:-1]], text[-1].split(" = ")[1]


@pytest.mark.parametrize("name", RULES)
def test_rule(name):
    expression, lines, result = RULES[name]
    got, got_result = lines_of(expression)
    # the arguments of sums and products stand in the order in which their nodes were made
    assert [sorted_arguments(line) for line in got] == [sorted_arguments(line) for line in lines]
    assert got_result == result


def sorted_arguments(line: str) -> str:
    op, *arguments = line.split()
    return " ".join([op, *(sorted(arguments) if op in ("add", "mul") else arguments)])


@pytest.mark.parametrize("name", RULES)
def test_a_rule_keeps_the_value(name):
    expression = RULES[name][0]
    program = trace(lambda x: [expression(x[0], x[1], x[2])], {"x": 3})
    for values in ([0.3, -1.7, 2.2], [-2.0, 0.5, -0.25]):
        if name == "half power":
            values = [abs(value) for value in values]
        assert evaluate(program, values)[0] == pytest.approx(expression(*values), rel=1e-15)


def test_rows_have_the_values_of_each_of_them():
    def page(x, y):
        found = [s.arctan2(y[k], x) * s.sqrt(s.absolute(x)) + s.exp(-y[k] * y[k]) * s.tanh(s.cos(x)) for k in range(2)]
        least, most = s.minimum(x, y[0]), s.maximum(s.sin(x), y[1])
        one = s.select(s.both(x > y[0], y[1] < 0.5), least, most)
        turned, _ = s.loop(3, lambda k, now: (now * x + y[0], None), one)
        return {"pair": found, "table": [[one, s.select(s.either(x > 0.0, y[0] > 0.0), 1.0, x)], [2.5, turned]]}

    program, rng = trace(page, {"x": (), "y": 2}), np.random.default_rng(1)
    x, y = rng.normal(size=2500), rng.normal(size=(2500, 2))
    found = evaluate_rows(program, np.column_stack([x, y]))
    assert found.shape == (2500, 6)
    for k in (0, 1023, 1024, 2499):  # rows are evaluated 1024 at a time
        np.testing.assert_allclose(found[k], evaluate(program, [x[k], *y[k]]), rtol=1e-14, atol=1e-15)


def test_equal_expressions_are_one_node():
    def twice(x):
        first, second = s.sin(x[0]) * x[1] + 2.0, 2.0 + x[1] * s.sin(x[0])
        assert first is second
        return [first, second]

    assert trace(twice, {"x": 2}).operations == {"sin": 1, "mul": 1, "add": 1}


def test_numpys_functions_work_on_arrays_of_symbols():
    def page(x):
        array = np.array(list(x), dtype=object)
        return np.sin(array) + np.array([[1.0, 2.0], [0.0, 3.0]]) @ array - np.float64(2.0) * np.sqrt(array)

    program = trace(page, {"x": 2})
    x = np.array([0.4, 1.3])
    np.testing.assert_allclose(
        evaluate(program, list(x)), np.sin(x) + np.array([[1, 2], [0, 3]]) @ x - 2.0 * np.sqrt(x), rtol=1e-15
    )


def test_symbols_meet_numbers_of_all_kinds():
    program = trace(lambda x: [x + 1, 1 + x, x * np.float64(2.0), np.float32(0.5) * x, x - np.int64(3), +x, abs(x)], {"x": ()})
    assert evaluate(program, [2.0]) == [3.0, 3.0, 4.0, 1.0, -1.0, 2.0, 2.0]


def test_values_that_are_not_numbers_are_refused():
    with pytest.raises(TypeError):
        trace(lambda x: [x + "one"], {"x": ()})


def test_repr_tells_what_a_symbol_is():
    seen: list[Symbol] = []
    trace(lambda x: [seen.append(x[1]) or seen.append(s.sin(x[0])) or x[0]], {"x": 2})
    assert repr(seen[0]) == "x[1]"
    assert repr(seen[1]).startswith("<sin #")
