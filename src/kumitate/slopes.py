"""The derivatives of a robot's dynamics as arrays, for one state or many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from .compile import Kernel
from .model import Mechanism

__all__ = ["ForwardDerivatives", "InverseDerivatives", "SecondDerivatives", "forward_derivatives", "inverse_derivatives"]


#: With loops, the degrees of freedom up to which one program computes all derivatives: their number grows with the cube.
_MOST = 40


class Compiled(Protocol):
    """What is needed of a robot."""

    @property
    def mechanism(self) -> Mechanism: ...
    def compile(self, function: str, *, wrenches: tuple[str, ...]) -> Kernel: ...


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


def forward_derivatives(robot: Compiled, q: np.ndarray, v: Any, tau: Any, wrenches: Mapping[str, Any]) -> ForwardDerivatives:
    """See `Robot.derivatives`. Large mechanisms with loops take one evaluation per direction, all of them in one batch."""
    names, values = tuple(wrenches), [np.asarray(wrench, dtype=float) for wrench in wrenches.values()]
    if not robot.mechanism.tree.closed or robot.mechanism.nv <= _MOST:
        return ForwardDerivatives(*robot.compile("forward_slopes", wrenches=names)(q, v, tau, *values))
    n, kernel = robot.mechanism.nv, robot.compile("forward_slope", wrenches=names)
    state = [np.asarray(part, dtype=float)[..., None, :] for part in (q, v, tau, *values)]
    units, still = np.eye(n), np.zeros((n, n))
    along = [np.vstack([units if k == j else still for j in range(3)]) for k in range(3)]
    a, slopes = kernel(*state, *along)
    by_q, by_v, by_tau = (np.swapaxes(slopes[..., k * n : (k + 1) * n, :], -1, -2) for k in range(3))
    return ForwardDerivatives(a[..., 0, :], by_q, by_v, by_tau)


def inverse_derivatives(robot: Compiled, q: np.ndarray, v: Any, a: Any, wrenches: Mapping[str, Any]) -> InverseDerivatives:
    """See `Robot.inverse_derivatives`."""
    return InverseDerivatives(*robot.compile("inverse_slopes", wrenches=tuple(wrenches))(q, v, a, *wrenches.values()))
