"""Programs with holes: what is put in later gives what it gives when it is compiled in, and nothing else is compiled again."""

from __future__ import annotations

import numpy as np
import pytest

from kumitate.compile import Kernel, Recurrence
from kumitate.scalar import Array, Hole, TraceError, call, loop, sin, trace
from kumitate.scalar.evaluate import evaluate

INPUTS = (Array("t", ()), Array("x", (3,)))


def law(gain: float):
    """A program for the hole, with a loop in it, so that it needs memory of its own."""

    def page(t, x):
        summed, kept = loop(3, lambda i, c: (c + gain * x[i] * sin(t + c), c), 0.0)
        return [summed - gain * value + kept[k] for k, value in enumerate(x)]

    return trace(page, {"t": (), "x": 3}, f"law_{gain}")


def around(inner):
    """A program that calls the inner one at three places, one of them in a loop."""

    def page(t, x):
        first = call(inner, t, x)
        second = call(inner, t + 0.5, [a + 0.1 * b for a, b in zip(x, first, strict=True)])

        def again(i, c):
            return [a + 0.01 * b for a, b in zip(c, call(inner, t, c), strict=True)], None

        end, _ = loop(4, again, second)
        return {"end": end, "first": first}

    return trace(page, {"t": (), "x": 3}, "around")


HOLE = Hole.of("law", INPUTS, (Array("result", (3,)),))


@pytest.mark.parametrize("shape", [(), (1,), (8,), (21,)])
def test_a_filled_hole_gives_the_bits_of_a_program_that_is_compiled_in(shape):
    rng = np.random.default_rng(4)
    t, x = rng.normal(size=shape), rng.normal(size=(*shape, 3))
    open_kernel = Kernel(around(HOLE))
    for gain in (0.7, -1.3):
        whole, filled = Kernel(around(law(gain))), open_kernel.filled({"law": law(gain)})
        for expected, found in zip(whole(t, x), filled(t, x), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_another_filling_compiles_nothing_else(monkeypatch):
    from kumitate.compile import pipeline

    open_kernel = Kernel(around(HOLE))
    open_kernel.filled({"law": law(0.5)})(0.1, np.ones(3))
    made = []
    generate = pipeline.generate_image
    monkeypatch.setattr(
        pipeline, "generate_image", lambda text, target, **options: made.append(text) or generate(text, target, **options)
    )
    open_kernel.filled({"law": law(0.25)})(0.1, np.ones(3))
    assert len(made) == 1
    assert "@kernel" not in made[0]


def test_steps_can_have_holes():
    def step(x, t):
        return {"x": [a + 0.01 * b for a, b in zip(x, call(HOLE, t, x), strict=True)]}

    def whole(x, t):
        return {"x": [a + 0.01 * b for a, b in zip(x, call(law(0.3), t, x), strict=True)]}

    def look(x, t):
        return {"seen": list(x)}

    sizes = {"x": 3, "t": ()}
    ends = []
    for recurrence in (
        Recurrence(trace(step, sizes, "step"), trace(look, sizes, "look")).filled({"law": law(0.3)}),
        Recurrence(trace(whole, sizes, "step"), trace(look, sizes, "look")),
    ):
        x = np.arange(30.0).reshape(10, 3)
        seen = {"seen": np.empty((10, 5, 3))}
        recurrence.over({"x": x}, {"t": np.full((1, 1), 0.4)}, seen, batch=True).run(5, 7)
        ends.append((x, seen["seen"]))
    np.testing.assert_array_equal(ends[0][0], ends[1][0])
    np.testing.assert_array_equal(ends[0][1], ends[1][1])


def test_a_hole_has_no_value_by_itself():
    with pytest.raises(TraceError, match="calls the hole 'law', which only machine code can fill"):
        evaluate(around(HOLE), [0.1, 1.0, 2.0, 3.0])
