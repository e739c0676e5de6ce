"""Common terms of energies: table 1 of lecture Y, with two errors corrected.

The lecture prints ½νR sgn(ẋ)ẋ for Coulomb friction, whose derivative is half of the force νR sgn(ẋ); and ½D|ẋ|² for the drag
that grows with the square of the speed, whose derivative grows with the speed alone. Right are νR|ẋ| and D|ẋ|³/3, which
`coulomb` and `quadratic_drag` give.

Positions are functions of time in an inertial frame: `x` is a scalar or a vector of expressions in the coordinates.
"""

from __future__ import annotations

from typing import Any

from ..errors import InputError
from .symbols import entries, sympy_module, time


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
    sympy = sympy_module()
    rates = _rates(x)
    if smooth == 0 and len(rates) == 1:
        return nu * R * sympy.Abs(rates[0])
    return nu * R * sympy.sqrt(sum(rate**2 for rate in rates) + smooth**2)


def quadratic_drag(D: Any, x: Any) -> Any:
    """Dissipation function D |ẋ|³/3 of drag that grows with the square of the speed: the force is D |ẋ| ẋ."""
    sympy = sympy_module()
    rates = _rates(x)
    speed = sympy.Abs(rates[0]) if len(rates) == 1 else sympy.sqrt(sum(rate**2 for rate in rates))
    return D * speed**3 / 3


def _rates(x: Any) -> list[Any]:
    return [part.diff(time()) for part in entries(x)]


def _squared(x: Any) -> Any:
    return sum(rate**2 for rate in _rates(x))


def _half(x: Any) -> Any:
    return sympy_module().Rational(1, 2) * x
