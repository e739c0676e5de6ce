"""Everything that acts on a mechanism apart from the drives of its joints, external forces on bodies among it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ..errors import InputError
from ..model import Link, Tree
from ..scalar import Scalar, Scalars, is_zero, select
from ..spatial import Force, Vector3


class Applied(Protocol):
    """External forces, as the algorithms query them."""

    def on(self, link: Link, q: Scalars) -> Force:
        """What acts on a link, in its frame and about its origin."""


@dataclass(frozen=True)
class LinkForces:
    """Forces by the index of the link they act on, in its frame and about its origin, added to others."""

    by_link: Mapping[int, Force]
    others: Applied | None = None

    def on(self, link: Link, q: Scalars) -> Force:
        """What acts on a link, in its frame and about its origin."""
        total = Force() if self.others is None else self.others.on(link, q)
        for index, force in self.by_link.items():
            here = link.is_link(index)
            if here is not False:
                total = total + (force if here is True else force * select(here, 1.0, 0.0))
        return total


@dataclass(frozen=True)
class Wrenches:
    """Wrenches [n; f] (N·m, N) on bodies or frames, by name: in the axes of the world, about the body's or frame's origin."""

    tree: Tree
    by_place: Mapping[str, Scalars]

    def on(self, link: Link, q: Scalars) -> Force:
        """What acts on a link, in its frame and about its origin."""
        parts = self.separate(link, q)
        return sum((Force(wrench.moment + arm.cross(wrench.force), wrench.force) for arm, wrench in parts), Force())

    def separate(self, link: Link, q: Scalars) -> list[tuple[Vector3, Force]]:
        """The wrenches on a link one by one: the points on which they act, and [n; f] about these, in the axes of the link."""
        found = []
        for name, components in self.by_place.items():
            place = self.tree.places[name]
            here = link.is_link(place.link)
            if here is False:
                continue
            wrench = Force.of(components)
            for ancestor in reversed(self.tree.ancestors(place.link)):  # rotated, not moved: only the axes change
                R = ancestor.pose(q).rotation
                wrench = Force(R.unrotate(wrench.moment), R.unrotate(wrench.force))
            found.append((place.pose.translation, wrench if here is True else wrench * select(here, 1.0, 0.0)))
        return found


@dataclass(frozen=True)
class Acting:
    """Everything that acts on a mechanism apart from the drives of its joints, and how an integration step treats it.

    Attributes:
        gravity: acceleration of free fall in the world [m/s²].
        wrenches: external forces on links.
        loop_tau: forces of drives along the degrees of freedom of loop joints, by the loop's name [N·m or N].
        implicit_step: with a step h > 0 [s], v̇ is the acceleration for an integration step that is implicit in the damping and
            springs of the joints: damping and dry friction f then act like an armature of h·f/v (`passive`).
        resisting: inertia that the drives of joints add in such a step (nv) [kg·m² or kg]; empty for none (`settling`).
        loop_resisting: that of drives in loop joints, by the loop's name.
        prescribed: v̇ of joints of one degree of freedom that follow a given motion, by index in v; their efforts result
            (`prescribed`).
        baumgarte: the rate α [1/s] at which loop errors decay: φ̈ + 2αφ̇ + α²φ = 0 in place of φ̈ = 0.
    """

    gravity: Scalars
    wrenches: Applied | None = None
    loop_tau: Mapping[str, Scalars] = field(default_factory=dict)
    implicit_step: Scalar = 0.0
    baumgarte: Scalar = 0.0
    resisting: Scalars = ()
    loop_resisting: Mapping[str, Scalars] = field(default_factory=dict)
    prescribed: Mapping[int, Scalar] = field(default_factory=dict)

    def on(self, link: Link, q: Scalars) -> Force:
        """The external force on a link, in its frame and about its origin."""
        return Force() if self.wrenches is None else self.wrenches.on(link, q)

    def at_an_instant(self, method: str) -> Acting:
        """Returns itself; refuses the settings of an integration step, for a method that does not support them.

        Raises:
            InputError: if `implicit_step` or `baumgarte` is not zero, or drives resist.
        """
        for name in ("implicit_step", "baumgarte"):
            value = getattr(self, name)
            if not is_zero(value):
                raise InputError(f"{method}: {name} is {value!r}, which only articulated bodies take into account. Use 'aba'")
        if len(self.resisting) or self.loop_resisting:
            raise InputError(f"{method}: resisting is given, which only articulated bodies take into account. Use 'aba'")
        if self.prescribed:
            raise InputError(
                f"{method}: joints have prescribed accelerations, which only articulated bodies support. Use 'aba'"
            )
        return self
