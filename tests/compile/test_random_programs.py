"""Random programs of every operation and block: evaluated, and compiled at 1, 2, 4, 8 lanes, all within a rounding-error bound.

A program is drawn as a recipe. One interpreter traces it; another runs it on numbers that carry a bound of their rounding
error, so that "the same result" has an exact meaning whatever cancels. A draw with a comparison within it is not judged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kumitate import scalar
from kumitate.compile import Kernel

from .lanes import LANES, run_with_lanes

EPS = 2.0**-52
INPUTS = 6
TABLE = (0.3, -1.2, 0.7, 2.5, -0.4, 1.1)


class AmbiguousError(Exception):
    """The outcome hangs on rounding."""


@dataclass(frozen=True)
class Bounded:
    """A number and a bound of the rounding error that any order of evaluation may have made."""

    value: float
    error: float = 0.0


def rounded(value: float, error: float) -> Bounded:
    if not (math.isfinite(value) and abs(value) < 1e12 and error < 1e-3):
        raise AmbiguousError
    return Bounded(value, error * (1.0 + 1e-6) + 3.0 * EPS * abs(value) + 1e-300)


def is_less(a: Bounded, b: Bounded) -> bool:
    if abs(a.value - b.value) <= a.error + b.error + 1e-12:
        raise AmbiguousError
    return a.value < b.value


def angle(y: Bounded, x: Bounded) -> Bounded:
    away = math.hypot(x.value, y.value)
    if away < 1e-3 or (x.value < 0.0 and abs(y.value) < 1e-3):
        raise AmbiguousError
    return rounded(math.atan2(y.value, x.value), (y.error + x.error) / away)


NUMBERS: dict[str, Any] = {
    "add": lambda a, b: rounded(a.value + b.value, a.error + b.error),
    "sub": lambda a, b: rounded(a.value - b.value, a.error + b.error),
    "mul": lambda a, b: rounded(a.value * b.value, abs(a.value) * b.error + abs(b.value) * a.error + a.error * b.error),
    "neg": lambda a: Bounded(-a.value, a.error),
    # 1/b by its derivative on [1, ∞): the recipes divide by nothing smaller
    "div": lambda a, b: rounded(a.value / b.value, a.error + abs(a.value) * b.error),
    "sqrt": lambda a: rounded(math.sqrt(a.value), a.error),  # of numbers from 1 on
    "log": lambda a: rounded(math.log(a.value), a.error + EPS),
    "exp": lambda a: rounded(math.exp(a.value), 1.01 * math.exp(a.value) * a.error),
    "sin": lambda a: rounded(math.sin(a.value), a.error + EPS),
    "cos": lambda a: rounded(math.cos(a.value), a.error + EPS),
    "tanh": lambda a: rounded(math.tanh(a.value), a.error),
    "atan2": angle,
    "abs": lambda a: Bounded(abs(a.value), a.error),
    "min": lambda a, b: Bounded(min(a.value, b.value), max(a.error, b.error)),
    "max": lambda a, b: Bounded(max(a.value, b.value), max(a.error, b.error)),
    "lt": is_less,
    "le": is_less,
    "eq": lambda a, b: is_less(a, b) and False,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "not": lambda a: not a,
    "select": lambda c, a, b: a if c else b,
    "const": Bounded,
    "ordinal": lambda i: Bounded(float(i)),
    "lookup": lambda i: Bounded(TABLE[i]),
}
SYMBOLS: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "div": lambda a, b: a / b,
    "sqrt": scalar.sqrt,
    "log": scalar.log,
    "exp": scalar.exp,
    "sin": scalar.sin,
    "cos": scalar.cos,
    "tanh": scalar.tanh,
    "atan2": scalar.arctan2,
    "abs": scalar.absolute,
    "min": scalar.minimum,
    "max": scalar.maximum,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "eq": scalar.equal,
    "and": scalar.both,
    "or": scalar.either,
    "not": lambda a: ~a if isinstance(a, scalar.Symbol) else not a,
    "select": scalar.select,
    "const": float,
    "ordinal": lambda i: i.value if isinstance(i, scalar.Index) else float(i),
    "lookup": lambda i: scalar.table(TABLE)[i],
}

# --- recipes: one step computes one more value from those there are ----------------------------------------------------------
picks = st.integers(0, 30)
constants = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.7, 3.0])
plain = st.one_of(
    st.tuples(st.sampled_from(["add", "sub", "mul", "min", "max", "atan2", "quotient"]), picks, picks),
    st.tuples(st.sampled_from(["neg", "sin", "cos", "tanh", "abs", "root", "exponential", "logarithm"]), picks),
    st.tuples(st.just("scale"), picks, constants),
    st.tuples(st.just("shift"), picks, constants),
    st.tuples(st.just("choose"), st.sampled_from(["lt", "le", "eq", "and", "or", "not"]), picks, picks, picks, picks),
)


def steps(depth: int) -> st.SearchStrategy:
    if depth == 0:
        return st.lists(plain, min_size=2, max_size=6)
    inner = steps(depth - 1)
    block = st.one_of(
        st.tuples(st.just("loop"), st.integers(1, 5), st.booleans(), picks, picks, inner),
        st.tuples(st.just("call"), picks, picks, inner),
    )
    return st.lists(st.booleans().flatmap(lambda chosen: block if chosen else plain), min_size=2, max_size=6)


def run(recipe: list, values: list, inputs: Any, world: dict[str, Any]) -> list:
    """The values there are after the steps of a recipe."""
    values = list(values)
    one = world["const"](1.0)
    for name, *rest in recipe:
        at = [values[k % len(values)] for k in rest if isinstance(k, int) and not isinstance(k, bool)]
        if name in ("scale", "shift"):
            new = world["mul" if name == "scale" else "add"](at[0], world["const"](rest[1]))
        elif name == "quotient":
            new = world["div"](at[0], world["add"](one, world["mul"](at[1], at[1])))
        elif name == "root":
            new = world["sqrt"](world["add"](one, world["mul"](at[0], at[0])))
        elif name == "logarithm":
            new = world["log"](world["add"](one, world["abs"](at[0])))
        elif name == "exponential":
            new = world["exp"](world["tanh"](at[0]))
        elif name == "choose":
            new = world["select"](condition(rest[0], at, world), at[2], at[3])
        elif name == "loop":
            new = repeated(rest, values, inputs, world)
        elif name == "call":
            new = called(rest[-1], at, world)
        else:
            new = world[name](*at)
        values.append(new)
    return values


def condition(op: str, at: list, world: dict[str, Any]) -> Any:
    first, second = world["lt"](at[0], at[1]), world["le"](at[2], at[3])
    if op in ("lt", "le", "eq"):
        return world[op](at[0], at[2])
    return world["not"](first) if op == "not" else world[op](first, second)


def squashed(value: Any, world: dict[str, Any]) -> Any:
    """Into (−1, 1), so that repetition cannot run away."""
    return world["div"](value, world["sqrt"](world["add"](world["const"](1.0), world["mul"](value, value))))


def repeated(rest: list, values: list, inputs: Any, world: dict[str, Any]) -> Any:
    """A loop over tables, inputs by index and outer values, with a stack that a second loop reads backwards."""
    count, stops, a, b, recipe = rest
    first = [values[a % len(values)], values[b % len(values)]]

    def body(i: Any, carry: list) -> tuple[list, Any]:
        known = [*values[-4:], world["ordinal"](i), world["lookup"](i), inputs[i + 1], *carry]
        after = run(recipe, known, inputs, world)
        mixed = world["add"](world["mul"](after[-1], world["lookup"](i)), inputs[i + 1])
        return [squashed(mixed, world), world["add"](carry[0], world["const"](0.37))], mixed

    if stops:  # how far it got is seen in what is carried; what was kept is undefined for the passes cut off
        last, _ = world["loop"](count, body, first, while_=lambda carry: world["lt"](carry[1], world["const"](1.5)))
        return world["sub"](last[0], last[1])
    last, stack = world["loop"](count, body, first)

    def back(i: Any, total: list) -> tuple[list, Any]:
        return [world["add"](squashed(total[0], world), world["mul"](stack[count - 1 - i], world["ordinal"](i * 2 + 1)))], None

    summed, _ = world["loop"](count, back, [world["sub"](last[0], stack[0])])
    return summed[0]


def called(recipe: list, at: list, world: dict[str, Any]) -> Any:
    """The same program called twice, with the arguments swapped."""
    first = world["call"](recipe, at)
    return world["sub"](world["call"](recipe, at[::-1]), first)


def plain_loop(count: int, body: Any, carry: Any, while_: Any = lambda carry: True) -> tuple[Any, list]:
    kept = []
    for i in range(count):
        if not while_(carry):
            break
        carry, keep = body(i, carry)
        kept.append(keep)
    return carry, kept


def traced_call(recipe: list, at: list) -> Any:
    size = len(at) + INPUTS
    program = scalar.trace(lambda x: run(recipe, [x[k] for k in range(len(at))], x, SYMBOLS)[-1:], {"x": size}, "inner")
    return scalar.call(program, [*at, *[0.25] * INPUTS])[0]


SYMBOLS |= {"loop": scalar.loop, "call": traced_call}
NUMBERS |= {
    "loop": plain_loop,
    "call": lambda recipe, at: run(recipe, at, [*at, *[Bounded(0.25)] * INPUTS], NUMBERS)[-1],
}


@given(recipe=steps(2), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=80, derandomize=True)
def test_compiled_programs_give_what_evaluation_gives(recipe, seed):
    states = np.random.default_rng(seed).uniform(-2.0, 2.0, (11, INPUTS))
    try:
        bounds = [run(recipe, list(row), row, NUMBERS) for row in [[Bounded(x) for x in row] for row in states]]
    except AmbiguousError:
        assume(False)
    expected = np.array([[x.value for x in row] for row in bounds])
    error = np.array([[x.error for x in row] for row in bounds])
    program = scalar.trace(lambda x: run(recipe, [x[k] for k in range(INPUTS)], x, SYMBOLS), {"x": INPUTS}, "random")
    evaluated = np.array([scalar.evaluate(program, list(row)) for row in states])
    assert (np.abs(evaluated - expected) <= error).all(), program
    kernel = Kernel(program)
    for lanes in LANES:
        (compiled,) = run_with_lanes(kernel, lanes, states)
        assert (np.abs(compiled - expected) <= error).all(), f"{lanes} lanes\n{program}"
