"""A mechanism some of whose numbers are symbols: what algorithms see of it while a program is traced.

It has the bodies, joints and places of the mechanism that it stands for. Its trees hold symbols where numbers vary; its bodies
have no masses but those of `VariedBody.spatial_inertia`, so that nothing can read a number that another row does not have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from ..scalar import Scalar
from ..spatial import Inertia
from .mechanism import Mechanism
from .shapes import Geometry
from .tree.base_parameters import BaseParameterTree
from .tree.tree import WORLD_LINK, Chord, Link, Tree


@dataclass(frozen=True)
class VariedBody:
    """A body whose inertia may hold symbols.

    Attributes:
        name: of the body; `visuals`, `collisions`: its shapes.
        inertia: in the body's frame.
    """

    name: str
    inertia: Inertia
    visuals: tuple[Geometry, ...] = ()
    collisions: tuple[Geometry, ...] = ()

    def spatial_inertia(self) -> Inertia:
        """The body's inertia in its frame."""
        return self.inertia


class VariedMechanism(Mechanism):
    """A mechanism with symbols among its numbers; made by `of` and changed in place while a program is set up."""

    @classmethod
    def of(cls, mechanism: Mechanism) -> VariedMechanism:
        """A mechanism in which nothing varies yet."""
        made = object.__new__(cls)
        vars(made).update({field.name: getattr(mechanism, field.name) for field in fields(mechanism)})
        vars(made).update(tree=mechanism.tree, base_parameter_tree=mechanism.base_parameter_tree)
        vars(made)["bodies"] = tuple(
            VariedBody(body.name, body.spatial_inertia(), body.visuals, body.collisions) for body in mechanism.bodies
        )
        return made

    def vary_gravity(self, gravity: Sequence[Scalar]) -> None:
        """Another gravitational acceleration [m/s²]."""
        vars(self)["gravity"] = tuple(gravity)

    def vary_inertias(self, bodies: Sequence[Inertia], base: Sequence[Inertia], mass: Scalar) -> None:
        """Other inertias.

        Args:
            bodies: of each body, in its frame; `base`: of each link of the base-parameter tree.
            mass: of all moving bodies [kg].
        """
        vars(self)["bodies"] = tuple(
            VariedBody(body.name, inertia, body.visuals, body.collisions)
            for body, inertia in zip(self.bodies, bodies, strict=True)
        )
        whole: dict[int, Inertia] = {}
        for body, inertia in zip(self.bodies, bodies, strict=True):
            place = self.tree.places[body.name]
            if place.link != WORLD_LINK:
                own = inertia.to_parent(place.pose)
                whole[place.link] = whole[place.link] + own if place.link in whole else own
        self._change(self.tree, [{"inertia": whole[link.index]} for link in self.tree.links], mass=mass)
        self._change(self.base_parameter_tree, [{"inertia": inertia} for inertia in base], mass=mass)

    def vary_joints(self, key: str, values: Sequence[Scalar]) -> None:
        """Other values of a property of joints, one for each degree of freedom: those of the tree, then those of loops."""
        for tree in (self.tree, self.base_parameter_tree):
            changes = [{key: tuple(values[link.v_start : link.v_start + link.kind.nv])} for link in tree.links]
            at, chords = tree.nv, []
            for chord in tree.chords:
                own: dict[str, Any] = {key: tuple(values[at : at + chord.closure.nv])}
                chords.append(replace(chord, **own))
                at += chord.closure.nv
            self._change(tree, changes, chords=tuple(chords))

    def _change(self, tree: Tree, changes: Sequence[Mapping[str, Any]], **others: Any) -> None:
        """Puts other links into the place of those of a tree."""
        links: list[Link] = [replace(link, **change) for link, change in zip(tree.links, changes, strict=True)]
        chords: tuple[Chord, ...] = others.pop("chords", tree.chords)
        name = "base_parameter_tree" if isinstance(tree, BaseParameterTree) else "tree"
        vars(self)[name] = replace(tree, links=tuple(links), chords=chords, **others)
