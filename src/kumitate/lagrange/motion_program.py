"""From energies to code: the accelerations as a traced program, with all derivatives of T taken on its graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..dynamics import solve_symmetric
from ..scalar import Program, Scalar, directional, gradient, hessian, trace
from .convert import Converter
from .substitution import at
from .symbols import SymbolNames


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
