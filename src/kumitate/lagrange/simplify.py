"""Simplification of equations within a time limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any

from .symbols import sympy_module

#: In expressions with more operations than this only common factors are collected: rewriting them would take too long.
_REWRITTEN = 400
_GATHERED = 4000


class Tidy:
    """Shortens expressions for `seconds` in total; later expressions are returned unchanged.

    The limit is checked between steps, each of which is applied only to expressions of a size that it can handle.

    Attributes:
        exhausted: whether the time ran out before everything was simplified.
    """

    def __init__(self, seconds: float):
        self._end = monotonic() + seconds
        self.exhausted = False

    def __call__(self, expression: Any) -> Any:
        """The shortest of several equivalent forms of an expression."""
        best, size = expression, _size(expression)
        for way in _ways():
            if monotonic() > self._end or size > _GATHERED:
                self.exhausted = True
                break
            if size > _REWRITTEN and way is not _expanded:
                self.exhausted = True
                break
            best, size = self._better(best, size, way(expression))
        return _spread(self._gathered(best, size))

    def matrix(self, matrix: Any) -> Any:
        """A matrix, entry by entry; equal entries are simplified only once."""
        known: dict[Any, Any] = {}
        return matrix.applyfunc(lambda entry: known[entry] if entry in known else known.setdefault(entry, self(entry)))

    def _gathered(self, best: Any, size: int) -> Any:
        """The expression with common factors taken out, as long as that makes it shorter."""
        sympy = sympy_module()
        shorter = True
        while shorter and best.is_Add and size <= _GATHERED:
            shorter = False
            for symbol in sorted(best.free_symbols | best.atoms(sympy.sin, sympy.cos), key=str):
                if monotonic() > self._end:
                    self.exhausted = True
                    return best
                other, count = self._better(best, size, sympy.collect(best, symbol))
                if count < size:
                    best, size, shorter = other, count, True
        return self._better(best, size, sympy.factor_terms(best))[0] if best.is_Add else best

    def _better(self, best: Any, size: int, other: Any) -> tuple[Any, int]:
        count = _size(other)
        return (other, count) if count < size else (best, size)


def _spread(expression: Any) -> Any:
    """The expression without a minus or a fraction in front of brackets."""
    sympy = sympy_module()
    number, rest = expression.as_coeff_Mul()
    if rest.is_Add and (number < 0 or not number.is_Integer):
        return sympy.Add(*(number * part for part in rest.args))
    return expression


def _size(expression: Any) -> int:
    return int(expression.count_ops(visual=False))


def _expanded(expression: Any) -> Any:
    return sympy_module().expand(expression)


def _ways() -> Iterator[Callable[[Any], Any]]:
    sympy = sympy_module()
    from sympy.simplify.fu import TR8

    yield _expanded
    # products of sines and cosines as sums, where squares and shared angles cancel by themselves
    yield lambda expression: sympy.expand(TR8(sympy.expand(expression)))
    yield lambda expression: sympy.trigsimp(sympy.expand(expression))
