"""Articulated bodies by their handles, as ADA and DCA know them: V̇_a = Σ Φ_ab F_b + B_a (thesis eq. 2.4).

A handle is a link that further joints will act on, taken at its mass centre in its own axes: there the Φ of a rigid body is a
few numbers, and all joints of a link share it. V̇ is the [α; a] that `link_motions` speaks of, classical, of a point that is
carried along without what the link's turning adds from the link's origin to it; B includes what velocities and drives add.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...spatial import Dense, Force, InverseInertia, Motion, Transform

__all__ = ["Bodies", "Route"]


@dataclass(frozen=True)
class Route:
    """Poses in a row, applied one after the other rather than multiplied: from an outer frame to an inner one."""

    poses: tuple[Transform, ...]

    def outward(self, thing: Any) -> Any:
        """A motion, a force or an inverse inertia in the inner frame, in the outer one."""
        for X in reversed(self.poses):
            thing = thing.to_parent(X)
        return thing

    def inward(self, thing: Any) -> Any:
        """A motion, a force or an inverse inertia in the outer frame, in the inner one."""
        for X in self.poses:
            thing = thing.to_child(X)
        return thing

    def inverse(self) -> Route:
        """The way back: each pose undone by its turn, then its shift."""
        back = [(Transform(X.rotation.inverse()), Transform(translation=-X.translation)) for X in reversed(self.poses)]
        return Route(tuple(X for pair in back for X in pair))


@dataclass(frozen=True)
class Bodies:
    """Articulated bodies side by side (2.4).

    Attributes:
        Phi, B: Φ_aa and B_a by the link's index.
        between: Φ_ab by a, then by b, both ways; none where forces at b do nothing at a.
    """

    Phi: Mapping[int, InverseInertia]
    B: Mapping[int, Motion]
    between: Mapping[int, Mapping[int, Dense]]

    def coupled(self, handle: int) -> list[int]:
        """The handles that feel forces at one of them, itself among them."""
        return [handle, *self.between.get(handle, ())]

    def response(self, handle: int, forces: Mapping[int, Force]) -> Motion:
        """What forces on handles, by the links' indices, add to V̇ at one of them: Σ Φ_ab F_b."""
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
        """Φ_ab, or none where it is zero."""
        return self.Phi[handle].matrix() if handle == other else self.between.get(handle, {}).get(other)
