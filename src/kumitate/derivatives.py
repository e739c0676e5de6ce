"""The derivatives of a robot's dynamics as arrays, for one state or many."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class ForwardDerivatives(NamedTuple):
    """Forward dynamics and its derivatives, with the leading axes of the states.

    Attributes:
        a: the accelerations (..., nv) [rad/s², m/s²].
        by_q: ∂a/∂q (..., nv, nv), along the degrees of freedom: entry (i, k) is the change of a[i] per small displacement k of
            `Robot.integrate`.
        by_v, by_tau: ∂a/∂v and ∂a/∂τ (..., nv, nv).
    """

    a: np.ndarray
    by_q: np.ndarray
    by_v: np.ndarray
    by_tau: np.ndarray


class InverseDerivatives(NamedTuple):
    """Inverse dynamics and its derivatives, with the leading axes of the states.

    Attributes:
        tau: the forces of the drives (..., nv) [N·m, N].
        by_q: ∂τ/∂q (..., nv, nv), along the degrees of freedom.
        by_v: ∂τ/∂v (..., nv, nv).
        by_a: ∂τ/∂a (..., nv, nv), the inertia matrix.
    """

    tau: np.ndarray
    by_q: np.ndarray
    by_v: np.ndarray
    by_a: np.ndarray


class SecondDerivatives(NamedTuple):
    """The second derivatives of inverse dynamics, contracted with weights w: Σ wᵢ ∂²τᵢ, with the leading axes of the states.

    Those by v and a, and by a twice, are zero.

    Attributes:
        by_qq: (..., nv, nv); entry (i, j) is the derivative along degree of freedom j of that along i. Symmetric, except
            between the axes of one joint that turns about several, where the order of the two moves matters.
        by_qv, by_qa: (..., nv, nv), row by coordinate, column by velocity or acceleration.
        by_vv: (..., nv, nv), symmetric.
    """

    by_qq: np.ndarray
    by_qv: np.ndarray
    by_vv: np.ndarray
    by_qa: np.ndarray
