"""Forces, their points of application, and their components along other coordinates (lecture Y, eq. 9.2-9.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..errors import InputError
from .symbols import SymbolNames, entries, sympy_module


def generalised_force(force: Any, x: Any, q: Any) -> Any:
    """F_q = (∂x/∂q)ᵀ F: the generalised force along q of a force F along x(q) (9.3), as a column.

    x may be the point of a force [m], the angle of a torque [rad], or another set of generalised coordinates.

    >>> import sympy
    >>> from kumitate.lagrange import coordinates
    >>> alpha, beta = coordinates("alpha beta")
    >>> generalised_force(sympy.Symbol("T"), alpha - beta, [alpha, beta]).T
    Matrix([[T, -T]])
    """
    sympy = sympy_module()
    force, x = entries(force), entries(x)
    if len(force) != len(x):
        raise InputError(f"the force has {len(force)} components and its point {len(x)}; they must have equally many")
    return sympy.Matrix(x).jacobian(sympy.Matrix(entries(q))).T * sympy.Matrix(force)


class Push(NamedTuple):
    """A force, its components, and the Jacobian ∂x/∂q of its point, over plain symbols."""

    force: Any
    jacobian: Any

    @property
    def generalised(self) -> Any:
        """(∂x/∂q)ᵀ F."""
        return self.jacobian.T * self.force


def pushes(names: SymbolNames, forces: Sequence[Any]) -> list[Push]:
    """The user's forces, checked.

    Raises:
        InputError: for a force without a point, with a point of another size, or with one that does not depend on q.
    """
    sympy = sympy_module()
    if not isinstance(forces, list | tuple):
        raise InputError(f"{names.system}: forces must be a list of pairs (force, point); it is {forces!r}")
    found = []
    for k, pair in enumerate(forces):
        what = f"forces[{k}]"
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise InputError(
                f"{names.system}: {what} = {pair} has no point to act at. Give the pair (force, x), with x a function "
                f"of {', '.join(names.names)}: a position for a force, an angle for a torque"
            )
        force, x = (entries(part) for part in pair)
        if len(force) != len(x):
            raise InputError(
                f"{names.system}: {what} has {len(force)} components and its point {len(x)}; they must have equally many"
            )
        point = sympy.Matrix([names.plain(part, f"the point of {what}", rates=False) for part in x])
        jacobian = point.jacobian(sympy.Matrix(names.plain_q))
        if jacobian.is_zero_matrix:
            raise InputError(
                f"{names.system}: the point {x} of {what} does not depend on {', '.join(names.names)}, so that the force "
                "has no effect. Write the point as a function of them"
            )
        found.append(Push(sympy.Matrix([names.plain(part, what) for part in force]), jacobian))
    return found
