"""A(q) q̈ = b + F: the equations of motion in readable form (lecture Y, eq. 8.15), and their reduction to first order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .forces import Push
from .latex import Printer, Tidy, column, dotted
from .symbols import SymbolNames, sympy_module


@dataclass(frozen=True)
class Equations:
    """A(q) q̈ = b(q, q̇) + F, as SymPy matrices over functions of time.

    Attributes:
        A: the inertia matrix ∂²T/∂q̇² (n, n).
        b: the other terms of inertia, potentials and dissipation (n, 1).
        F: the generalised forces (n, 1), or None if no forces were given.
        tidied: whether everything was simplified within the time limit.
    """

    A: Any
    b: Any
    F: Any
    tidied: bool
    names: SymbolNames = field(repr=False)
    printer: Printer = field(repr=False)
    plain: tuple[Any, Any, Any] = field(repr=False)

    @property
    def accelerations(self) -> Any:
        """q̈ (n, 1)."""
        sympy = sympy_module()
        return sympy.Matrix([rate.diff(self.names.t) for rate in self.names.rates])

    def rows(self) -> list[Any]:
        """The equations one by one, as `sympy.Eq`."""
        sympy = sympy_module()
        right = self.b if self.F is None else self.b + self.F
        return [sympy.Eq(row, other) for row, other in zip(self.A * self.accelerations, right, strict=True)]

    def latex(self, *, braces: bool = False) -> str:
        """The equations in LaTeX, in matrix form; with `braces`, the matrices are labelled A, q̈, b and F below.

        Symbols are in the order of `parameters`, as in the lecture: m l r, not l m r.
        """
        A, b, F = self.plain
        moving = column(dotted(self.printer(q), 2) for q in self.names.plain_q)
        shown = [self.printer.matrix(A), moving, self.printer.matrix(b), *([] if F is None else [self.printer.matrix(F)])]
        if braces:
            called = ("A", r"\ddot{q}", "b", r"\mathcal{F}")
            shown = [f"\\underbrace{{{latex}}}_{{{name}}}" for latex, name in zip(shown, called, strict=False)]
        inertia, accelerations, *right = shown
        return f"{inertia} {accelerations} = {' + '.join(right)}"


@dataclass(frozen=True)
class FirstOrder:
    """ẋ = f(x): twice as many equations of first order (lecture Y, eq. 8.18).

    Attributes:
        states: x = (q₁, q̇₁, q₂, q̇₂, …), as functions of time.
        rates: f(x), expressions of the states.
    """

    states: tuple[Any, ...]
    rates: tuple[Any, ...]
    printed: tuple[str, ...] = field(repr=False)

    def latex(self) -> str:
        """The equations in LaTeX, the states called x₁, x₂, …"""
        rows = (f"\\dot{{x}}_{{{k}}} &= {rate}" for k, rate in enumerate(self.printed, start=1))
        return r"\begin{aligned} " + r" \\ ".join(rows) + r" \end{aligned}"


def derived(
    names: SymbolNames,
    kinetic: Any,
    potential: Any,
    dissipation: Any,
    forces: Sequence[Push],
    tidy: Tidy,
    printer: Printer,
) -> Equations:
    """The Euler-Lagrange equations (8.1) of energies over plain symbols."""
    sympy = sympy_module()
    q, v = sympy.Matrix(names.plain_q), sympy.Matrix(names.plain_v)
    T = sympy.Matrix([kinetic])
    momentum = T.jacobian(v).T
    A = momentum.jacobian(v)
    rest = sympy.Matrix([kinetic - potential]).jacobian(q).T - sympy.Matrix([dissipation]).jacobian(v).T
    b = rest - momentum.jacobian(q) * v - momentum.diff(names.plain_t)
    F = sum((push.generalised for push in forces), sympy.zeros(len(q), 1)) if forces else None
    A, b = tidy.matrix(A), tidy.matrix(b)
    F = None if F is None else tidy.matrix(F)
    shown_F = None if F is None else names.restored(F)
    return Equations(names.restored(A), names.restored(b), shown_F, not tidy.exhausted, names, printer, (A, b, F))


def first_order(equations: Equations, tidy: Tidy) -> FirstOrder:
    """q̈ = A⁻¹(b + F) (8.19), with the rates as additional states."""
    sympy = sympy_module()
    names = equations.names
    A, b, F = equations.plain
    accelerations = tidy.matrix(A.adjugate() * (b if F is None else b + F)) / tidy(A.det())
    states, rates = [], []
    for q, v, a in zip(names.plain_q, names.plain_v, accelerations, strict=True):
        states += [q, v]
        rates += [v, a]
    numbered = {state: sympy.Symbol(f"x_{k}", real=True) for k, state in enumerate(states, start=1)}
    printed = tuple(equations.printer(rate.xreplace(numbered)) for rate in rates)
    return FirstOrder(tuple(map(names.restored, states)), tuple(map(names.restored, rates)), printed)
