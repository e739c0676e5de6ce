"""An articulated body at its handle: its articulated inertia and bias force there (thesis eq. 2.2)."""

from __future__ import annotations

from dataclasses import dataclass

from ..scalar import Scalar, Symbol
from .inertia import ArticulatedInertia
from .motion import Force, Motion


@dataclass(frozen=True, slots=True)
class Release:
    """The equation for the acceleration along a released direction, given that of the handle: q̈ = free − g·A.

    `mobility` is the inverse of the inertia along the direction: an additional force f along it adds mobility·f to q̈.
    """

    free: Scalar
    gain: Force
    mobility: Scalar

    def acceleration(self, A: Motion) -> Scalar:
        """q̈ along the direction; A: the acceleration of the handle with the direction locked (thesis eq. 2.30)."""
        return self.free - A.dot(self.gain)


@dataclass(frozen=True, slots=True)
class ArticulatedBody:
    """F = I·A + p at one handle: `inertia` I and `bias` p."""

    inertia: ArticulatedInertia
    bias: Force

    def __add__(self, other: ArticulatedBody) -> ArticulatedBody:
        return ArticulatedBody(self.inertia + other.inertia, self.bias + other.bias)

    def force(self, A: Motion) -> Force:
        """F = I·A + p, the force that accelerates the handle with A."""
        return self.inertia.times(A) + self.bias

    def release(self, S: Motion, tau: Scalar, armature: Scalar) -> tuple[ArticulatedBody, Release]:
        """The body as felt through one free direction of motion S under the force `tau` (thesis eq. 2.28-2.34 with n_J = 1).

        Joints of several degrees of freedom release one direction after another: the successive elimination is the Cholesky
        factorisation of S_jᵀ I S_j.

        Args:
            S: the direction, at the handle.
            tau: the generalised force along it [N·m or N].
            armature: additional inertia along S only [kg·m² or kg].
        """
        axis = _coordinate(S)
        U = self.inertia.times(S) if axis is None else self.inertia.column(axis)
        D = S.dot(U) + armature
        W = 1.0 / D  # the inverse in (2.30), of size one
        gain = U * W
        u = tau - S.dot(self.bias)
        if axis is None:
            inertia = self.inertia.minus_outer(U, gain)
            return ArticulatedBody(inertia, self.bias + U * (W * u)), Release(W * u, gain, W)
        # Along a coordinate direction only the armature's share of inertia remains: row and column are known, and exactly
        # zero without armature, which an expression simplifier cannot detect. The bias there is exactly tau.
        share = armature * W
        gain = _replaced(gain, axis, 1.0 - share)
        inertia = self.inertia.minus_outer(U, gain).with_column(axis, U * share)
        bias = _replaced(self.bias + U * (W * u), axis, tau - u * share)
        return ArticulatedBody(inertia, bias), Release(W * u, gain, W)

    def carried_along(self, S: Motion, rate: Scalar) -> tuple[ArticulatedBody, Release]:
        """The body as felt through one direction of motion S along which it accelerates at the given `rate`."""
        return ArticulatedBody(self.inertia, self.bias + self.inertia.times(S) * rate), Release(rate, Force(), 0.0)


def _coordinate(S: Motion) -> int | None:
    """The coordinate axis that S is the unit vector of, if it is one."""
    parts = list(S)
    if any(isinstance(part, Symbol) for part in parts) or sorted(parts) != [0.0] * 5 + [1.0]:
        return None
    return parts.index(1.0)


def _replaced(force: Force, axis: int, value: Scalar) -> Force:
    parts = list(force)
    parts[axis] = value
    return Force.of(parts)
