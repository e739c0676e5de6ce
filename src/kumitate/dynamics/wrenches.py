"""External forces on bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..model import Link, Tree
from ..scalar import Scalar, select
from ..spatial import Force, Vector3


class Applied(Protocol):
    """External forces, as the algorithms query them."""

    def on(self, link: Link, q: Sequence[Scalar]) -> Force:
        """What acts on a link, in its frame and about its origin."""


@dataclass(frozen=True)
class LinkForces:
    """Forces by the index of the link they act on, in its frame and about its origin, added to others."""

    by_link: Mapping[int, Force]
    others: Applied | None = None

    def on(self, link: Link, q: Sequence[Scalar]) -> Force:
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
    by_place: Mapping[str, Sequence[Scalar]]

    def on(self, link: Link, q: Sequence[Scalar]) -> Force:
        """What acts on a link, in its frame and about its origin."""
        total = Force()
        for arm, wrench in self.separate(link, q):
            total = total + Force(wrench.moment + arm.cross(wrench.force), wrench.force)
        return total

    def separate(self, link: Link, q: Sequence[Scalar]) -> list[tuple[Vector3, Force]]:
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
