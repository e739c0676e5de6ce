"""Derivatives of programs, as programs: forward along a direction, reverse for the gradient of one output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from .blocks import Hole, Index, LoopBlock, Program, Stack, divided, shaped
from .evaluate import Interpreter
from .graph import Scalar, Scalars, Symbol, TraceError
from .operations import CONDITIONS, TRACED
from .passes import live
from .rules import apply
from .tracing import loop, results_of, trace

# ∂op/∂argument for each argument, from the operation's own value and the arguments
_PARTIALS = {name: partial(row.partials, apply) for name, row in TRACED.items() if row.partials is not None}


def directional(
    program: Program,
    fillings: Mapping[str, Program] | None = None,
    rules: Mapping[Program, Program] | None = None,
    *,
    iterated: bool = False,
) -> Program:
    """The program with an additional input x_dot for every input x, and an additional output y_dot for every output y.

    y_dot is the derivative of y when x moves with x_dot. Calls and loops remain calls and loops; what `when` computes is
    differentiated. Holes are taken as the programs that `fillings` gives by name. `rules` gives the derivatives of programs
    that are known otherwise, with the inputs and outputs that `directional` would give them.

    A loop of several passes that stops early is differentiated only if it is known to be right: with `iterated`, the derivative
    is that of the passes that are made, which is right for iterations over the pieces of a function in pieces, and for none
    that refines a start that is good already.

    Raises:
        TraceError: for such a loop unless `iterated`, or a hole without a filling.

    >>> line = trace(lambda x: [x[0] * x[1]], {"x": 2}, name="product")
    >>> from kumitate.scalar import evaluate
    >>> evaluate(directional(line), [2.0, 3.0, 1.0, 0.0])
    [6.0, 3.0]
    """
    return _Slopes(dict(fillings or {}), dict(rules or {}), iterated).of(program)


class _Slopes:
    """The derivatives of the programs that a program calls, each made once."""

    def __init__(self, fillings: dict[str, Program], rules: dict[Program, Program], iterated: bool):
        self.fillings, self.made, self.iterated = fillings, rules, iterated

    def of(self, program: Program) -> Program:
        """The derivative of a program, or of what fills a hole."""
        if isinstance(program, Hole):
            if program.name not in self.fillings:
                raise TraceError(f"the hole {program.name!r} cannot be differentiated; say in `fillings` what it stands for")
            program = self.fillings[program.name]
        if program not in self.made:
            self.made[program] = self._directional(program)
        return self.made[program]

    def _directional(self, program: Program) -> Program:
        shapes = {array.name: array.shape for array in program.inputs}
        dotted = dict(zip(_with_dots(list(shapes)), shapes.values(), strict=True))

        def both(*arguments: Any) -> dict[str, Any]:
            given = zip(shapes, arguments[: len(shapes)], arguments[len(shapes) :], strict=True)
            pairs = _Forward({name: (_flat(x), _flat(dx)) for name, x, dx in given}, self).results(program)
            values, rates = (shaped(program.outputs, [pair[k] for pair in pairs]) for k in (0, 1))
            return values | dict(zip(_with_dots(list(values)), rates.values(), strict=True))

        return trace(both, {**shapes, **dotted}, f"{program.name}_dot")


def _with_dots(names: list[str]) -> list[str]:
    """The names with "_dot" added, as often as makes them new: a derivative's inputs have some already."""
    found: list[str] = []
    for name in names:
        dotted = f"{name}_dot"
        while dotted in names or dotted in found:
            dotted += "_dot"
        found.append(dotted)
    return found


def _flat(value: Any) -> Scalars:
    if value.__class__ is Symbol:
        return [value]
    return [scalar for row in value for scalar in row] if isinstance(value, list) else value


def _paired(op: str, *pairs: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
    """The value and the rate of an operation on such pairs."""
    values = [x for x, _ in pairs]
    value = apply(op, *values)
    if op in CONDITIONS:
        return value, 0.0
    if op == "select":  # not by partial derivatives: the branch not chosen may be infinite
        return value, apply("select", values[0], pairs[1][1], pairs[2][1])
    slopes = zip(_PARTIALS[op](value, *values), (rate for _, rate in pairs), strict=True)
    return value, sum((0.0 if rate.__class__ is float and rate == 0.0 else slope * rate for slope, rate in slopes), 0.0)


_PAIRED = {name: partial(_paired, name) for name in TRACED}
_APPLIED = {name: partial(apply, name) for name in TRACED}


class _Forward(Interpreter):
    """A program run over pairs (value, rate)."""

    def __init__(self, inputs: dict[str, tuple[Scalars, Scalars]], slopes: _Slopes | None = None):
        self.slopes = slopes or _Slopes({}, {}, False)
        super().__init__(inputs, _PAIRED, lambda number: (number, 0.0), self._called)

    def read(self, name: str, position: Any) -> Any:
        values, rates = self.inputs[name]
        return values[position], rates[position]

    def _called(self, program: Program, pairs: list[Any]) -> Sequence[Any]:
        found = results_of(self.slopes.of(program), [pair[k] for k in (0, 1) for pair in pairs])
        return list(zip(found[: len(program.results)], found[len(program.results) :], strict=True))

    def _loop(self, node: Symbol) -> Any:
        block: LoopBlock = node.payload
        carries, keeps = block.carries, block.keeps
        start = [self.values[a] for a in node.args[: len(carries)]]

        def inside(carry: list[Any]) -> _Forward:
            inner = _Forward(self.inputs, self.slopes)  # type: ignore[arg-type]
            inner.values = dict(self.values)
            inner.values.update(zip((now for now, _ in carries.values()), carry, strict=True))
            return inner

        def body(i: int | Index, carry: list[Any]) -> tuple[list[Any], list[Any]]:
            inner = inside(carry)
            inner.values.update({part: i for part in block.line if part.op == "counter"})
            inner.line(block.line)
            return [inner.values[then] for _, then in carries.values()], [inner.values[symbol] for symbol in keeps.values()]

        asked, condition = block.condition, None
        if asked is not None:
            if block.count > 1 and not self.slopes.iterated:
                raise TraceError("a loop of several passes that stops early (while_) cannot be differentiated")
            line = live(block.line, [asked])

            def condition(carry: list[Any]) -> Any:
                inner = inside(carry)
                inner.line(line)
                return inner.values[asked][0]

        last, stack = loop(block.count, body, start, while_=condition, hoist=condition is None)
        return dict(zip(carries, last, strict=True)), Stack(lambda i: dict(zip(keeps, stack[i], strict=True)), block.count)


def inlined(program: Program, inputs: Sequence[Scalars]) -> list[Scalar]:
    """A program's results (all of them in a row) for the scalars of its inputs, without a call: every operation is written
    where this is called, so that what is zero or constant there costs nothing.

    >>> inlined(trace(lambda x, y: [x[0] * y[0] + x[1]], {"x": 2, "y": 1}, "line"), ([2.0, 1.0], [3.0]))
    [7.0]
    """

    def call(program: Program, scalars: Scalars) -> list[Scalar]:
        return inlined(program, list(divided(program.inputs, scalars).values()))

    named = {array.name: values for array, values in zip(program.inputs, inputs, strict=True)}
    return Interpreter(named, _APPLIED, call=call).results(program)


def inlined_slopes(program: Program, inputs: Sequence[Scalars], directions: Iterable[Sequence[Scalars]]) -> list[list[Scalar]]:
    """The derivatives of a program's results along some directions, as `inlined`.

    Args:
        program: a straight line.
        inputs: the scalars of each input; `directions`: their rates, for each direction.

    Raises:
        TraceError: for a program with loops or calls (use `directional` for these).

    >>> product = trace(lambda x: [x[0] * x[1]], {"x": 2}, name="product")
    >>> inlined_slopes(product, [[2.0, 3.0]], [[[1.0, 0.0]], [[0.0, 1.0]]])
    [[3.0], [2.0]]
    """
    others = {node.op for node in program.line} - TRACED.keys() - {"const", "input"}
    if others:
        raise TraceError(f"{program.name} contains {', '.join(sorted(others))}: only straight lines are inlined")
    names = [array.name for array in program.inputs]
    run = Interpreter(dict(zip(names, inputs, strict=True)), _APPLIED)
    run.line(program.line)
    partials: dict[Symbol, tuple[Scalar, ...]] = {}  # each made once for all directions

    def moved(node: Symbol, rates: Mapping[Symbol, Scalar]) -> Scalar:
        if node.op == "select":  # not by partial derivatives: the branch not chosen may be infinite
            return apply("select", run.values[node.args[0]], *(rates.get(a, 0.0) for a in node.args[1:]))
        if node not in partials:
            partials[node] = _PARTIALS[node.op](run.values[node], *(run.values[a] for a in node.args))
        return sum((p * rates[a] for p, a in zip(partials[node], node.args, strict=True) if a in rates), 0.0)

    def along(rates: Sequence[Scalars]) -> list[Scalar]:
        named = dict(zip(names, rates, strict=True))
        found: dict[Symbol, Scalar] = {}  # without those that are zero
        for node in program.line:
            if node.op == "input":
                rate = named[node.payload[0]][node.payload[1]]
            elif node.op in _PARTIALS and any(a in found for a in node.args):
                rate = moved(node, found)
            else:
                continue
            if rate.__class__ is Symbol or rate != 0.0:
                found[node] = rate
        return [found.get(node, 0.0) for node in program.results]

    return list(map(along, directions))


def gradient(program: Program, wrt: str) -> Program:
    """The gradient of a program's single scalar output by one of its inputs, in reverse: a few times the cost of the program.

    Raises:
        TraceError: if there is more than one scalar, or the program has loops or calls (use `directional` for these).

    >>> square = trace(lambda x: x[0] * x[0] + x[1], {"x": 2}, name="square")
    >>> from kumitate.scalar import evaluate
    >>> evaluate(gradient(square, "x"), [3.0, 5.0])
    [6.0, 1.0]
    """
    if len(program.results) != 1:
        raise TraceError(f"{program.name} has {len(program.results)} outputs; a gradient needs one scalar")
    size = next((array.size for array in program.inputs if array.name == wrt), None)
    if size is None:
        raise TraceError(f"{program.name} has no input {wrt!r}; there are {', '.join(array.name for array in program.inputs)}")

    def page(*arguments: Any) -> list[Scalar]:
        forward = _Forward({a.name: (_flat(x), [0.0] * a.size) for a, x in zip(program.inputs, arguments, strict=True)})
        forward.line(program.line)
        values = {node: pair[0] for node, pair in forward.values.items() if isinstance(pair, tuple)}
        adjoints: dict[Symbol, Scalar] = {program.results[0]: 1.0}
        found: list[Scalar] = [0.0] * size
        for node in reversed(program.line):
            adjoint = adjoints.get(node)
            if adjoint is None or node.op == "const" or node.op in CONDITIONS:
                continue
            if node.op == "input":
                if node.payload[0] == wrt:
                    found[node.payload[1]] = adjoint
                continue
            if node.op not in _PARTIALS:
                raise TraceError(
                    f"{program.name} contains a {node.op}: reverse derivatives need straight-line code; use `directional`"
                )
            partials = _PARTIALS[node.op](values[node], *(values[a] for a in node.args))
            for argument, slope in zip(node.args, partials, strict=True):
                share = slope * adjoint
                adjoints[argument] = adjoints[argument] + share if argument in adjoints else share
        return found

    return trace(page, {array.name: array.shape for array in program.inputs}, f"{program.name}_gradient")


def hessian(program: Program, wrt: str) -> Program:
    """The second derivatives (n, n) of a program's single scalar output by one of its inputs: forward over reverse."""
    reverse = gradient(program, wrt)

    def page(*arguments: Any) -> list[list[Scalar]]:
        return [[rate for _, rate in pairs] for pairs in _along_each(reverse, wrt, arguments)]

    return trace(page, {array.name: array.shape for array in program.inputs}, f"{program.name}_hessian")


def jacobian(program: Program, wrt: str) -> Program:
    """The program with an additional output y_by_x for every output y: its derivatives by all entries of an input x.

    An output of shape (m,) has derivatives of shape (n, m) by n entries. Calls and loops as in `directional`.

    >>> square = trace(lambda x, a: [a * x[0] * x[1]], {"x": 2, "a": ()}, name="product")
    >>> from kumitate.scalar import evaluate
    >>> evaluate(jacobian(square, "x"), [2.0, 3.0, 10.0])
    [60.0, 30.0, 20.0]
    """

    def page(*arguments: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        rows: dict[str, list[Any]] = {}
        for pairs in _along_each(program, wrt, arguments):
            found = found or shaped(program.outputs, [x for x, _ in pairs])
            for name, value in shaped(program.outputs, [dx for _, dx in pairs]).items():
                rows.setdefault(f"{name}_by_{wrt}", []).append(value)
        return found | rows

    return trace(page, {array.name: array.shape for array in program.inputs}, f"{program.name}_by_{wrt}")


def _along_each(program: Program, wrt: str, arguments: Sequence[Any]) -> Iterator[list[tuple[Scalar, Scalar]]]:
    """The results and their rates, when each entry of an input moves alone."""
    slopes = _Slopes({}, {}, False)
    for i in range(next(array.size for array in program.inputs if array.name == wrt)):
        rates = [[float(a.name == wrt and k == i) for k in range(a.size)] for a in program.inputs]
        given = zip(program.inputs, arguments, rates, strict=True)
        forward = _Forward({a.name: (_flat(x), dx) for a, x, dx in given}, slopes)
        yield forward.results(program)
