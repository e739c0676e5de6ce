"""From energies to code: the accelerations as a traced program, with all derivatives of T taken on its graph.

Conversion of SymPy expressions to scalars of kumitate: numbers, or symbols of the current trace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from ..dynamics import solve_symmetric
from ..errors import InputError
from ..scalar import (
    Program,
    Scalar,
    absolute,
    arctan2,
    both,
    cos,
    directional,
    either,
    equal,
    exp,
    gradient,
    hessian,
    log,
    maximum,
    minimum,
    select,
    sin,
    sqrt,
    tanh,
    trace,
)
from .derivatives import at
from .symbols import SymbolNames, sympy_module


class Converter:
    """Converts expressions to scalars, each subexpression only once.

    Args:
        system: the name of the system, for messages.
        values: the scalar of every symbol that may occur.
        told: the name of a symbol in messages.
    """

    def __init__(self, system: str, values: Mapping[Any, Scalar], told: Callable[[Any], Any] = lambda symbol: symbol):
        self.system, self.told = system, told
        self._known: dict[Any, Scalar] = dict(values)

    def __call__(self, expression: Any) -> Scalar:
        """The scalar of an expression.

        Raises:
            InputError: for a symbol without a value, or a function that is not supported.
        """
        found = self._known.get(expression)
        if found is None:
            found = self._known[expression] = self._made(expression)
        return found

    def all(self, expressions: Sequence[Any]) -> list[Scalar]:
        """The scalars of several expressions, with common subexpressions shared, including parts of sums and products."""
        shared, written = sympy_module().cse(list(expressions))
        for symbol, part in shared:
            self._known[symbol] = self(part)
        return [self(expression) for expression in written]

    def _made(self, e: Any) -> Scalar:
        if e.is_Symbol:
            raise InputError(
                f"{self.system}: the symbol {self.told(e)} has no value. Give one, parameters={{{self.told(e)}: ...}}, "
                "or name it among the inputs"
            )
        if e.is_Number or e.is_NumberSymbol:
            if not e.is_finite:
                raise InputError(f"{self.system}: an expression contains {e}; all numbers must be finite")
            return float(e)
        if e.is_Add:
            return self._sum(e)
        if e.is_Mul:
            return self._product(e)
        if e.is_Pow:
            return self._power(e.base, e.exp)
        rule = _functions().get(e.func)
        if rule is None:
            raise InputError(f"{self.system}: {e.func.__name__} in {e} is not supported. Write it with other functions")
        return rule(*(self(part) for part in e.args)) if e.func is not sympy_module().Piecewise else self._cases(e)

    def _sum(self, e: Any) -> Scalar:
        total: Scalar = 0.0
        for part in e.args:
            total = total + self(part)
        return total

    def _product(self, e: Any) -> Scalar:
        above: Scalar = 1.0
        below: Scalar = 1.0
        for part in e.args:
            if part.is_Pow and part.exp.could_extract_minus_sign():
                below = below * self._power(part.base, -part.exp)
            else:
                above = above * self(part)
        return above / below

    def _power(self, base: Any, exponent: Any) -> Scalar:
        if exponent.could_extract_minus_sign():
            return 1.0 / self._power(base, -exponent)
        if exponent.is_Integer:
            return self(base) ** int(exponent)
        if exponent.is_Rational and exponent.q == 2:
            root = sqrt(self(base))
            return root if exponent.p == 1 else root ** int(exponent.p)
        if base is sympy_module().E:
            return exp(self(exponent))
        return exp(self(exponent) * log(self(base)))

    def _cases(self, e: Any) -> Scalar:
        *cases, (last, condition) = e.args
        if condition != True:  # noqa: E712 - SymPy's truth, not Python's
            raise InputError(f"{self.system}: {e} is undefined if none of its conditions holds. End it with (value, True)")
        value = self(last)
        for part, condition in reversed(cases):
            value = select(self(condition), self(part), value)
        return value


@cache
def _functions() -> dict[Any, Callable[..., Scalar]]:
    s = sympy_module()

    def many(pair: Callable[[Scalar, Scalar], Scalar]) -> Callable[..., Scalar]:
        def fold(first: Scalar, *others: Scalar) -> Scalar:
            for other in others:
                first = pair(first, other)
            return first

        return fold

    return {
        s.sin: sin,
        s.cos: cos,
        s.tan: lambda x: sin(x) / cos(x),
        s.exp: exp,
        s.log: log,
        s.tanh: tanh,
        s.sinh: lambda x: 0.5 * (exp(x) - exp(-x)),
        s.cosh: lambda x: 0.5 * (exp(x) + exp(-x)),
        s.atan2: arctan2,
        s.atan: lambda x: arctan2(x, 1.0),
        s.asin: lambda x: arctan2(x, sqrt(1.0 - x * x)),
        s.acos: lambda x: arctan2(sqrt(1.0 - x * x), x),
        s.Abs: absolute,
        s.sign: lambda x: select(x > 0.0, 1.0, select(x < 0.0, -1.0, 0.0)),
        s.Heaviside: lambda x, middle=0.5: select(x > 0.0, 1.0, select(x < 0.0, 0.0, middle)),
        s.Min: many(minimum),
        s.Max: many(maximum),
        s.Piecewise: select,
        s.StrictLessThan: lambda a, b: a < b,
        s.LessThan: lambda a, b: a <= b,
        s.StrictGreaterThan: lambda a, b: a > b,
        s.GreaterThan: lambda a, b: a >= b,
        s.Equality: equal,
        s.And: many(both),
        s.Or: many(either),
        s.Not: lambda a: select(a, 0.0, 1.0) > 0.5,
    }


class Inputs:
    """The inputs of the programs of a system: q, v, the time if it occurs, and the parameters given at each call.

    Args:
        names: of the system.
        values: numbers by plain symbol.
        called: the plain symbols of the parameters given at each call, in order.
        timed: whether the time occurs.
    """

    def __init__(self, names: SymbolNames, values: Mapping[Any, float], called: Sequence[Any], *, timed: bool):
        self.names, self.values, self.called, self.timed = names, dict(values), list(called), timed
        n = len(names.q)
        self.sizes: dict[str, int | tuple[int, ...]] = {"q": n, "v": n}
        if timed:
            self.sizes["t"] = 1
        if called:
            self.sizes["parameters"] = len(self.called)

    def converter(self, *arguments: Sequence[Scalar]) -> Converter:
        """A converter over the scalars of the inputs."""
        given = dict(zip(self.sizes, arguments, strict=True))
        names = self.names
        values: dict[Any, Scalar] = dict(self.values)
        values |= {symbol: given["q"][k] for k, symbol in enumerate(names.plain_q)}
        values |= {symbol: given["v"][k] for k, symbol in enumerate(names.plain_v)}
        values |= {symbol: given["parameters"][k] for k, symbol in enumerate(self.called)}
        if self.timed:
            values[names.plain_t] = given["t"][0]
        return Converter(names.system, values, names.original)

    def program(self, page: Callable[[Converter], Any], name: str) -> Program:
        """The program of a function of a converter."""
        return trace(lambda *arguments: page(self.converter(*arguments)), self.sizes, f"{name}_{self.names.system}")


def expression_program(inputs: Inputs, expressions: Sequence[Any], name: str) -> Program:
    """The program of expressions over plain symbols."""
    return inputs.program(lambda convert: convert.all(expressions), name)


def inertia_program(inputs: Inputs, kinetic: Any) -> Program:
    """A = ∂²T/∂v² (n, n)."""
    return hessian(inputs.program(lambda convert: convert(kinetic), "kinetic"), "v")


def acceleration_program(inputs: Inputs, kinetic: Any, loads: Sequence[Any]) -> Program:
    """q̈ (n) from T and all other terms, `loads` = −∂U/∂q − ∂D/∂q̇ + F.

    Only T is differentiated twice. The expressions of A and b grow rapidly with the number of coordinates; the graph of T
    shares their common subexpressions.
    """
    n = len(inputs.names.q)
    energy = inputs.program(lambda convert: convert(kinetic), "kinetic")
    momentum = gradient(energy, "v")
    inertia, along, slope = hessian(energy, "v"), directional(momentum), gradient(energy, "q")

    def page(*arguments: Sequence[Scalar]) -> list[Scalar]:
        given = [[part[k] for k in range(len(part))] for part in arguments]
        A = at(inertia, *given)
        flow: dict[str, Sequence[Scalar]] = {
            "q": given[1],
            "v": [0.0] * n,
            "t": [1.0],
            "parameters": [0.0] * len(inputs.called),
        }
        rising = at(along, *given, *(flow[name] for name in inputs.sizes))[n:]  # the momentum's rate at q̈ = 0
        loaded = inputs.converter(*given).all(loads)
        right = [load - rise + dT for load, rise, dT in zip(loaded, rising, at(slope, *given), strict=True)]
        return solve_symmetric([A[k * n : (k + 1) * n] for k in range(n)], right)

    return trace(page, inputs.sizes, f"accelerations_{inputs.names.system}")
