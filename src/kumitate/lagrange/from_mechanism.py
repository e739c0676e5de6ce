"""Readable equations of motion of a mechanism: its energies as SymPy expressions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from ..compile.exports import to_sympy
from ..dynamics import FRICTION_VELOCITY
from ..errors import InputError
from ..model import Mechanism, check_freedom
from ..scalar import trace
from .derivatives import tree_kinetic, tree_potential
from .symbols import coordinates, sympy_module
from .system import System

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
    sizes: dict[str, int | tuple[int, ...]] = {"q": n, "v": n}
    energies = trace(
        lambda q, v: {
            "kinetic": tree_kinetic(tree, q, v),
            "potential": tree_potential(tree, q, mechanism.gravity),
        },
        sizes,
        mechanism.name,
    )
    plain = sympy.symbols(f"q_1:{n + 1} v_1:{n + 1}", real=True)
    expressions = to_sympy(energies, {"q": plain[:n], "v": plain[n:]})
    back = dict(zip(plain, [*q, *v], strict=True))
    kinetic, potential = (_rounded(expressions[key]).xreplace(back) for key in ("kinetic", "potential"))
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


def _rounded(expression: Any) -> Any:
    """The expression with numbers replaced by fractions and multiples of π, where they agree up to rounding."""
    sympy = sympy_module()
    return expression.xreplace({number: _number(float(number)) for number in expression.atoms(sympy.Float)})


def _number(value: float) -> Any:
    sympy = sympy_module()
    for unit, factor in ((sympy.Integer(1), 1.0), (sympy.pi, math.pi)):
        part = Fraction(value / factor).limit_denominator(_DENOMINATOR if factor == 1.0 else 12)
        if math.isclose(float(part) * factor, value, rel_tol=4e-15, abs_tol=1e-15):
            return sympy.Rational(part.numerator, part.denominator) * unit
    return sympy.Float(value)
