"""Joints whose motion is along fixed coordinate axes of M: their subspaces are columns of the unit matrix."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from ...scalar import Scalar
from ...spatial import Force, Motion, Transform
from .contract import JointKind, basis_forces, basis_motions


class CoordinateJoint(JointKind):
    """A joint that allows motion along the coordinate axes `axes` of M (0-2 angular, 3-5 linear) and constrains the others."""

    axes: ClassVar[tuple[int, ...]] = ()

    @abstractmethod
    def transform(self, q: Sequence[Scalar]) -> Transform: ...

    def subspace(self, q: Sequence[Scalar]) -> tuple[Motion, ...]:
        return basis_motions(self.axes)

    def active(self, q: Sequence[Scalar]) -> tuple[Force, ...]:
        return basis_forces(self.axes)

    def constraint(self, q: Sequence[Scalar]) -> tuple[Force, ...]:
        return basis_forces([axis for axis in range(6) if axis not in self.axes])
