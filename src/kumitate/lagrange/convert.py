"""Conversion of SymPy expressions to scalars of kumitate: numbers, or symbols of the current trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from ..errors import InputError
from ..scalar import Scalar, absolute, arctan2, both, cos, either, equal, exp, log, maximum, minimum, select, sin, sqrt, tanh
from .symbols import sympy_module


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
