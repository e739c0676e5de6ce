"""The expression graph: every value is a `Symbol`, interned so that equal expressions are one node.

A `Graph` is one scope of a trace. The body of a `scalar.loop` is a scope of its own whose `parent` is the scope around it; what
the body uses from outside is *captured*, and nodes built from outside values alone stay outside (so loop-invariant code is
hoisted without a pass for it). A scope may be a *floor*: nodes built in it, or in scopes inside it, are not hoisted out of it.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

_clock = itertools.count()


class TraceError(TypeError):
    """A symbol was used where Python needs a number (a truth value, a float, an index)."""


class Graph:
    """One scope of a trace: the interned nodes, in order of creation.

    `parent` is the enclosing scope or None. `depth` counts the scopes around it. `floors` are the floors in force now, the
    innermost last; all scopes of one trace share the list, and traces in other threads have their own.
    """

    __slots__ = ("parent", "depth", "nodes", "captures", "floors", "_interned", "_constants")

    def __init__(self, parent: Graph | None = None):
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.nodes: list[Symbol] = []
        self.captures: dict[Symbol, Symbol] = {}
        self.floors: list[Graph] = [] if parent is None else parent.floors
        self._interned: dict[tuple, Symbol] = {}
        self._constants: dict[float, Symbol] = {}

    def node(self, op: str, args: tuple[Symbol, ...] = (), payload: Any = None) -> Symbol:
        """The node `op(args)` of this scope; the same one if it exists. `payload`: further data of the operation."""
        key = (op, args, payload)
        found = self._interned.get(key)
        if found is None:
            found = self._interned[key] = Symbol(op, args, payload, self)
            self.nodes.append(found)
        return found

    def peek(self, op: str, args: tuple[Symbol, ...]) -> Symbol | None:
        """The node `op(args)` if this scope already has it."""
        return self._interned.get((op, args, None))

    def constant(self, value: float) -> Symbol:
        """The node of a constant."""
        # 0.0 and -0.0 compare equal and may share a node: no rule of `rules` distinguishes them
        found = self._constants.get(value)
        if found is None:
            found = self._constants[value] = Symbol("const", (), float(value), self)
            self.nodes.append(found)
        return found

    def lift(self, value: Symbol | float) -> Symbol:
        """`value` as a node of this scope: numbers become constants, symbols of an enclosing scope are captured."""
        if value.__class__ is Symbol:
            if value.graph is self:
                return value
            if value.op == "const":
                return self.constant(value.payload)
            return self._capture(value)
        return self.constant(float(value))

    def _capture(self, outer: Symbol) -> Symbol:
        scope: Graph | None = self
        while scope is not None and scope is not outer.graph:
            scope = scope.parent
        if scope is None:
            raise TraceError(
                f"the symbol {outer!r} belongs to another trace; a traced function must build its result from its own arguments"
            )
        found = self.captures.get(outer)
        if found is None:
            held = outer if outer.graph is self.parent else self.parent.lift(outer)  # type: ignore[union-attr]
            found = self.captures[outer] = self.node("capture", (), held)
        return found


def scope_of(*values: Symbol | float) -> Graph:
    """The innermost scope among the symbols of `values`."""
    inner: Graph = None  # type: ignore[assignment] # one of them is a symbol
    for value in values:
        if value.__class__ is Symbol and (inner is None or value.graph.depth > inner.depth):
            inner = value.graph
    floors = inner.floors
    return floors[-1] if floors and floors[-1].depth > inner.depth else inner


@contextlib.contextmanager
def floor_at(graph: Graph) -> Iterator[None]:
    """In this context, nodes that would be built in scopes outside `graph` are built in it."""
    graph.floors.append(graph)
    try:
        yield
    finally:
        graph.floors.pop()


class Symbol:
    """A scalar whose value is not yet known: a node of the expression graph.

    It has the arithmetic of a float (`+ - * / **` with a constant exponent, comparisons) and, under their NumPy names, the
    functions of `kumitate.scalar`, so that `numpy.sin` on an object array of symbols works. It has no truth value.
    """

    __slots__ = ("op", "args", "payload", "graph", "serial")

    def __init__(self, op: str, args: tuple[Symbol, ...], payload: Any, graph: Graph):
        self.op = op
        self.args = args
        self.payload = payload
        self.graph = graph
        self.serial = next(_clock)

    def __repr__(self) -> str:
        if self.op == "const":
            return repr(self.payload)
        if self.op == "input":
            return f"{self.payload[0]}[{self.payload[1]}]"
        return f"<{self.op} #{self.serial}>"

    # --- properties that only numbers have ---------------------------------------------------------------------------
    def __bool__(self) -> bool:
        raise TraceError(
            "a traced value has no truth value: Python's `if`, `while`, `and`, `or` cannot depend on it. "
            "Use km.where(condition, a, b); inside the package scalar.select, and scalar.loop for repetition"
        )

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        if other.__class__ is Symbol or isinstance(other, int | float):
            raise TraceError("whether a traced value is equal to another is not known yet: use km.where(np.equal(a, b), ...)")
        return NotImplemented

    __hash__ = object.__hash__

    def __float__(self) -> float:
        raise TraceError("a traced value cannot be converted to a float: use NumPy's functions instead of math's")

    __int__ = __index__ = __float__  # type: ignore[assignment]

    if TYPE_CHECKING:  # attached by `rules`, where the simplifications are

        def __add__(self, other: Scalar) -> Scalar: ...
        def __neg__(self) -> Scalar: ...

        __sub__ = __mul__ = __truediv__ = __pow__ = __lt__ = __le__ = __gt__ = __ge__ = __and__ = __or__ = __add__
        __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __add__
        __pos__ = __abs__ = __invert__ = __neg__


#: A number or a node of the expression graph. Conditions too: True, False, or a node.
Scalar = float | Symbol
#: Several of them: coordinates, velocities, a row of a matrix.
Scalars = Sequence[Scalar]
