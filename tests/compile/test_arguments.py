"""Which inputs a program reads: a caller hands over no others, and the same ones once."""

import numpy as np

from kumitate.compile import Kernel
from kumitate.compile.llvm.plan import inputs_read
from kumitate.scalar import Hole, call, loop, sin, trace


def first_of(a, b):
    return [sin(a[0]) + a[2]]


def test_inputs_that_are_handed_on_unread_are_not_read():
    inner = trace(first_of, {"a": 3, "b": 2}, "inner")
    outer = trace(lambda x, y: [call(inner, [x[0], y[0], x[1]], [y[1], x[1]])[0] * y[2]], {"x": 2, "y": 3}, "outer")
    assert inputs_read(outer) == {0, 1, 4}
    assert inputs_read(inner) == {0, 2}


def test_holes_may_read_all_and_loops_read_what_they_capture():
    inner = trace(first_of, {"a": 3, "b": 2}, "inner")
    hole = Hole.of("hole", inner.inputs, inner.outputs)
    assert inputs_read(hole) == set(range(5))
    summed = trace(lambda a, b: [loop(4, lambda i, s: (s + b[1], None), a[0])[0]], {"a": 3, "b": 2}, "summed")
    assert inputs_read(summed) == {0, 4}


def test_calls_with_the_same_arguments_in_part_give_what_the_page_gives():
    def page(x, b):
        return [x[0] * b[0] + b[1], x[1] - b[2] * x[0]]

    inner = trace(page, {"x": 2, "b": 4}, "inner")

    def chained(x, b):
        for k in range(3):
            x = call(inner, x, b if k != 1 else [b[1], b[1], b[0], b[3]])
        return list(x)

    def plain(x, b):
        for k in range(3):
            x = page(x, b if k != 1 else [b[1], b[1], b[0], b[3]])
        return x

    whole = trace(chained, {"x": 2, "b": 4}, "whole")
    assert inputs_read(whole) == {0, 1, 2, 3, 4}
    rng = np.random.default_rng(1)
    x, b = rng.normal(size=(17, 2)), rng.normal(size=(17, 4))
    found = Kernel(whole)(x, b)
    np.testing.assert_allclose(found, [plain(*row) for row in zip(x, b, strict=True)], rtol=1e-13)
