"""From Python to programs: `trace` runs a function on symbols; `loop`, `call` and `table` create the other blocks.

Without a trace in progress, `loop`, `call` and `table` do the same on floats.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from typing import Any

from .blocks import Array, Index, LoopBlock, Program, Stack, Table, Vector, shaped
from .evaluate import evaluate
from .graph import Graph, Symbol, TraceError, floor_at
from .passes import live, run_program_passes
from .rules import same, select
from .under_way import under_way

#: The scope being traced now, per thread.
_active: ContextVar[Graph | None] = ContextVar("kumitate_active_scope", default=None)


def active_scope() -> Graph | None:
    """The scope that this thread is tracing now, or None if plain floats are computed."""
    return _active.get()


@contextlib.contextmanager
def _scope(graph: Graph) -> Iterator[Graph]:
    before = _active.set(graph)
    try:
        yield graph
    finally:
        _active.reset(before)


def trace(function: Callable[..., Any], inputs: Mapping[str, int | tuple[int, ...]], name: str = "") -> Program:
    """The program of `function`.

    Args:
        function: called with one argument per input, in order: a `Vector` for a size, a list of them for a shape of two
            dimensions, a scalar for the shape `()`. It returns scalars in lists of any nesting (one output, "result"),
            or a dictionary of such.
        inputs: size or shape of each input by name.
        name: of the program; the function's by default.

    Raises:
        TraceError: if the function needs the truth value or the float of a symbol, or uses symbols of another trace.

    >>> from kumitate.scalar import sin
    >>> print(trace(lambda x: [x[0] + 2.0 * sin(x[1])], {"x": 2}, name="example"))
    program example(x[2]) -> result[1]
      %0 = sin x[1]
      %1 = mul 2.0 %0
      %2 = add x[0] %1
      result = %2
    """
    graph = Graph()
    arrays = tuple(Array(key, (size,) if isinstance(size, int) else tuple(size)) for key, size in inputs.items())
    with under_way(lambda: f"tracing {name or function.__name__}"), _scope(graph):
        returned = function(*(_argument(graph, array) for array in arrays))
    named = returned if isinstance(returned, dict) else {"result": returned}
    outputs: list[Array] = []
    results: list[Symbol] = []
    for key, value in named.items():
        shape, scalars = _scalars(value)
        outputs.append(Array(key, shape))
        results.extend(graph.lift(scalar) for scalar in scalars)
    traced = Program(name or function.__name__, arrays, tuple(outputs), tuple(graph.nodes), tuple(results))
    return run_program_passes(traced)


def _argument(graph: Graph, array: Array) -> Any:
    if array.shape == ():
        return graph.node("input", (), (array.name, 0))
    if len(array.shape) == 1:
        return Vector(graph, array.name, 0, array.size)
    row = array.size // array.shape[0] if array.shape[0] else 0
    return [Vector(graph, array.name, i * row, row) for i in range(array.shape[0])]


def _scalars(value: Any) -> tuple[tuple[int, ...], list[Any]]:
    """Shape and scalars of nested sequences."""
    if value.__class__ is Symbol or not hasattr(value, "__len__"):
        return (), [value]
    parts = [_scalars(item) for item in value]
    shapes = {shape for shape, _ in parts}
    if len(shapes) > 1:
        raise TraceError(f"the traced function returned rows of different shapes: {sorted(shapes)}")
    inner = shapes.pop() if shapes else ()
    return (len(parts), *inner), [scalar for _, scalars in parts for scalar in scalars]


def call(program: Program, *arguments: Any) -> Any:
    """The outputs of `program` for `arguments`, each nested sequences of scalars: one output as a list, more as a dictionary.

    While tracing, this is one call instruction: the program's code exists once however often it is called.
    """
    outputs = shaped(program.outputs, results_of(program, [scalar for part in arguments for scalar in _scalars(part)[1]]))
    return next(iter(outputs.values())) if len(outputs) == 1 else outputs


def results_of(program: Program, given: Sequence[Any]) -> Sequence[Any]:
    """As `call`, of all scalars in a row, and in a row."""
    expected = sum(array.size for array in program.inputs)
    if len(given) != expected:
        raise TraceError(f"the program {program.name!r} takes {expected} scalars ({program.inputs}), got {len(given)}")
    graph = active_scope()
    if graph is None:
        return evaluate(program, given)
    node = graph.node("call", tuple(graph.lift(scalar) for scalar in given), program)
    return [graph.node("result", (node,), k) for k in range(len(program.results))]


def table(values: Sequence[float]) -> Table:
    """A table of constants: `table(values)[i]` with the index of a loop."""
    return Table(tuple(float(value) for value in values))


def loop(
    count: int,
    body: Callable[[Any, Any], tuple[Any, Any]],
    carry: Any,
    *,
    while_: Callable[[Any], Any] | None = None,
    hoist: bool = True,
    varies: bool = False,
) -> tuple[Any, Stack]:
    """Repeats `carry, kept = body(i, carry)` for i = 0 … count − 1.

    Args:
        count: the number of passes, a bound if `while_` is given.
        body: takes the index of the pass (an int, or an `Index` while tracing) and the carried value; returns the next carried
            value, of the same structure, and anything to keep from this pass (None: nothing).
        carry: the first carried value: scalars in lists, tuples, dictionaries or dataclasses.
        while_: a condition on the carried value; where it fails, the values stay as they are.
        hoist: whether what stays the same from pass to pass is computed before the loop, even if no pass is made.
        varies: whether every scalar of `carry` is known to change, which saves tracing the body twice.

    Returns:
        The last carried value, and the `Stack` of what was kept (undefined for the passes that `while_` cut off).
    """
    scope = active_scope()
    if count == 0:
        return carry, Stack([], 0)
    if scope is None:
        kept: list[Any] = []
        for i in range(count):
            if while_ is not None and not while_(carry):
                break
            carry, keep = body(i, carry)
            kept.append(keep)
        return carry, Stack(kept, len(kept))

    first, build = flatten(carry)
    # Constants that stay constant (such as a structural zero of a planar chain) need not be carried: found by trial.
    varying = [varies or leaf.__class__ is Symbol for leaf in first]
    while True:
        inner = Graph(scope)
        with _scope(inner), contextlib.nullcontext() if hoist else floor_at(inner):
            index = Index(inner.node("counter"))
            carried = [inner.node("carried", (), k) if varying[k] else leaf for k, leaf in enumerate(first)]
            condition = while_(build(carried)) if while_ is not None else None
            if condition.__class__ is bool:  # known while tracing
                if not condition:
                    return carry, Stack([], 0)
                condition = None
            following_value, keep = body(index, build(carried))
        following, _ = flatten(following_value)
        if len(following) != len(first):
            raise TraceError(f"the loop's body carries {len(following)} scalars on and was given {len(first)}")
        grown = [v or not same(first[k], following[k]) for k, v in enumerate(varying)]
        if grown == varying:
            break
        varying = grown

    kept_leaves, build_kept = flatten(keep)
    kept_symbols = [k for k, leaf in enumerate(kept_leaves) if leaf.__class__ is Symbol]
    changing = [k for k, v in enumerate(varying) if v]
    after = [inner.lift(following[k]) for k in changing]
    stacked = [inner.lift(kept_leaves[k]) for k in kept_symbols]
    ends = [*after, *stacked, *([condition] if condition is not None else [])]
    block = LoopBlock(
        count, live(inner.nodes, ends), tuple(carried[k] for k in changing), tuple(after), tuple(stacked), condition
    )  # fmt: skip
    present = set(block.line)
    captured = [outer for outer, held in inner.captures.items() if held in present]
    held = tuple(outer if outer.graph is scope else scope.captures[outer] for outer in captured)
    node = scope.node("loop", (*(scope.lift(first[k]) for k in changing), *held), block)
    for position, k in enumerate(changing):
        carried[k].payload = (node, position)

    last = list(first)
    for position, k in enumerate(changing):
        last[k] = scope.node("result", (node,), position)

    def passes(i: int | Index) -> Any:
        leaves = list(kept_leaves)
        for position, k in enumerate(kept_symbols):
            if isinstance(i, Index):
                leaves[k] = i.read("element", position, (node,))
            else:
                leaves[k] = node.graph.node("element", (node,), (position, 0, i % count))
        return build_kept(leaves)

    return build(last), Stack(passes, count)


def when(condition: Any, then: Callable[[], Any], otherwise: Any) -> Any:
    """`then()` where `condition` holds, else `otherwise`, a value of the same structure.

    Unlike `select`, `then` is not computed if it is not needed: for code that is long and rarely needed. In a batch of states
    it is computed if any of them needs it.

    >>> when(2.0 > 1.0, lambda: [1.0, 2.0], [0.0, 0.0])
    [1.0, 2.0]
    """
    if condition.__class__ is not Symbol:
        return then() if condition else otherwise
    needed = select(condition, 1.0, 0.0)
    start = (needed, otherwise)
    (_, value), _ = loop(1, lambda _, now: ((now[0], then()), None), start, while_=lambda now: now[0] > 0.5, hoist=False)
    return value


# --- structured values: lists, tuples, named or not, dictionaries and dataclasses, as scalars and back ----------------------
def flatten(value: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
    """The scalars of `value` in order, and the function that builds a value of the same structure from other scalars.

    Floats and symbols are scalars; lists, tuples, named tuples, dictionaries and dataclasses are taken apart; all else
    (integers, names, None) belongs to the structure and stays.
    """
    leaves: list[Any] = []
    build = _take(value, leaves)
    return leaves, lambda scalars: build(iter(scalars))


def _take(value: Any, leaves: list[Any]) -> Callable[[Any], Any]:
    kind = value.__class__
    if kind is Symbol or isinstance(value, float):
        leaves.append(value)
        return next
    names, items, make = _fields(kind), value, kind
    if names is not None:
        items, make = [getattr(value, name) for name in names], lambda parts: kind(**dict(zip(names, parts, strict=True)))
    elif kind is dict:
        items, make = value.values(), lambda parts: dict(zip(value, parts, strict=True))
    elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
        make = kind._make
    elif kind is not tuple and kind is not list:
        return lambda scalars: value
    taken = [_take(item, leaves) for item in items]
    return lambda scalars: make([part(scalars) for part in taken])


@cache
def _fields(kind: type) -> tuple[str, ...] | None:
    """The names of a dataclass's fields, None for other classes."""
    return tuple(field.name for field in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else None
