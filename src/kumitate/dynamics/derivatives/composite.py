"""Composites of bodies that move relative to each other: what a `Field` of accelerations needs of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ...scalar import Scalar
from ...spatial import Force, Inertia, Matrix3, Motion, Transform, Vector3
from .fields import Field
from .load import Load


@dataclass(frozen=True, slots=True)
class MovingComposite:
    """All bodies that a link carries, in its axes and about its origin.

    Attributes:
        inertia: as of one rigid body.
        momentum: p = Σ m ṙ, with ṙ relative to the link's origin [kg·m/s].
        swing: K = tr(D)·1 − Dᵀ with D = Σ m r ṙᵀ [kg·m²/s]: Σ m r × (2 ψ × ṙ) = 2 K ψ.
        load: of external forces that keep their directions in the world.
    """

    inertia: Inertia
    momentum: Vector3
    swing: Matrix3
    load: Load = field(default_factory=Load)

    @classmethod
    def of_body(cls, inertia: Inertia, omega: Vector3) -> MovingComposite:
        """A rigid body that turns with ω: D = Σ m r (ω × r)ᵀ = −P [ω]×, with P = Σ m r rᵀ = ½ tr(J)·1 − J."""
        J = inertia.rotational
        half = 0.5 * (J.xx + J.yy + J.zz)
        P = Matrix3.of([[half - J.xx, -J.xy, -J.xz], [-J.xy, half - J.yy, -J.yz], [-J.xz, -J.yz, half - J.zz]])
        # K = −Dᵀ = −[ω]× P, as tr D = 0; column by column, P being symmetric
        columns = [list(-omega.cross(row)) for row in P]
        return cls(inertia, omega.cross(inertia.first_moment), Matrix3.of(columns).T)

    def loaded(self, forces: Sequence[tuple[Vector3, Force]]) -> MovingComposite:
        """With external forces and moments, each at a point, in the link's axes."""
        loads = (Load.at(point, wrench.moment, wrench.force) for point, wrench in forces)
        return replace(self, load=sum(loads, self.load))

    def __add__(self, other: MovingComposite) -> MovingComposite:
        return MovingComposite(
            self.inertia + other.inertia, self.momentum + other.momentum, self.swing + other.swing, self.load + other.load
        )

    def to_parent(self, X_PL: Transform, origin_rate: Vector3) -> MovingComposite:
        """In the parent's axes and about its origin, from which this one's moves away by `origin_rate` ḋ [m/s]."""
        R, d = X_PL.rotation, X_PL.translation
        p, K = R.rotate(self.momentum), R.rotate_matrix(self.swing)
        g = R.rotate(self.inertia.first_moment) + d * self.inertia.mass
        # D' = D + d pᵀ + g ḋᵀ
        trace = d.dot(p) + g.dot(origin_rate)
        spread = Matrix3.outer(p, d) + Matrix3.outer(origin_rate, g)
        diagonal = Matrix3.of([[trace, 0.0, 0.0], [0.0, trace, 0.0], [0.0, 0.0, trace]])
        return MovingComposite(
            self.inertia.to_parent(X_PL), p + origin_rate * self.inertia.mass, K + diagonal - spread, self.load.to_parent(X_PL)
        )

    def response(self, change: Field) -> Force:
        """The force that the additional accelerations of a field take."""
        accelerated = self.inertia.times(Motion(change.angular, change.linear))
        turning = Force(self.swing @ change.spin * 2.0, change.spin.cross(self.momentum) * 2.0)
        return accelerated + turning - self.load.turned(change.turn)

    def weight(self, S: Motion) -> Weight:
        """S · `response`, as a linear function of the field."""
        z, e = S.angular, S.linear
        spin = (self.swing.transposed_times(z) + self.momentum.cross(e)) * 2.0
        return Weight(self.inertia.times(S), spin, -self.load.felt(S))


@dataclass(frozen=True, slots=True)
class Weight:
    """A linear function of fields: β·n + a·f + ψ·k + θ·l, with θ the turn.

    Attributes:
        force: [n; f]; `spin`: k; `turn`: l.
    """

    force: Force
    spin: Vector3
    turn: Vector3

    def of(self, change: Field) -> Scalar:
        """Its value for a field in the same axes about the same origin."""
        inertial = change.angular.dot(self.force.moment) + change.linear.dot(self.force.force)
        return inertial + change.spin.dot(self.spin) + change.turn.dot(self.turn)

    def to_parent(self, X_PL: Transform, origin_rate: Vector3) -> Weight:
        """The same function for fields in the parent's axes about its origin: there a is less by β × d + 2 ψ × ḋ."""
        force, R = self.force.to_parent(X_PL), X_PL.rotation
        return Weight(force, R.rotate(self.spin) + origin_rate.cross(force.force) * 2.0, R.rotate(self.turn))
