"""From energies to code: the accelerations as a traced program, with all derivatives of T taken on its graph.

Conversion of SymPy expressions to scalars of kumitate: numbers, or symbols of the current trace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any

import numpy as np

from ..compile import Kernel
from ..dynamics import solve_symmetric
from ..errors import DivergenceError, InputError
from ..scalar import Program, Scalar, Scalars, call, directional, exp, gradient, hessian, inlined, log, select, sqrt, trace
from ..scalar.arrays import RULES
from .symbols import SymbolNames, sympy_module


class Converter:
    """Converts expressions of a system to scalars, each subexpression only once.

    `values` has the scalar of every symbol that may occur, and `told` names a symbol in messages.
    """

    def __init__(self, system: str, values: Mapping[Any, Scalar], told: Callable[[Any], Any] = lambda symbol: symbol):
        self.system, self.told = system, told
        self._known: dict[Any, Scalar] = dict(values)

    def __call__(self, expression: Any) -> Scalar:
        """The scalar of an expression; an `InputError` for a symbol without a value, or an unknown function."""
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
            return sum((self(part) for part in e.args), 0.0)
        if e.is_Mul:
            return self._product(e)
        if e.is_Pow:
            return self._power(e.base, e.exp)
        rule = _functions().get(e.func)
        if rule is None:
            raise InputError(f"{self.system}: {e.func.__name__} in {e} is not supported. Write it with other functions")
        return rule(*(self(part) for part in e.args)) if e.func is not sympy_module().Piecewise else self._cases(e)

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


#: Functions of SymPy that NumPy has by other names, and those that take any number of arguments here and two there.
_CALLED = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "Abs": "absolute", "StrictLessThan": "less",
    "LessThan": "less_equal", "StrictGreaterThan": "greater", "GreaterThan": "greater_equal", "Equality": "equal",
    **{name: name for name in ("sin", "cos", "tan", "exp", "log", "tanh", "sinh", "cosh", "sign")},
}  # fmt: skip
_FOLDED = {"Min": "minimum", "Max": "maximum", "And": "logical_and", "Or": "logical_or"}


@cache
def _functions() -> dict[Any, Callable[..., Scalar]]:
    """What functions of SymPy are on scalars."""
    s = sympy_module()
    return {
        **{getattr(s, own): RULES[other][1] for own, other in _CALLED.items()},
        **{getattr(s, own): lambda *parts, rule=RULES[other][1]: reduce(rule, parts) for own, other in _FOLDED.items()},
        s.Heaviside: lambda x, middle=0.5: select(x > 0.0, 1.0, select(x < 0.0, 0.0, middle)),
        s.Piecewise: select,
        s.Not: lambda a: select(a, 0.0, 1.0) > 0.5,
    }


class Inputs:
    """The inputs of the programs of a system: q, v, the time if it occurs (`timed`), and the parameters given at each call.

    `values` has numbers by plain symbol, and `called` the plain symbols of those parameters, in order.
    """

    def __init__(self, names: SymbolNames, values: Mapping[Any, float], called: Sequence[Any], *, timed: bool):
        self.names, self.values, self.called, self.timed = names, dict(values), list(called), timed
        n = len(names.q)
        self.sizes: dict[str, int | tuple[int, ...]] = {"q": n, "v": n}
        if timed:
            self.sizes["t"] = 1
        if called:
            self.sizes["parameters"] = len(self.called)

    def converter(self, *arguments: Scalars) -> Converter:
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


def acceleration_program(inputs: Inputs, kinetic: Any, loads: Sequence[Any]) -> Program:
    """q̈ (n) from T and all other terms, `loads` = −∂U/∂q − ∂D/∂q̇ + F.

    Only T is differentiated twice. The expressions of A and b grow rapidly with the number of coordinates; the graph of T
    shares their common subexpressions.
    """
    n = len(inputs.names.q)
    energy = inputs.program(lambda convert: convert(kinetic), "kinetic")
    momentum = gradient(energy, "v")
    inertia, along, slope = hessian(energy, "v"), directional(momentum), gradient(energy, "q")

    def page(*arguments: Scalars) -> list[Scalar]:
        given = [[part[k] for k in range(len(part))] for part in arguments]
        A = inlined(inertia, given)
        flow: dict[str, Scalars] = {"q": given[1], "v": [0.0] * n, "t": [1.0], "parameters": [0.0] * len(inputs.called)}
        rising = inlined(along, (*given, *(flow[name] for name in inputs.sizes)))[n:]  # the momentum's rate at q̈ = 0
        loaded = inputs.converter(*given).all(loads)
        right = [load - rise + dT for load, rise, dT in zip(loaded, rising, inlined(slope, given), strict=True)]
        return solve_symmetric([A[k * n : (k + 1) * n] for k in range(n)], right)

    return trace(page, inputs.sizes, f"accelerations_{inputs.names.system}")


# --- the simulation of a system by steps of high order without a table of coefficients, and the resulting trajectory ------
#: Substeps of the midpoint rule; extrapolating from k of them gives order 2k.
_SUBSTEPS = (2, 4, 6, 8)


@dataclass(frozen=True, eq=False)
class Trajectory:
    """The motion of a system, sampled at m times.

    Attributes:
        names: of the coordinates.
        time: (m,) [s]; `q`, `v`: coordinates and their rates (m, n).
        kinetic, potential: the energies of the system, (m,) [J].
    """

    names: tuple[str, ...]
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    kinetic: np.ndarray
    potential: np.ndarray

    @property
    def total(self) -> np.ndarray:
        """The sum of both energies (m,) [J]: constant without forces and dissipation."""
        return self.kinetic + self.potential

    def __len__(self) -> int:
        return len(self.time)


def step_program(acceleration: Program, *, timed: bool) -> Program:
    """One step of h from t, by midpoint rules with increasing numbers of substeps and extrapolation: order 8.

    Gragg's modified midpoint rule with Bulirsch and Stoer's extrapolation in h², as in Hairer, Nørsett and Wanner, Solving
    ordinary differential equations I, II.9.
    """
    shapes = {array.name: array.shape for array in acceleration.inputs}
    n = acceleration.outputs[0].size
    inputs: dict[str, Any] = {"q": n, "v": n, "t": 1, "h": 1}
    if "parameters" in shapes:
        inputs["parameters"] = shapes["parameters"]

    def step(q: Scalars, v: Scalars, t: Scalars, h: Scalars, *given: Any) -> dict[str, Any]:
        def rate(x: list[Scalar], at: Scalar) -> list[Scalar]:
            q, v = x[:n], x[n:]
            return [*v, *call(acceleration, q, v, *([[at]] if timed else []), *given)]

        start = [q[k] for k in range(n)] + [v[k] for k in range(n)]
        first = rate(start, t[0])
        rows: list[list[list[Scalar]]] = []
        for substeps in _SUBSTEPS:
            width = h[0] * (1.0 / substeps)
            before, now = start, _moved(start, width, first)
            for k in range(1, substeps):
                before, now = now, _moved(before, 2.0 * width, rate(now, t[0] + width * float(k)))
            end = rate(now, t[0] + h[0])
            smooth = [0.5 * (a + b + width * c) for a, b, c in zip(before, now, end, strict=True)]
            row = [smooth]
            for k, coarser in enumerate(reversed(_SUBSTEPS[: len(rows)])):  # Aitken and Neville, in h²
                weight = 1.0 / ((substeps / coarser) ** 2 - 1.0)
                row.append([a + (a - b) * weight for a, b in zip(row[k], rows[-1][k], strict=True)])
            rows.append(row)
        last = rows[-1][-1]
        return {"q": last[:n], "v": last[n:]}

    return trace(step, inputs, f"step_{acceleration.name}")


def rolled_out(
    system: str,
    names: Sequence[str],
    step: Kernel,
    energies: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
    start: tuple[np.ndarray, np.ndarray],
    *,
    duration: float,
    width: float,
) -> Trajectory:
    """The motion from (q, v), with equal steps of at most `width`; `energies` returns (m, 2) from q, v and the times.

    A `DivergenceError` if a coordinate becomes NaN or infinite; its `result` is the motion until then.
    """
    if not (duration > 0.0 and width > 0.0):
        raise InputError(f"{system}: duration = {duration:g} s and step = {width:g} s; both must be positive")
    count = max(1, round(duration / width))
    h = np.array([duration / count])
    times = np.linspace(0.0, duration, count + 1)
    q, v = (np.empty((count + 1, len(names))) for _ in range(2))
    q[0], v[0] = start

    def motion(end: int) -> Trajectory:
        kinetic, potential = energies(q[:end], v[:end], times[:end, None]).T
        return Trajectory(tuple(names), times[:end], q[:end], v[:end], kinetic, potential)

    for k in range(count):
        step.into((q[k + 1], v[k + 1]), q[k], v[k], times[k : k + 1], h)
        if not (np.isfinite(q[k + 1]).all() and np.isfinite(v[k + 1]).all()):
            lost = [name for name, a, b in zip(names, q[k + 1], v[k + 1], strict=True) if not np.isfinite(a + b)]
            raise DivergenceError(
                f"{system}: {', '.join(lost)} became infinite or NaN at t = {times[k]:.6g} s; coordinates must stay finite. "
                f"Use a step below {h[0]:g} s, or check the energies and forces for terms that diverge",
                motion(k + 1),
            )
    return motion(count + 1)


def _moved(x: Scalars, h: Scalar, rate: Scalars) -> list[Scalar]:
    return [a + h * b for a, b in zip(x, rate, strict=True)]
