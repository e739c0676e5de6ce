"""Systems described by energies: readable equations and compiled code (lecture Y, 8 and 9).

A(q) q̈ = b + F are the equations of motion in readable form (8.15), which reduce to first order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ..compile import Kernel
from ..compile.exports import to_sympy
from ..dynamics import FRICTION_VELOCITY
from ..errors import InputError
from ..model import Mechanism, check_freedom
from ..scalar import evaluate, hessian, trace
from .forces import pushes
from .forward import tree_kinetic, tree_potential
from .latex import Printer, Tidy, column, dotted
from .motion_program import Inputs, Trajectory, acceleration_program, expression_program, rolled_out, step_program
from .symbols import SymbolNames, coordinates, entries, sympy_module

#: The most coordinates for which accelerations are solved symbolically.
_SOLVED = 3


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
        return sympy_module().Matrix([rate.diff(self.names.t) for rate in self.names.rates])

    def rows(self) -> list[Any]:
        """The equations one by one, as `sympy.Eq`."""
        right = self.b if self.F is None else self.b + self.F
        return [sympy_module().Eq(row, other) for row, other in zip(self.A * self.accelerations, right, strict=True)]

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


class System:
    """Equations of motion from energies by the Euler-Lagrange equations: d/dt ∂L/∂q̇ − ∂L/∂q + ∂D/∂q̇ = F (8.1).

    >>> import sympy
    >>> from kumitate.lagrange import System, coordinates, gravity, translation
    >>> x, (m, l, g) = coordinates("x"), sympy.symbols("m l g")
    >>> bob = [l * sympy.sin(x), -l * sympy.cos(x)]
    >>> pendulum = System(x, translation(m, bob), gravity(m, bob[1], g), parameters={m: 1.0, g: 9.81, l: 2.0})
    >>> pendulum.equations().rows()
    [Eq(l**2*m*Derivative(x(t), (t, 2)), -g*l*m*sin(x(t)))]
    >>> print(pendulum.latex().partition(" = ")[2])
    \\begin{bmatrix} - m g l \\sin x \\end{bmatrix}
    >>> float(pendulum.compile()([0.5], [0.0])[0])
    -2.35...
    """

    def __init__(
        self,
        q: Any,
        kinetic: Any,
        potential: Any = 0,
        *,
        dissipation: Any = 0,
        forces: Sequence[Any] = (),
        parameters: Mapping[Any, float] | Sequence[Any] | None = None,
        name: str = "system",
    ):
        """The system with these energies, given as SymPy expressions.

        Args:
            q: one or several generalised coordinates: functions of time, as made by `coordinates`.
            kinetic: T [J] as a function of q and its rates, in an inertial frame.
            potential: U [J].
            dissipation: D [W], whose derivatives with respect to the rates are the resisting forces.
            forces: pairs (force, x): a force [N] and its point [m], a torque [N·m] and its angle [rad], or a generalised force
                and its coordinate; scalars or vectors of equal size.
            parameters: values of symbols, or only the symbols; their order is the order in which they are printed.
            name: for messages.

        Raises:
            InputError: for coordinates that are not functions of time, a variable that is missing from q, a force without a
                point, and a value that is not a number.
        """
        self.name = name
        self.names = SymbolNames(name, entries(q))
        plain = self.names.plain
        self._kinetic = plain(_one(kinetic, "kinetic"), "the kinetic energy")
        self._potential = plain(_one(potential, "potential"), "the potential energy", rates=False)
        self._dissipation = plain(_one(dissipation, "dissipation"), "the dissipation function")
        self._pushes = pushes(self.names, forces)
        self._order = [self.names.symbol(symbol) for symbol in (() if parameters is None else parameters)]
        self._values = self._numbers(parameters) if isinstance(parameters, Mapping) else {}

    def __repr__(self) -> str:
        return f"System {self.name!r} of {', '.join(self.names.names)}"

    @property
    def parameters(self) -> tuple[Any, ...]:
        """The symbols in the energies and forces that are neither coordinates nor the time, in the order of printing."""
        used = self._used()
        given = [symbol for symbol in self._order if symbol in used]
        others = sorted((s for s in used if self.names.is_parameter(s) and s not in given), key=lambda symbol: symbol.name)
        return tuple(self.names.original(symbol) for symbol in (*given, *others))

    # --- equations ----------------------------------------------------------------------------------------------------
    def equations(self, *, seconds: float = 20.0) -> Equations:
        """A(q) q̈ = b + F, simplified for at most about `seconds` seconds.

        Raises:
            InputError: if the inertia matrix is singular; the message names the coordinates without inertia.
        """
        self._check_inertia(self._values)
        sympy, names, tidy = sympy_module(), self.names, Tidy(seconds)
        q, v = sympy.Matrix(names.plain_q), sympy.Matrix(names.plain_v)
        momentum = sympy.Matrix([self._kinetic]).jacobian(v).T
        rest = sympy.Matrix([self._kinetic - self._potential]).jacobian(q).T - sympy.Matrix([self._dissipation]).jacobian(v).T
        A = tidy.matrix(momentum.jacobian(v))
        b = tidy.matrix(rest - momentum.jacobian(q) * v - momentum.diff(names.plain_t))
        F = tidy.matrix(sum((push.generalised for push in self._pushes), sympy.zeros(len(q), 1))) if self._pushes else None
        shown = None if F is None else names.restored(F)
        return Equations(names.restored(A), names.restored(b), shown, not tidy.exhausted, names, self._printer, (A, b, F))

    def latex(self, *, braces: bool = False, seconds: float = 20.0) -> str:
        """The equations in LaTeX; see `Equations.latex`."""
        return self.equations(seconds=seconds).latex(braces=braces)

    def force_latex(self, k: int = 0, names: Sequence[str] = ()) -> str:
        """(∂x/∂q)ᵀ F of one of the forces, in LaTeX (lecture Y, eq. 11.12); `names`: the names of its components along q."""
        push, tidy = self._pushes[k], Tidy(5.0)
        shown = list(names) or [f"\\mathcal{{F}}_{{{self._printer(q)}}}" for q in self.names.plain_q]
        J = self._printer.matrix(tidy.matrix(push.jacobian.T))
        return f"{column(shown)} = {J} {self._printer.matrix(push.force)}"

    def first_order(self, *, seconds: float = 20.0) -> FirstOrder:
        """ẋ = f(x) of first order, x = (q₁, q̇₁, …), solved for the accelerations (8.18, 8.19).

        Raises:
            InputError: for more than three coordinates, whose solution would fill pages; `compile` solves numerically.
        """
        if len(self.names.q) > _SOLVED:
            raise InputError(
                f"{self.name}: {len(self.names.q)} coordinates have no readable formula for their accelerations; at most "
                f"{_SOLVED} are solved symbolically. Use `equations` for A and b, or `compile`, which solves them numerically"
            )
        equations, tidy, names = self.equations(seconds=seconds), Tidy(seconds), self.names
        A, b, F = equations.plain
        accelerations = tidy.matrix(A.adjugate() * (b if F is None else b + F)) / tidy(A.det())
        states, rates = [], []
        for q, v, a in zip(names.plain_q, names.plain_v, accelerations, strict=True):
            states += [q, v]
            rates += [v, a]
        numbered = {state: sympy_module().Symbol(f"x_{k}", real=True) for k, state in enumerate(states, start=1)}
        printed = tuple(self._printer(rate.xreplace(numbered)) for rate in rates)
        return FirstOrder(tuple(map(names.restored, states)), tuple(map(names.restored, rates)), printed)

    # --- programs -----------------------------------------------------------------------------------------------------
    def compile(self, *, parameters: Mapping[Any, float] | None = None, inputs: Sequence[Any] = ()) -> Kernel:
        """The accelerations q̈ (n) as code: `kernel(q, v)`, followed by t (1) if the time occurs and the `inputs` (k).

        Args:
            parameters: values of symbols, which override those of the system.
            inputs: symbols whose values are given at every call, in this order.

        Raises:
            InputError: for symbols without a value, unknown ones, and a singular inertia matrix.
        """
        read = self._inputs(parameters, inputs)
        return Kernel(acceleration_program(read, self._kinetic, self._loads))

    def compile_expressions(
        self, expressions: Any, *, parameters: Mapping[Any, float] | None = None, inputs: Sequence[Any] = ()
    ) -> Kernel:
        """Expressions of coordinates, rates, time and parameters as code; called like the kernel of `compile`."""
        plain = [self.names.plain(part, "the expression") for part in entries(expressions)]
        return Kernel(expression_program(self._inputs(parameters, inputs, plain), plain, "expressions"))

    def simulate(
        self, q: Any, v: Any, *, duration: float, step: float, parameters: Mapping[Any, float] | None = None
    ) -> Trajectory:
        """The motion from the coordinates q (n) with the rates v (n), in equal steps of order 8.

        Args:
            duration, step: [s]; one sample is kept per step.
            parameters: values of symbols, which override those of the system.

        Raises:
            InputError: as for `compile`. DivergenceError: if the motion diverges; its `result` is the motion until then.

        >>> from kumitate.lagrange import System, coordinates, spring, translation
        >>> x = coordinates("x")
        >>> motion = System(x, translation(1.0, x), spring(1.0, x)).simulate([1.0], [0.0], duration=1.0, step=0.1)
        >>> bool(abs(motion.q[-1, 0] - np.cos(1.0)) < 1e-13)
        True
        """
        n = len(self.names.q)
        start = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        for what, part in zip(("q", "v"), start, strict=True):
            if part.shape != (n,) or not np.isfinite(part).all():
                raise InputError(
                    f"{self.name}: {what} is {part.tolist()}; it must be {n} numbers, of {', '.join(self.names.names)}"
                )
        read = self._inputs(parameters, ())
        advance = Kernel(step_program(acceleration_program(read, self._kinetic, self._loads), timed=read.timed))
        energies = Kernel(expression_program(read, [self._kinetic, self._potential], "energies"))
        return rolled_out(
            self.name, self.names.names, advance,
            lambda q, v, t: energies(q, v, *([t] if read.timed else [])), start, duration=duration, width=step,
        )  # fmt: skip

    # --- details ------------------------------------------------------------------------------------------------------
    @cached_property
    def _loads(self) -> list[Any]:
        """−∂U/∂q − ∂D/∂q̇ + F, one expression per coordinate."""
        names = self.names
        loads = [
            -self._potential.diff(q) - self._dissipation.diff(v)
            for q, v in zip(names.plain_q, names.plain_v, strict=True)
        ]  # fmt: skip
        for push in self._pushes:
            loads = [load + part for load, part in zip(loads, push.generalised, strict=True)]
        return [sympy_module().sympify(load) for load in loads]

    @cached_property
    def _printer(self) -> Printer:
        sympy, names = sympy_module(), self.names
        shown = {plain: sympy.latex(sympy.Symbol(name)) for plain, name in zip(names.plain_q, names.names, strict=True)}
        rates = {plain: dotted(shown[q], 1) for q, plain in zip(names.plain_q, names.plain_v, strict=True)}
        used = {symbol: sympy.latex(sympy.Symbol(names.original(symbol).name)) for symbol in self._used() - {*shown, *rates}}
        order = [names.symbol(symbol) for symbol in self.parameters]
        return Printer(shown | rates | used, order, [*names.plain_q, *names.plain_v])

    def _used(self) -> set[Any]:
        parts = [self._kinetic, self._potential, self._dissipation]
        for push in self._pushes:
            parts += [*push.force, *push.jacobian]
        return set().union(*(part.free_symbols for part in parts))

    def _numbers(self, values: Mapping[Any, float]) -> dict[Any, float]:
        used = self._used()
        found = {}
        for symbol, value in values.items():
            plain = self.names.symbol(symbol)
            if plain not in used:
                known = ", ".join(str(parameter) for parameter in self.parameters)
                raise InputError(f"{self.name}: there is no symbol {symbol} in the energies and forces; there are {known}")
            try:
                found[plain] = float(value)
            except (TypeError, ValueError):
                raise InputError(f"{self.name}: the value of {symbol} is {value!r}; it must be a number") from None
        return found

    def _inputs(self, parameters: Mapping[Any, float] | None, inputs: Sequence[Any], more: Sequence[Any] = ()) -> Inputs:
        """The inputs of a program; every symbol has a value, or is given at each call."""
        sympy = sympy_module()
        used = self._used().union(*(sympy.sympify(part).free_symbols for part in more))
        values = self._values | self._numbers(parameters or {})
        called = [self.names.symbol(symbol) for symbol in inputs]
        for symbol, plain in zip(inputs, called, strict=True):
            if plain not in used or not self.names.is_parameter(plain):
                raise InputError(
                    f"{self.name}: {symbol} is among the inputs, but no energy or force depends on it. Leave it out"
                )
        missing = [s for s in used if self.names.is_parameter(s) and s not in values and s not in called]
        if missing:
            told = ", ".join(sorted(str(self.names.original(symbol)) for symbol in missing))
            raise InputError(
                f"{self.name}: no value is given for {told}. Give parameters={{symbol: number}}, name them among the `inputs` "
                "of compile, or, if they vary, make them coordinates"
            )
        self._check_inertia(values)
        kept = {symbol: value for symbol, value in values.items() if symbol not in called}
        return Inputs(self.names, kept, called, timed=self.names.plain_t in used)

    def _check_inertia(self, values: Mapping[Any, float]) -> None:
        """Refuses an inertia matrix A that is singular at all test points, as it does not determine the accelerations."""
        names, n = self.names, len(self.names.q)
        free = [s for s in self._kinetic.free_symbols if names.is_parameter(s) and s not in values]
        read = Inputs(names, values, free, timed=names.plain_t in self._kinetic.free_symbols)
        inertia = hessian(read.program(lambda convert: convert(self._kinetic), "kinetic"), "v")
        rng = np.random.default_rng(0)
        idle = set(range(n))
        for _ in range(3):
            drawn = rng.uniform(0.5, 1.5, sum(array.size for array in inertia.inputs)).tolist()
            A = np.array(evaluate(inertia, drawn)).reshape(n, n)
            scale = np.sqrt(np.where(np.diag(A) > 0.0, np.diag(A), 1.0))  # units of coordinates differ
            _, sizes, ways = np.linalg.svd(A / np.outer(scale, scale))
            lost = ways[sizes < 1e-12 * max(1.0, sizes[0])]
            idle &= {k for k in range(n) if np.abs(lost[:, k]).max(initial=0.0) > 1e-6}
        if idle:
            told = " and ".join(names.names[k] for k in sorted(idle))
            cause = f"nothing that moves with {told} has inertia"
            if len(idle) > 1:
                cause = f"a motion of {told} together moves nothing that has inertia"
            raise InputError(
                f"{self.name}: the inertia matrix ∂²T/∂q̇² is singular: {cause}, so that its acceleration is not determined. "
                "Add the missing kinetic energy, or take the coordinate out of q"
            )


def _one(expression: Any, what: str) -> Any:
    found = entries(expression)
    if len(found) != 1:
        raise InputError(f"{what} is {expression!r}; it must be one scalar expression")
    return found[0]


# --- systems of mechanisms ------------------------------------------------------------------------------------------------
#: Numbers that are fractions up to rounding, with a denominator up to this, become exact fractions.
_DENOMINATOR = 1000


def of_mechanism(mechanism: Mechanism, *, efforts: bool = True) -> System:
    """The system of a mechanism's energies: coordinates q_1 … q_n in the order of `mechanism.q_names`.

    Inertia is moved across joints where this does not change the motion, which makes the equations as short as possible; masses
    and lengths are numbers in SI units.

    Args:
        mechanism: a small one: its kinetic energy must be an expression that SymPy can handle.
        efforts: whether the drives' efforts appear, as symbols tau_1 … tau_n (without values); otherwise they are zero.

    Raises:
        InputError: for closed loops, for joints whose velocities are not the rates of their coordinates, and for mechanisms
            that are too large; ModelError: if nothing can move.

    >>> from kumitate.model.samples import pendulum
    >>> print(of_mechanism(pendulum(), efforts=False).equations().rows()[0])
    Eq(Derivative(q_1(t), (t, 2)), -981*sin(q_1(t))/100)
    """
    sympy = sympy_module()
    check_freedom(mechanism, "write equations of motion for")
    tree = mechanism.base_parameter_tree
    if tree.closed:
        names = ", ".join([*(chord.name for chord in tree.chords), *(gear.name for gear in tree.gears)])
        raise InputError(f"{mechanism.name}: {names} close loops; equations of motion are written for free coordinates only")
    for link in tree.links:
        own, unit = link.kind.neutral(), [1.0] * link.kind.nv
        if link.kind.rate(own, unit) != unit:
            raise InputError(
                f"{mechanism.name}: the velocities of {link.name!r}, a {link.kind.name} joint, are not the rates of its "
                "coordinates. Use spherical_euler or floating_euler in its place"
            )
    n = tree.nv
    found = coordinates(" ".join(f"q_{k}" for k in range(1, n + 1)))
    q = [found] if n == 1 else list(found)
    v = [coordinate.diff() for coordinate in q]

    def energies(q: Any, v: Any) -> dict[str, Any]:
        return {"kinetic": tree_kinetic(tree, q, v), "potential": tree_potential(tree, q, mechanism.gravity)}

    plain = sympy.symbols(f"q_1:{n + 1} v_1:{n + 1}", real=True)
    expressions = to_sympy(trace(energies, {"q": n, "v": n}, mechanism.name), {"q": plain[:n], "v": plain[n:]})
    back = dict(zip(plain, [*q, *v], strict=True))
    found = [expressions[key] for key in ("kinetic", "potential")]
    exact = [one.xreplace({number: _number(float(number)) for number in one.atoms(sympy.Float)}) for one in found]
    kinetic, potential = (one.xreplace(back) for one in exact)
    dissipation, forces = sympy.Integer(0), []
    for link in tree.links:
        values = zip(link.armature, link.damping, link.friction, link.velocities(v), strict=True)
        for armature, damping, friction, rate in values:
            armature, damping, friction = (_number(float(value)) for value in (armature, damping, friction))
            kinetic += armature * rate**2 / 2
            dissipation += damping * rate**2 / 2
            if friction:
                dissipation += friction * sympy.sqrt(rate**2 + _number(FRICTION_VELOCITY) ** 2)
    if efforts:
        forces = [(sympy.Symbol(f"tau_{k}"), coordinate) for k, coordinate in enumerate(q, start=1)]
    return System(q, kinetic, potential, dissipation=dissipation, forces=forces, name=mechanism.name)


def _number(value: float) -> Any:
    """A number as a fraction or a multiple of π, where it is one up to rounding."""
    sympy = sympy_module()
    for unit, factor in ((sympy.Integer(1), 1.0), (sympy.pi, math.pi)):
        part = Fraction(value / factor).limit_denominator(_DENOMINATOR if factor == 1.0 else 12)
        if math.isclose(float(part) * factor, value, rel_tol=4e-15, abs_tol=1e-15):
            return sympy.Rational(part.numerator, part.denominator) * unit
    return sympy.Float(value)
