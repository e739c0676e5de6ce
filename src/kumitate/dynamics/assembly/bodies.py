"""Articulated bodies described at their handles, as in ADA and DCA: V̇_a = Σ Φ_ab F_b + B_a (thesis eq. 2.4).

A handle is a link that further joints will act on, taken at its center of mass and in its own axes: there the Φ of a rigid body
has few entries, and all joints of a link share it. V̇ is the classical acceleration [α; a] of `link_motions`, at the handle but
without the centripetal term from the link's origin to it; B contains the contributions of velocities and drives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...spatial import Dense, Force, InverseInertia, Motion, Transform


@dataclass(frozen=True)
class Route:
    """A sequence of poses from an outer frame to an inner one, applied one after the other rather than multiplied."""

    poses: tuple[Transform, ...]

    def outward(self, thing: Any) -> Any:
        """Transforms a motion, a force or an inverse inertia from the inner frame to the outer one."""
        for X in reversed(self.poses):
            thing = thing.to_parent(X)
        return thing

    def inward(self, thing: Any) -> Any:
        """Transforms a motion, a force or an inverse inertia from the outer frame to the inner one."""
        for X in self.poses:
            thing = thing.to_child(X)
        return thing

    def inverse(self) -> Route:
        """The inverse route: each pose is undone by its rotation, then its translation."""
        back = [(Transform(X.rotation.inverse()), Transform(translation=-X.translation)) for X in reversed(self.poses)]
        return Route(tuple(X for pair in back for X in pair))


@dataclass(frozen=True)
class Bodies:
    """A set of articulated bodies (2.4).

    Attributes:
        Phi, B: Φ_aa and B_a by the link's index.
        between: Φ_ab by a, then by b, and also by b, then a; absent where forces at b have no effect at a.
    """

    Phi: Mapping[int, InverseInertia]
    B: Mapping[int, Motion]
    between: Mapping[int, Mapping[int, Dense]]

    def coupled(self, handle: int) -> list[int]:
        """The handles that accelerate under a force at this one, including itself."""
        return [handle, *self.between.get(handle, ())]

    def response(self, handle: int, forces: Mapping[int, Force]) -> Motion:
        """The contribution of forces on handles, by link index, to V̇ at one handle: Σ Φ_ab F_b."""
        total = Motion()
        for other in self.coupled(handle):
            if other in forces:
                total = total + self._answer(handle, other, forces[other])
        return total

    def _answer(self, handle: int, other: int, force: Force) -> Motion:
        """Φ_ab F_b."""
        if handle == other:
            return self.Phi[handle].times(force)
        return Motion.of((self.between[handle][other] @ Dense.column(force)).entries())

    def block(self, handle: int, other: int) -> Dense | None:
        """Φ_ab, or None where it is zero."""
        return self.Phi[handle].matrix() if handle == other else self.between.get(handle, {}).get(other)
