"""Derivatives of the dynamics with respect to coordinates, velocities and forces, by formulas of their own.

The derivatives with respect to q are those along the degrees of freedom: q moves by `kinematics.integrate(q, δ)`, and the
components of v stay as they are. All of them are therefore square matrices (nv, nv), also with quaternions.
"""

from .forward import ForwardSlopes, aba_derivatives
from .forward_with_loops import loop_derivatives
from .inverse import rnea_derivatives
from .second import SecondSlopes, rnea_second_derivatives
from .slopes import InverseSlopes

__all__ = [
    "ForwardSlopes", "InverseSlopes", "SecondSlopes", "aba_derivatives", "loop_derivatives", "rnea_derivatives",
    "rnea_second_derivatives",
]  # fmt: skip
