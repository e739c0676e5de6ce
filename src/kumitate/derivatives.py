"""The derivatives of a robot's dynamics as arrays, for one state or many."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .calls import checked_coordinates
from .compile import Kernel
from .model import Mechanism

__all__ = ["Derivatives", "ForwardDerivatives", "InverseDerivatives", "SecondDerivatives"]

#: With loops, the degrees of freedom up to which one program computes all derivatives: their number grows with the cube.
_MOST = 40


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


class Derivatives(ABC):
    """What `Robot` gives of the derivatives of its dynamics."""

    mechanism: Mechanism

    @abstractmethod
    def compile(self, function: str, **options: Any) -> Kernel:
        """The compiled kernel of a function."""

    def derivatives(self, q: Any, v: Any, tau: Any, *, wrenches: Mapping[str, Any] | None = None) -> ForwardDerivatives:
        """The accelerations a with ∂a/∂q, ∂a/∂v and ∂a/∂tau (..., nv, nv); arguments and errors as of `forward_dynamics`.

        q moves along the degrees of freedom (`integrate`), with the components of v held. Wrenches keep their directions in the
        world. With loops, only directions that keep them closed have a meaning.
        """
        q, acting, m = checked_coordinates(self.mechanism, q), wrenches or {}, self.mechanism
        if m.tree.closed and m.nv > _MOST:
            return self._along_each_direction(q, v, tau, acting)
        return ForwardDerivatives(*self.compile("forward_slopes", wrenches=tuple(acting))(q, v, tau, *acting.values()))

    def _along_each_direction(self, q: np.ndarray, v: Any, tau: Any, acting: Mapping[str, Any]) -> ForwardDerivatives:
        """The same by one evaluation along every direction, all of them in one batch."""
        n, kernel = self.mechanism.nv, self.compile("forward_slope", wrenches=tuple(acting))
        state = [np.asarray(part, dtype=float)[..., None, :] for part in (q, v, tau, *acting.values())]
        units, still = np.eye(n), np.zeros((n, n))
        along = [np.vstack([units if k == j else still for j in range(3)]) for k in range(3)]
        a, slopes = kernel(*state, *along)
        by_q, by_v, by_tau = (np.swapaxes(slopes[..., k * n : (k + 1) * n, :], -1, -2) for k in range(3))
        return ForwardDerivatives(a[..., 0, :], by_q, by_v, by_tau)

    def inverse_derivatives(self, q: Any, v: Any, a: Any, *, wrenches: Mapping[str, Any] | None = None) -> InverseDerivatives:
        """The drives' forces tau with ∂tau/∂q, ∂tau/∂v and ∂tau/∂a (..., nv, nv); arguments as of `inverse_dynamics`."""
        q, acting = checked_coordinates(self.mechanism, q), wrenches or {}
        return InverseDerivatives(*self.compile("inverse_slopes", wrenches=tuple(acting))(q, v, a, *acting.values()))

    def inverse_second_derivatives(
        self, q: Any, v: Any, a: Any, weights: Any, *, wrenches: Mapping[str, Any] | None = None
    ) -> SecondDerivatives:
        """Σ weights[i] ∂²tau[i] (..., nv, nv) by q, v and a; weights (..., nv), other arguments as of `inverse_dynamics`."""
        q, acting = checked_coordinates(self.mechanism, q), wrenches or {}
        kernel = self.compile("inverse_second_slopes", wrenches=tuple(acting))
        return SecondDerivatives(*kernel(q, v, a, weights, *acting.values()))
