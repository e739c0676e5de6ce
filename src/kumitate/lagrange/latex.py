"""LaTeX in textbook style: factors and terms in the order of the parameters, sines without brackets.

Simplification of equations within a time limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from time import monotonic
from typing import Any

from .symbols import sympy_module

#: In expressions with more operations than this only common factors are collected: rewriting them would take too long.
_REWRITTEN = 400
_GATHERED = 4000


class Tidy:
    """Shortens expressions until `seconds` have passed in total, and is `exhausted` then.

    The limit is checked between steps, each of which is applied only to expressions of a size that it can handle.
    """

    def __init__(self, seconds: float):
        self._end = monotonic() + seconds
        self.exhausted = False

    def __call__(self, expression: Any) -> Any:
        """The shortest of several equivalent forms of an expression."""
        best, size = expression, _size(expression)
        for way, most in _ways():
            if monotonic() > self._end or size > most:
                self.exhausted = True
                break
            best, size = _better(best, size, way(expression))
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
                other, count = _better(best, size, sympy.collect(best, symbol))
                if count < size:
                    best, size, shorter = other, count, True
        return _better(best, size, sympy.factor_terms(best))[0] if best.is_Add else best


def _better(best: Any, size: int, other: Any) -> tuple[Any, int]:
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


def _ways() -> list[tuple[Callable[[Any], Any], int]]:
    """How expressions are rewritten, and how many operations they have at most."""
    sympy = sympy_module()
    from sympy.simplify.fu import TR8

    return [
        (sympy.expand, _GATHERED),
        # products of sines and cosines as sums, where squares and shared angles cancel by themselves
        (lambda expression: sympy.expand(TR8(sympy.expand(expression))), _REWRITTEN),
        (lambda expression: sympy.trigsimp(sympy.expand(expression)), _REWRITTEN),
    ]


def dotted(name: str, dots: int) -> str:
    r"""The LaTeX of a coordinate with dots for its rates, before any index: \dot{q}_{1}."""
    head, mark, tail = name.partition("_")
    return f"\\{'d' * dots}ot{{{head}}}{mark}{tail}"


def column(entries: Iterable[str]) -> str:
    """A column vector of LaTeX entries."""
    return r"\begin{bmatrix} " + r" \\ ".join(entries) + r" \end{bmatrix}"


class Printer:
    """Prints expressions over plain symbols.

    `names` has the LaTeX of symbols that SymPy prints otherwise, `order` is that of parameters in products and sums, and
    `moving` are coordinates and velocities, which come after these.
    """

    def __init__(self, names: Mapping[Any, str], order: Iterable[Any], moving: Iterable[Any]):
        ranks = {symbol: (0, k) for k, symbol in enumerate(order)}
        ranks |= {symbol: (2, k) for k, symbol in enumerate(moving)}
        self._printer = _printer_class()(dict(names), ranks)

    def __call__(self, expression: Any) -> str:
        """The LaTeX of an expression."""
        return self._printer.doprint(expression)

    def matrix(self, matrix: Any) -> str:
        """The LaTeX of a matrix."""
        rows = (" & ".join(self(entry) for entry in matrix.row(i)) for i in range(matrix.rows))
        return r"\begin{bmatrix} " + r" \\ ".join(rows) + r" \end{bmatrix}"


@cache
def _printer_class() -> Any:
    sympy = sympy_module()
    from sympy.core.function import _coeff_isneg
    from sympy.printing.latex import LatexPrinter

    class TextbookPrinter(LatexPrinter):
        """SymPy's printer with another order and functions without brackets."""

        def __init__(self, names: dict[Any, str], ranks: dict[Any, tuple[int, int]]):
            super().__init__({"symbol_names": names, "full_prec": False})
            self.ranks = ranks

        def rank(self, part: Any) -> tuple:
            """The rank of a factor: numbers, parameters, sums of these, coordinates and velocities, functions."""
            if part.is_Number or part.is_NumberSymbol:
                return (-1, 0), 0
            base = part.as_base_exp()[0]
            if base.is_Symbol:
                return self.ranks.get(base, (1, 0)), 0
            inner = [self.ranks.get(symbol, (1, 0)) for symbol in base.free_symbols]
            if base.is_Add and all(found < (2, 0) for found in inner):
                return min(inner, default=(-1, 0)), 1
            return (3 if not base.is_Add else 4, 0), min(inner, default=(0, 0))

        def _as_ordered_terms(self, expr: Any, order: Any = None) -> list[Any]:
            def key(term: Any) -> tuple:
                # by the ranks of the factors in sequence, higher powers first: (M + m) r² + I
                factors = sorted((part for part in sympy.Mul.make_args(term)), key=self._key)
                found = [self.rank(part)[0] for part in factors if not part.is_Number]
                return [rank for rank in found if rank < (3, 0)] or [(9, 0)], sympy.default_sort_key(term)

            return sorted(expr.args, key=key)

        def _key(self, part: Any) -> tuple:
            rank = self.rank(part)
            return rank[0], str(rank[1]), sympy.default_sort_key(part)

        def _print_Mul(self, expr: Any) -> str:
            if _coeff_isneg(expr):
                return f"- {self._print_product(-expr)}"
            return self._print_product(expr)

        def _print_product(self, expr: Any) -> str:
            if not expr.is_Mul:
                return self.parenthesize(expr, 40) if expr.is_Add else self._print(expr)
            number, rest = expr.as_coeff_Mul()
            above, below = sympy.fraction(rest)
            if number.is_Rational and number.q > 1 and below == 1:  # print the fraction in front of the product
                return f"{self._print(number)} {self._print_product(rest)}"
            above, below = sympy.fraction(expr)
            if below != 1:
                return f"\\frac{{{self._print(above)}}}{{{self._print(below)}}}"
            factors = sorted(sympy.Mul.make_args(expr), key=self._key)
            return " ".join(self.parenthesize(part, 40) if part.is_Add else self._print(part) for part in factors)

        def _print_Rational(self, expr: Any) -> str:
            decimal = f"{float(expr):.6g}"  # 9.81 rather than 981/100
            if expr.q > 12 and "e" not in decimal:
                return decimal
            return super()._print_Rational(expr)

        def _print_Float(self, expr: Any) -> str:
            return f"{float(expr):.6g}" if 1e-4 < abs(expr) < 1e6 else super()._print_Float(expr)

        def _print_Function(self, expr: Any, exp: Any = None) -> str:
            if expr.func not in (sympy.sin, sympy.cos, sympy.tan, sympy.tanh):
                return super()._print_Function(expr, exp)
            (angle,) = expr.args
            power = f"^{{{exp}}}" if exp is not None else ""
            inner = self._print(angle)
            plain = angle.is_Symbol or (
                angle.is_Mul and angle.args[0].is_Integer and angle.args[0] > 0 and len(angle.args) == 2
            )
            return f"\\{expr.func.__name__}{power} {inner}" if plain else f"\\{expr.func.__name__}{power}\\left({inner}\\right)"

    return TextbookPrinter
