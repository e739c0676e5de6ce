"""Spatial vectors: motions and forces, which are distinct types (thesis, appendix A.1-A.4). Angular part first.

A `Motion` or `Force` named V_B is expressed in the axes of frame B and taken at B's origin.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from ..scalar import Scalar, Scalars
from .transform import Transform
from .vector import Vector3, quantity


@quantity
class Motion:
    """A velocity [ω; v] (rad/s, m/s), an acceleration [α; a], or a direction of motion."""

    angular: Vector3 = field(default_factory=Vector3)
    linear: Vector3 = field(default_factory=Vector3)

    @classmethod
    def of(cls, components: Scalars) -> Motion:
        """From six components, angular first."""
        return cls(Vector3.of(components[:3]), Vector3.of(components[3:6]))

    def __iter__(self) -> Iterator[Scalar]:
        yield from self.angular
        yield from self.linear

    def __len__(self) -> int:
        return 6

    def __getitem__(self, axis: int) -> Scalar:
        return self.angular[axis] if axis < 3 else self.linear[axis - 3]

    def __add__(self, other: Motion) -> Motion:
        if not isinstance(other, Motion):
            return NotImplemented
        return Motion(self.angular + other.angular, self.linear + other.linear)

    def __sub__(self, other: Motion) -> Motion:
        if not isinstance(other, Motion):
            return NotImplemented
        return Motion(self.angular - other.angular, self.linear - other.linear)

    def __mul__(self, factor: Scalar) -> Motion:
        return Motion(self.angular * factor, self.linear * factor)

    __rmul__ = __mul__

    def dot(self, force: Force) -> Scalar:
        """The power of `force` on this motion; both at the same point and in the same frame."""
        if not isinstance(force, Force):
            raise TypeError(f"the dot product of a motion takes a force, not a {type(force).__name__}")
        return self.angular.dot(force.moment) + self.linear.dot(force.force)

    def cross(self, other: Motion) -> Motion:
        """The rate of a motion fixed in a frame that moves with this velocity: V × M (thesis eq. 5.4)."""
        return Motion(self.angular.cross(other.angular), self.angular.cross(other.linear) + self.linear.cross(other.angular))

    def cross_force(self, force: Force) -> Force:
        """The rate of a force fixed in a frame that moves with this velocity: V ×* F."""
        return Force(self.angular.cross(force.moment) + self.linear.cross(force.force), self.angular.cross(force.force))

    def to_parent(self, X_AB: Transform) -> Motion:
        """Transforms this motion from B to the axes of A and A's origin (A.14)."""
        angular = X_AB.rotation.rotate(self.angular)
        return Motion(angular, X_AB.rotation.rotate(self.linear) + X_AB.translation.cross(angular))

    def to_child(self, X_AB: Transform) -> Motion:
        """Transforms this motion from A to the axes of B and B's origin (A.14)."""
        at_B = self.linear + self.angular.cross(X_AB.translation)
        return Motion(X_AB.rotation.unrotate(self.angular), X_AB.rotation.unrotate(at_B))


@quantity
class Force:
    """A wrench [n; f] (N·m, N) or a momentum [l; p]."""

    moment: Vector3 = field(default_factory=Vector3)
    force: Vector3 = field(default_factory=Vector3)

    @classmethod
    def of(cls, components: Scalars) -> Force:
        """From six components, moment first."""
        return cls(Vector3.of(components[:3]), Vector3.of(components[3:6]))

    def __iter__(self) -> Iterator[Scalar]:
        yield from self.moment
        yield from self.force

    def __len__(self) -> int:
        return 6

    def __getitem__(self, axis: int) -> Scalar:
        return self.moment[axis] if axis < 3 else self.force[axis - 3]

    def __add__(self, other: Force) -> Force:
        if not isinstance(other, Force):
            return NotImplemented
        return Force(self.moment + other.moment, self.force + other.force)

    def __sub__(self, other: Force) -> Force:
        if not isinstance(other, Force):
            return NotImplemented
        return Force(self.moment - other.moment, self.force - other.force)

    def __mul__(self, factor: Scalar) -> Force:
        return Force(self.moment * factor, self.force * factor)

    __rmul__ = __mul__

    def to_parent(self, X_AB: Transform) -> Force:
        """Transforms this force from B to the axes of A and about A's origin (A.15)."""
        force = X_AB.rotation.rotate(self.force)
        return Force(X_AB.rotation.rotate(self.moment) + X_AB.translation.cross(force), force)

    def to_child(self, X_AB: Transform) -> Force:
        """Transforms this force from A to the axes of B and about B's origin (A.15)."""
        at_B = self.moment - X_AB.translation.cross(self.force)
        return Force(X_AB.rotation.unrotate(at_B), X_AB.rotation.unrotate(self.force))
