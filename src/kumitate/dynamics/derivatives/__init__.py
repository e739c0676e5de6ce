"""Derivatives of the dynamics with respect to coordinates, velocities and forces, by formulas of their own.

The derivatives with respect to q are those along the degrees of freedom: q moves by `kinematics.integrate(q, δ)`, and the
components of v stay as they are. All of them are therefore square matrices (nv, nv), also with quaternions.
"""

from .forward import ForwardSlopes, aba_derivatives, loop_derivatives
from .inverse import InverseSlopes, SecondSlopes, rnea_derivatives, rnea_second_derivatives

__all__ = [
    "ForwardSlopes", "InverseSlopes", "SecondSlopes", "aba_derivatives", "loop_derivatives", "rnea_derivatives",
    "rnea_second_derivatives",
]  # fmt: skip
