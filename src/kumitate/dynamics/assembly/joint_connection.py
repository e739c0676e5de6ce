"""A joint as a connection, between two bodies or within one (thesis eq. 2.14-2.18, 3.12-3.16)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...scalar import Scalar, is_zero
from ...spatial import Dense, Force, Motion
from .bodies import Bodies, Route
from .connection import HandleResponse, Holding, heavy_freedoms


@dataclass(frozen=True)
class JointConnection:
    """A joint between A and B, the links (or the world) a and b, closed in a frame J.

    Attributes:
        S: the motion subspace; empty for chords, which are closed by their constraint forces.
        T_a, T: the force subspaces.
        armature: along each degree of freedom.
        drive: the force of the drive on B, T_a τ; it acts on both links before they are assembled.
        bias: the part of the relative acceleration that velocities cause.
        outer, inner: the routes from handle a to J, and from J to handle b.
    """

    a: int
    b: int
    S: Dense | None
    T_a: tuple[Force, ...]
    T: tuple[Force, ...]
    armature: tuple[Scalar, ...]
    drive: Force
    bias: Motion
    outer: Route
    inner: Route

    @property
    def handles(self) -> tuple[int, ...]:
        return (self.a, self.b)

    @property
    def drift(self) -> list[Scalar]:
        return list(self.bias)

    @property
    def holding(self) -> Holding:
        """With an armature a, the joint is not free along T_a: it is a constraint with compliance 1/a."""
        heavy = heavy_freedoms(self.armature)
        held = [*self.T, *(self.T_a[k] for k in heavy)]
        softness = [0.0] * len(self.T) + [1.0 / self.armature[k] for k in heavy]
        angular = [all(is_zero(x) for x in T.force) for T in held]
        return Holding(Dense.columns([list(T) for T in held]), tuple(softness), tuple(angular))

    def excess(self, V: Callable[[int], Motion]) -> list[Scalar]:
        return list(self.outer.inward(V(self.a)) - self.inner.outward(V(self.b)))

    def rates(self, V: Callable[[int], Motion]) -> list[Scalar]:
        """v̇ of the joint (2.22)."""
        relative = self.inner.outward(V(self.b)) - self.outer.inward(V(self.a)) - self.bias
        return [relative.dot(T) for T in self.T_a]

    def mobility(self, bodies: Bodies) -> Dense:
        alone = (self.outer.inward(bodies.Phi[self.a]) + self.inner.outward(bodies.Phi[self.b])).matrix()
        crossing = bodies.block(self.a, self.b)
        if crossing is None:
            return alone
        at_a = _by_forces(crossing, self.inner.inverse())
        at_joint = Dense.columns([list(self.outer.inward(Motion.of(column))) for column in zip(*at_a.rows, strict=True)])
        return alone - at_joint - at_joint.T

    def reach(self, bodies: Bodies, handle: int) -> HandleResponse:
        by_a, by_b = bodies.block(handle, self.a), bodies.block(handle, self.b)
        if by_b is None:
            return HandleResponse(Dense.zero(6, 6) if by_a is None else _by_forces(by_a, self.outer), -1.0)
        from_b = _by_forces(by_b, self.inner.inverse())
        return HandleResponse(from_b if by_a is None else from_b - _by_forces(by_a, self.outer), 1.0)

    def pull(self, force: Sequence[Scalar]) -> dict[int, Force]:
        F = Force.of(force)
        if self.a == self.b:
            return {}  # within one rigid body, force and reaction cancel
        return {self.a: self.outer.outward(F) * -1.0, self.b: self.inner.inward(F)}


def _by_forces(block: Dense, to_joint: Route) -> Dense:
    """Φ_ab for forces in the inner frame of a route that starts at handle b; its rows transform like motions."""
    return Dense.of(to_joint.inward(Motion.of(row)) for row in block.rows)
