"""Inverse inertias, which map forces to accelerations (thesis eq. 2.3, appendix A.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..scalar import Scalar
from .dense import Dense
from .inertia import ArticulatedInertia
from .motion import Force, Motion
from .transform import Transform
from .vector import Matrix3, Symmetric3


@dataclass(frozen=True, slots=True)
class InverseInertia:
    """The blocks of Φ at a handle: a = linear·f + mixed·n and α = mixedᵀ·f + angular·n; symmetric."""

    linear: Symmetric3
    mixed: Matrix3
    angular: Symmetric3

    @classmethod
    def central(cls, mass: Scalar, rotational: Symmetric3) -> InverseInertia:
        """That of a rigid body at its center of mass (A.30), from its mass and its rotational inertia there."""
        m = 1.0 / mass
        inverse = Dense.of(rotational.matrix()).inverse()
        return cls(Symmetric3.diagonal(m, m, m), Matrix3.zero(), Symmetric3.of(inverse.rows))

    @classmethod
    def immovable(cls) -> InverseInertia:
        """That of an immovable body: zero."""
        return cls(Symmetric3(), Matrix3.zero(), Symmetric3())

    @classmethod
    def of(cls, rows: Sequence[Sequence[Scalar]]) -> InverseInertia:
        """From the rows of the 6×6 matrix, angular part first."""
        blocks = [[row[3:] for row in rows[3:]], [row[:3] for row in rows[3:]], [row[:3] for row in rows[:3]]]
        return cls(Symmetric3.of(blocks[0]), Matrix3.of(blocks[1]), Symmetric3.of(blocks[2]))

    def matrix(self) -> Dense:
        """The 6×6 matrix, angular part first."""
        upper = [[*a, *h] for a, h in zip(self.angular, self.mixed.T, strict=True)]
        return Dense.of(upper + [[*h, *m] for h, m in zip(self.mixed, self.linear, strict=True)])

    def __add__(self, other: InverseInertia) -> InverseInertia:
        return InverseInertia(self.linear + other.linear, self.mixed + other.mixed, self.angular + other.angular)

    def times(self, force: Force) -> Motion:
        """The acceleration caused by a force."""
        angular = self.mixed.transposed_times(force.force) + self.angular @ force.moment
        return Motion(angular, self.linear @ force.force + self.mixed @ force.moment)

    def minus(self, change: Dense) -> InverseInertia:
        """Φ minus a symmetric 6×6 matrix, of which the upper triangle is read."""
        return self + InverseInertia.of((-change).rows)

    def to_parent(self, X_AB: Transform) -> InverseInertia:
        """The same inverse inertia at A instead of B."""
        # the linear part of a motion transforms like the moment of a force (A.14, A.15): the blocks transform like an inertia's
        moved = ArticulatedInertia(self.linear, self.mixed, self.angular).to_parent(X_AB)
        return InverseInertia(moved.I, moved.H, moved.M)

    def to_child(self, X_AB: Transform) -> InverseInertia:
        """The same inverse inertia at B instead of A: shifted, then rotated."""
        shifted = self.to_parent(Transform(translation=-X_AB.translation))
        return shifted.to_parent(Transform(X_AB.rotation.inverse()))
