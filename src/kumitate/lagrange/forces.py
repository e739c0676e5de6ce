"""Forces, their points of application, and their components along other coordinates (lecture Y, eq. 9.2-9.4).

Common terms of energies: table 1 of lecture Y, with two errors corrected.

The lecture prints ½νR sgn(ẋ)ẋ for Coulomb friction, whose derivative is half of the force νR sgn(ẋ); and ½D|ẋ|² for the drag
that grows with the square of the speed, whose derivative grows with the speed alone. Right are νR|ẋ| and D|ẋ|³/3, which
`coulomb` and `quadratic_drag` give.

Positions are functions of time in an inertial frame: `x` is a scalar or a vector of expressions in the coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..errors import InputError
from .symbols import SymbolNames, entries, sympy_module, time


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
    """The user's forces; an `InputError` for one without a point, with a point of another size, or one that q does not move."""
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


def translation(m: Any, x: Any) -> Any:
    """Kinetic energy ½ m |ẋ|² of a mass m [kg] at x [m].

    >>> from kumitate.lagrange import coordinates
    >>> q = coordinates("q")
    >>> translation(2, [q, 3 * q])
    10*Derivative(q(t), t)**2
    """
    return _half(m * _squared(x))


def rotation(I: Any, angle: Any) -> Any:
    """Kinetic energy ½ I θ̇² of a body that rotates in a plane, I [kg·m²] about its center of mass."""
    return _half(I * _squared(angle))


def rotation_in_space(J: Any, omega: Any) -> Any:
    """Kinetic energy ½ ω·Jω in space: J (3, 3) [kg·m²] about the center of mass and ω (3) [rad/s] in the same axes."""
    sympy = sympy_module()
    J, omega = sympy.Matrix(J), sympy.Matrix(entries(omega))
    if J.shape != (3, 3) or omega.shape != (3, 1):
        raise InputError(f"the inertia tensor has shape {J.shape} and ω {len(omega)} components; they must be (3, 3) and 3")
    return _half((omega.T * J * omega)[0])


def gravity(m: Any, height: Any, g: Any) -> Any:
    """Potential energy m g h of a mass at a height h [m] in the field g [m/s²]."""
    return m * g * height


def spring(k: Any, x: Any) -> Any:
    """Potential energy ½ k |x|² of a linear spring that is extended by x [m] or twisted by x [rad] from its rest position."""
    return _half(k * sum(part**2 for part in entries(x)))


def viscous(c: Any, x: Any) -> Any:
    """Dissipation function ½ c |ẋ|² of a damper: the force is c ẋ."""
    return _half(c * _squared(x))


def coulomb(nu: Any, R: Any, x: Any, *, smooth: Any = 0) -> Any:
    """Dissipation function ν R |ẋ| of dry friction: coefficient ν, normal force R [N]; the force is ν R sgn ẋ.

    Args:
        smooth: a speed ε [m/s] that changes it to ν R √(|ẋ|² + ε²), so that the force is continuous, as integrators require;
            below ε friction acts like damping.
    """
    return nu * R * (_speed(x) if smooth == 0 else sympy_module().sqrt(_squared(x) + smooth**2))


def quadratic_drag(D: Any, x: Any) -> Any:
    """Dissipation function D |ẋ|³/3 of drag that grows with the square of the speed: the force is D |ẋ| ẋ."""
    return D * _speed(x) ** 3 / 3


def _speed(x: Any) -> Any:
    sympy, parts = sympy_module(), entries(x)
    return sympy.Abs(parts[0].diff(time())) if len(parts) == 1 else sympy.sqrt(_squared(x))


def _squared(x: Any) -> Any:
    return sum(part.diff(time()) ** 2 for part in entries(x))


def _half(x: Any) -> Any:
    return sympy_module().Rational(1, 2) * x
