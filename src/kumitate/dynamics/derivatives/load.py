"""External forces that keep their directions in the world, and how they change in axes that turn."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...spatial import Force, Matrix3, Motion, Transform, Vector3


@dataclass(frozen=True, slots=True)
class Load:
    """External forces that keep their directions and magnitudes in the world, on points fixed on the carried bodies.

    Attributes:
        arms: E = Σ r fᵀ, with r from the link's origin [N·m]; `moment`: n, the sum of the moments that are not due to forces.
        force: f, the sum of the forces. All in the link's axes.
    """

    arms: Matrix3 = field(default_factory=Matrix3.zero)
    moment: Vector3 = field(default_factory=Vector3)
    force: Vector3 = field(default_factory=Vector3)

    @classmethod
    def at(cls, point: Vector3, moment: Vector3, force: Vector3) -> Load:
        """A moment, and a force on a point, in a link's axes."""
        return cls(Matrix3.outer(point, force), moment, force)

    def __add__(self, other: Load) -> Load:
        return Load(self.arms + other.arms, self.moment + other.moment, self.force + other.force)

    def to_parent(self, X_PL: Transform) -> Load:
        """In the parent's axes and about its origin."""
        R, force = X_PL.rotation, X_PL.rotation.rotate(self.force)
        return Load(R.rotate_matrix(self.arms) + Matrix3.outer(X_PL.translation, force), R.rotate(self.moment), force)

    def turned(self, turn: Vector3) -> Force:
        """The change of [n; f] in axes that turn by θ along with the points: f × θ for every force, n × θ for moments."""
        E, trace = self.arms, self.arms[0].x + self.arms[1].y + self.arms[2].z
        # Σ r × (f × θ) = Σ f (r·θ) − θ (r·f)
        return Force(E.transposed_times(turn) - turn * trace + self.moment.cross(turn), self.force.cross(turn))

    def felt(self, S: Motion) -> Vector3:
        """l with θ·l = S · `turned`(θ)."""
        z, e, trace = S.angular, S.linear, self.arms[0].x + self.arms[1].y + self.arms[2].z
        return self.arms @ z - z * trace + z.cross(self.moment) + e.cross(self.force)
