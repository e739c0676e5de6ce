"""Names: coordinates as functions of time, as SymPy users write them, and the plain symbols used internally."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from ..errors import InputError, needed


@cache
def sympy_module() -> Any:
    """SymPy, loaded when it is first needed; an `InputError` if it is not installed."""
    return needed("sympy", "kumitate.lagrange needs SymPy", "lagrange")


def time() -> Any:
    """`sympy.Symbol("t")`, the time [s] that coordinates are functions of, as in `sympy.physics.mechanics`."""
    return sympy_module().Symbol("t")


def coordinates(names: str) -> Any:
    """Generalised coordinates as functions of time: one, or a tuple for several names separated by spaces or commas.

    `dynamicsymbols` of SymPy gives the same. Their rates are `alpha.diff()`.

    >>> alpha, beta = coordinates("alpha beta")
    >>> alpha.diff()
    Derivative(alpha(t), t)
    """
    sympy, t = sympy_module(), time()
    found = tuple(sympy.Function(name)(t) for name in names.replace(",", " ").split())
    if not found:
        raise InputError(f'coordinates({names!r}) does not name any. Write coordinates("alpha beta")')
    return found if len(found) > 1 else found[0]


def entries(expressions: Any) -> list[Any]:
    """A scalar, a sequence or a matrix of expressions, as a flat list; an `InputError` for anything else."""
    sympy = sympy_module()
    if isinstance(expressions, str):
        raise InputError(f"{expressions!r} is a string, not an expression. Write expressions of SymPy's symbols")
    parts = list(expressions) if isinstance(expressions, Iterable) else [expressions]
    try:
        return [sympy.sympify(part, strict=True) for part in parts]
    except sympy.SympifyError:
        raise InputError(f"{expressions!r} is not an expression. Write numbers and SymPy's symbols") from None


class SymbolNames:
    """The coordinates `q` of a system, their `rates`, the symbols in its expressions, and a plain real symbol for each.

    Those of coordinates, rates and the time are `plain_q`, `plain_v` and `plain_t`.
    """

    def __init__(self, system: str, q: Any):
        sympy = sympy_module()
        self.system = system
        self.q = entries(q)
        self.t = time()
        for coordinate in self.q:
            if not isinstance(coordinate, sympy.core.function.AppliedUndef) or coordinate.args != (self.t,):
                raise InputError(
                    f"{system}: the coordinate {coordinate} is not a function of the time t. Make it with "
                    f'kumitate.lagrange.coordinates("{coordinate}") (or SymPy\'s dynamicsymbols)'
                )
        names = [coordinate.func.__name__ for coordinate in self.q]
        if len(set(names)) < len(names) or not names:
            raise InputError(f"{system}: the coordinates are {names}; there must be at least one, each once")
        self.names = names
        self.rates = [coordinate.diff(self.t) for coordinate in self.q]
        self.plain_q = [sympy.Dummy(name, real=True) for name in names]
        self.plain_v = [sympy.Dummy(f"{name}_dot", real=True) for name in names]
        self.plain_t = sympy.Dummy("t", real=True)
        self._plain: dict[Any, Any] = {self.t: self.plain_t}
        self._back: dict[Any, Any] = {self.plain_t: self.t}
        self._back |= dict(zip(self.plain_v, self.rates, strict=True)) | dict(zip(self.plain_q, self.q, strict=True))

    def plain(self, expression: Any, what: str, *, rates: bool = True) -> Any:
        """An expression, named `what` in messages, over plain symbols.

        An `InputError` for accelerations, for functions of time that are not coordinates, and, without `rates`, for velocities.
        """
        sympy = sympy_module()
        moving = expression.doit().xreplace(dict(zip(self.rates, self.plain_v, strict=True)))
        if not rates and moving.has(*self.plain_v):
            told = ", ".join((*self.names, "t"))
            raise InputError(f"{self.system}: {what} depends on velocities; it must be a function of {told}")
        moving = moving.xreplace(dict(zip(self.q, self.plain_q, strict=True)))
        for derivative in moving.atoms(sympy.Derivative):
            if derivative.has(*self.plain_q):
                raise InputError(
                    f"{self.system}: {what} contains {derivative}; energies and forces must not depend on accelerations"
                )
        for function in moving.atoms(sympy.core.function.AppliedUndef):
            if function.has(self.t):
                raise InputError(
                    f"{self.system}: {what} contains {function}, which is not a coordinate of the system "
                    f"({', '.join(self.names)}). Write it in terms of them, or add it to q"
                )
        for symbol in moving.free_symbols:
            if symbol not in self._back and symbol not in self._plain:
                # keep the symbol's assumptions, such as positive=True
                self._plain[symbol] = symbol if symbol.is_real else sympy.Dummy(symbol.name, real=True)
                self._back[self._plain[symbol]] = symbol
        return moving.xreplace(self._plain)

    def restored(self, plain: Any) -> Any:
        """The expression or matrix over functions of time, as the user writes them."""
        return plain.xreplace(self._back)

    def original(self, symbol: Any) -> Any:
        """The user's symbol for a plain one."""
        return self._back.get(symbol, symbol)

    def symbol(self, symbol: Any) -> Any:
        """The plain symbol for the user's symbol; the symbol itself if it does not occur in any expression."""
        return self._plain.get(symbol, symbol)

    def is_parameter(self, symbol: Any) -> bool:
        """Whether a plain symbol is neither a coordinate, nor a velocity, nor the time."""
        return symbol not in self.plain_q and symbol not in self.plain_v and symbol is not self.plain_t
