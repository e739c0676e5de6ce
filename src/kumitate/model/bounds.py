"""The position limits of a mechanism's joints, coordinate by coordinate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from ..scalar import Scalar, minimum
from .joints import JointKind
from .mechanism import Mechanism

__all__ = ["Bound", "bounds_of", "least_gap"]


@dataclass(frozen=True)
class Bound:
    """One limit of a coordinate.

    Attributes:
        name: of the degree of freedom.
        q, v: its indices in q and v.
        sign: 1.0 if the coordinate stays above `at`, −1.0 if it stays below [rad or m].
    """

    name: str
    q: int
    v: int
    sign: float
    at: float

    def gap(self, q: Sequence[Scalar]) -> Scalar:
        """How far the coordinate is within the limit [rad or m]; negative outside."""
        return self.sign * (q[self.q] - self.at)


def bounds_of(mechanism: Mechanism) -> list[Bound]:
    """The position limits of a mechanism's joints whose velocities are the rates of their coordinates."""
    found, q, v = [], 0, 0
    for joint in mechanism.joints:
        kind = type(joint.kind)
        plain = kind.rate is JointKind.rate and kind.integrate is JointKind.integrate  # not quaternions and the like
        names = joint.kind.velocities
        for k, limit in enumerate(joint.limits if plain else ()):
            name = joint.name if len(names) == 1 else f"{joint.name}.{names[k]}"
            for sign, at in ((1.0, limit.lower), (-1.0, limit.upper)):
                if at is not None and abs(at) < inf:
                    found.append(Bound(name, q + k, v + k, sign, at))
        q, v = q + joint.kind.nq, v + joint.kind.nv
    return found


def least_gap(bounds: Sequence[Bound], q: Sequence[Scalar]) -> Scalar:
    """The smallest gap of any limit at q (nq) [rad or m]."""
    least = bounds[0].gap(q)
    for bound in bounds[1:]:
        least = minimum(least, bound.gap(q))
    return least
