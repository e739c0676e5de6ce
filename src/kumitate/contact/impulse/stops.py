"""The limits of joints as one-sided stops: contacts of one dimension, in the same problem as those of bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...model import Bound
from ...scalar import Scalar, absolute, both, either, maximum, minimum, select
from ...spatial import SparseFactors

__all__ = ["Stop", "diagonal", "stops_at"]

#: The largest velocity at which a joint outside its limits is brought back [rad/s or m/s].
RECOVERY = 0.5
#: A stop that is nearer than this times the step, and approached or left more slowly than this, holds [rad/s or m/s].
CLOSED = 1e-3
#: Stops that are held up to this rounding error count as closed [rad/s or m/s].
TIE = 1e-10


@dataclass(frozen=True)
class Stop:
    """A limit at a state.

    Attributes:
        bound: of which coordinate.
        gap: how far the coordinate is from it [rad or m].
        target: the least velocity away from the limit after the step [rad/s or m/s]: the one that closes the gap exactly.
        velocity: away from the limit before the step; `free`: after the step without any stops.
        initial_mode: the velocity relative to the target from which the solver guesses at first whether it holds.
        size: change of this velocity per unit impulse, with the rest of the mechanism free; `mass`: its inverse.
    """

    bound: Bound
    gap: Scalar
    target: Scalar
    velocity: Scalar
    free: Scalar
    initial_mode: Scalar
    size: Scalar
    mass: Scalar

    def rate(self, v: Sequence[Scalar]) -> Scalar:
        """The velocity away from the limit, given those of the mechanism (nv)."""
        return self.bound.sign * v[self.bound.v]

    def law(self, impulse: Scalar, v: Sequence[Scalar], first: Scalar, strength: Scalar) -> tuple[Scalar, Scalar]:
        """(base, K) of the linearised law near a guess: the impulse is base − K du, not below zero; as of contact points."""
        above = self.rate(v) - self.target
        told_by = select(first > 0.5, self.initial_mode, above)
        closed = impulse - told_by * self.mass >= -TIE * self.mass
        stiff = strength * self.mass
        return select(closed, impulse - stiff * above, 0.0), select(closed, stiff, 0.0)

    def missed(self, impulse: Scalar, v: Sequence[Scalar]) -> Scalar:
        """The residual of λ ≥ 0, u ≥ target, λ (u − target) = 0 [rad/s or m/s]."""
        aim = impulse - (self.rate(v) - self.target) * self.mass
        return absolute(impulse - maximum(aim, 0.0)) * self.size


def stops_at(
    bounds: Sequence[Bound],
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    v_free: Sequence[Scalar],
    h: Scalar,
    factors: SparseFactors,
) -> list[Stop]:
    """The stops at a state, for a step h [s]; `factors` are those of the inertia matrix with loops open."""
    sizes: dict[int, Scalar] = {}
    found = []
    for bound in bounds:
        if bound.v not in sizes:
            sizes[bound.v] = _size(factors, bound.v)
        size, gap = sizes[bound.v], bound.gap(q)
        before, free = bound.sign * v[bound.v], bound.sign * v_free[bound.v]
        target = minimum(-gap / h, RECOVERY)
        stays = both(gap < CLOSED * h, before < CLOSED)
        mode = select(either(stays, free < target), 0.0, 1.0)
        found.append(Stop(bound, gap, target, before, free, mode, size, 1.0 / size))
    return found


def _size(factors: SparseFactors, k: int) -> Scalar:
    """(M⁻¹)_kk: the change of a velocity per unit of its own impulse."""
    passed: dict[int, Scalar] = {k: 1.0}
    total: Scalar = 0.0
    for step in factors.steps:
        if step.pivot in passed:
            y = passed[step.pivot]
            for i, factor in step.column.items():
                passed[i] = passed.get(i, 0.0) - y * factor
            total = total + y * y * step.inverse
    return total


def diagonal(stops: Sequence[Stop], values: Sequence[Scalar]) -> Mapping[int, Scalar]:
    """Σ of one value per stop, by the index of its velocity."""
    found: dict[int, Scalar] = {}
    for stop, value in zip(stops, values, strict=True):
        k = stop.bound.v
        found[k] = found[k] + value if k in found else value
    return found
