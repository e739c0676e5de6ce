"""The contact scene: pairs of shapes of a mechanism and its surroundings that can touch, fixed before a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol

from ..errors import InputError, ModelError
from ..kinematics import place_pose
from ..model import Geometry, HeightField, Mechanism, PerLink, Place, Plane, Tree
from ..model.values import checked_whole, shown
from ..spatial import Transform
from .pairs import capacity, without_routine
from .pairs.own_points import check_small_boxes
from .surface import Surface, VariedSurface
from .touchable import ALL, Touchable, between_bodies

__all__ = ["Contact", "Pair", "Touchable", "VariedPairs", "between_bodies", "contact_pairs"]

#: The groups and the mask of bodies without: all.
_EVERY = (-1, -1)
#: The ground, and the surface, where nothing else is said.
FLOOR, USUAL = (Geometry(Plane()),), Surface()


@dataclass(frozen=True)
class Contact:
    """The contact of a mechanism with its surroundings and itself.

    Names are resolved when it is used with a mechanism.

    Attributes:
        model: name of the contact model: "rigid" or "penalty"; `kumitate.papers` adds "multipoint".
        ground: shapes fixed in the world, with their poses there. None: the floor z = 0, unless a body that is fixed in the
            world has a plane or a height field, such as the floor of an MJCF file.
        surface: the surface of everything that is not in `surfaces`, which go by the name of a body or "ground". None: that of
            each shape's own `friction`, of which the larger one holds where two of them touch; `Surface()` where none has any.
        pairs: what holds between two bodies, or a body and "ground", by their names in any order, in place of what their
            surfaces combine to; belts are of surfaces alone.
        between: pairs of bodies that may touch each other, by name; all touch the ground, which may stand here too. None: all
            pairs of bodies that only the world connects (two balls, a stack of boxes), and none that joints connect; "all":
            all pairs, but for bodies that are fixed to each other or neighbours at a joint. Both without the mechanism's
            `no_contact`.
        apart: pairs of bodies, or of a body and "ground", that never touch, by name, such as those of an SRDF.
        groups: (groups, mask) of bodies or "ground" as bits of whole numbers: two touch only if each is in a group that the
            mask of the other has. Bodies without are in all groups, and their masks have all.
        options: options of the model, by name; see the models.
        hull_vertices: the maximum number of vertices of the hulls that replace meshes.

    Raises:
        InputError: if a field is not as described here.
    """

    model: str = "rigid"
    ground: Sequence[Geometry] | None = None
    surface: Surface | None = None
    surfaces: Mapping[str, Surface] = field(default_factory=dict)
    pairs: Mapping[tuple[str, str], Surface] = field(default_factory=dict)
    between: Iterable[tuple[str, str]] | Literal["all"] | None = None
    apart: Iterable[tuple[str, str]] = ()
    groups: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    options: Mapping[str, float] = field(default_factory=dict)
    hull_vertices: int = 16

    def __post_init__(self) -> None:
        if self.ground is not None:
            ground = (self.ground,) if isinstance(self.ground, Geometry) else self.ground
            _refuse("ground", self.ground, "shapes with their poses, kumitate.Geometry", not _all_are(Geometry, ground))
            object.__setattr__(self, "ground", tuple(ground))
        if self.surface is not None:
            _refuse("surface", self.surface, "a kumitate.Surface", not isinstance(self.surface, Surface))
            _refuse("surface", self.surface, "one without a belt, which only `surfaces` of bodies have", self.surface.moves)
        surfaces = self.surfaces.values() if isinstance(self.surfaces, Mapping) else None
        _refuse("surfaces", self.surfaces, "a dictionary of kumitate.Surface, by body", not _all_are(Surface, surfaces))
        object.__setattr__(self, "pairs", _checked_pairs(self.pairs))
        self._refuse_models_of_less()
        _refuse("options", self.options, "a dictionary of numbers, by name", not isinstance(self.options, Mapping))
        if self.between is not None and self.between != ALL:
            object.__setattr__(self, "between", _named_pairs(self.between))
        object.__setattr__(self, "apart", _named_pairs(self.apart, "apart"))
        object.__setattr__(self, "groups", _checked_groups(self.groups))
        fewest, what = 4, "hull_vertices"
        number = checked_whole("contact", what, self.hull_vertices, fewest, remedy="Leave it out for 16", error=InputError)
        object.__setattr__(self, what, number)

    def _refuse_models_of_less(self) -> None:
        """Refuses properties of surfaces that only rigid contact has."""
        for surface in self.all_surfaces:
            for name in ("torsional", "rolling", "stiffness"):
                if self.model != "rigid" and getattr(surface, name):
                    raise InputError(
                        f"contact: a surface has {name}={getattr(surface, name):g}, which only rigid contact obeys, not "
                        f"{self.model!r}. Leave it out, or take model='rigid'"
                    )

    @property
    def all_surfaces(self) -> list[Surface]:
        """All surfaces that it names."""
        return [self.surface or USUAL, *self.surfaces.values(), *self.pairs.values()]

    @property
    def turns(self) -> bool:
        """Whether any of them has torsional or rolling friction."""
        return any(surface.turns for surface in self.all_surfaces)

    def of(self, name: str) -> Surface:
        """The surface of a body or of the ground, apart from the friction of its shapes."""
        return self._given(name) or USUAL

    def where(self, one: str, other: str, shapes: Sequence[Geometry] = ()) -> Surface:
        """What holds where two bodies touch by these shapes, the first being of the first body."""
        known = self.pairs.get((one, other)) or self.pairs.get((other, one))
        sides = (self._given(one), self._given(other))
        rubs = [
            shape.friction for shape, side in zip(shapes, sides, strict=False) if side is None and shape.friction is not None
        ]
        own = Surface(max(rubs)) if rubs else USUAL
        return known or (sides[0] or own).against(sides[1] or own)

    def own_friction(self, name: str, shape: Geometry) -> float | None:
        """The friction of a shape of a body, where that counts."""
        return shape.friction if self._given(name) is None else None

    def on(self, mechanism: Mechanism) -> Contact:
        """This contact with its ground, which may depend on what stands in the world of a mechanism already."""
        if self.ground is not None:
            return self
        still = (body for body in mechanism.bodies if mechanism.tree.places[body.name].link < 0)
        floors = any(isinstance(item.shape, Plane | HeightField) for body in still for item in body.collisions)
        return replace(self, ground=() if floors else FLOOR)

    def _given(self, name: str) -> Surface | None:
        return self.surfaces.get(name, self.surface)

    def may(self, one: str, other: str) -> bool:
        """Whether `apart` and `groups` let two bodies touch, or a body and "ground"."""
        if (one, other) in self._apart or (other, one) in self._apart:
            return False
        (own, mask), (others, its_mask) = self.groups.get(one, _EVERY), self.groups.get(other, _EVERY)
        return bool(own & its_mask and others & mask)

    @cached_property
    def _apart(self) -> frozenset[tuple[str, str]]:
        return frozenset(self.apart)

    @property
    def names(self) -> list[str]:
        """All names of bodies in it, or "ground"."""
        named = () if self.between is None or isinstance(self.between, str) else self.between
        pairs = (*self.pairs, *named, *self.apart)
        return [*self.surfaces, *self.groups, *(name for pair in pairs for name in pair)]

    @property
    def belts(self) -> list[str]:
        """The names of the bodies whose surfaces are belts that move, or "ground"."""
        return [name for name, surface in self.surfaces.items() if surface.moves]


@dataclass(frozen=True)
class Pair:
    """Two shapes that can touch: A on a moving link, B on another link or in the world.

    Attributes:
        bodies: the names of A's and B's bodies.
        geometries, places: the shapes, and the places of their bodies' frames on the links.
        surface: the combined surface of both.
    """

    bodies: tuple[str, str]
    geometries: tuple[Geometry, Geometry]
    places: tuple[Place, Place]
    surface: Surface | VariedSurface

    @property
    def links(self) -> tuple[int, int]:
        """The indices of A's and B's links; −1: the world."""
        return self.places[0].link, self.places[1].link

    @cached_property
    def capacity(self) -> int:
        """The maximum number of its contact points."""
        return capacity(self.geometries[0].shape, self.geometries[1].shape)

    def poses(self, tree: Tree, links: PerLink[Transform]) -> tuple[Transform, Transform]:
        """X_WA and X_WB of the shapes, from the poses of the links."""
        a, b = (
            (place_pose(tree, links, place) @ geometry.pose).dense()
            for place, geometry in zip(self.places, self.geometries, strict=True)
        )
        return a, b


class VariedPairs(Protocol):
    """What gives pairs other surfaces, with symbols."""

    def pair(self, pair: Pair) -> Pair:
        """The pair with its surface."""


def contact_pairs(mechanism: Mechanism, tree: Tree, contact: Contact) -> list[Pair]:
    """The pairs of shapes that can touch, sorted by their links. Meshes are replaced by their hulls.

    Raises:
        InputError: if a name is not that of a body, or if nothing can touch anything.
        ModelError: if there is no routine for two shapes, or if a box is so small that a hull or a cylinder would pass
            through it.

    Warns:
        KumitateWarning: for meshes that cannot be read.
    """

    found = Touchable.of(mechanism, tree, contact)
    moving = found.moving
    pairs = [
        _pair(contact, (name, tree.places[name], shape), other)
        for name, shapes in moving.items()
        for shape in shapes
        for other in found.beside(name)
    ]
    for one, two in between_bodies(tree, found):
        pairs += [
            _pair(contact, (one, tree.places[one], a), (two, tree.places[two], b)) for a in moving[one] for b in moving[two]
        ]
    if not pairs and moving and found.barred:
        names = ", ".join(map(repr, moving))
        raise InputError(
            f"{mechanism.name}: nothing may touch {names}, as `apart` and `groups` of the contact leave no pair; leave one of "
            "these out, or simulate without contact"
        )
    if not pairs:
        raise InputError(
            f"{mechanism.name}: no moving body has a shape to touch with; give bodies `collisions`, as <collision> in a URDF "
            "does"
        )
    for made in pairs:
        if fault := without_routine(made.geometries[0].shape, made.geometries[1].shape):
            raise ModelError(f"{mechanism.name}: {made.bodies[0]!r} against {made.bodies[1]!r}: {fault}")
    check_small_boxes(mechanism.name, pairs)
    return sorted(pairs, key=lambda pair: pair.links)


def _named_pairs(between: Any, what: str = "between") -> tuple[tuple[str, str], ...]:
    """Pairs of different names, each once."""
    found = tuple(between) if isinstance(between, Iterable) and not isinstance(between, str) else (between,)
    seen: set[frozenset[str]] = set()
    for pair in found:
        plain = isinstance(pair, tuple | list) and len(pair) == 2 and all(isinstance(name, str) for name in pair)
        _refuse(what, pair, 'pairs of names of bodies, [("a", "b")]', not plain)
        _refuse(what, pair, "pairs of two different bodies", pair[0] == pair[1])
        _refuse(what, pair, "pairs of bodies, each pair once", frozenset(pair) in seen)
        seen.add(frozenset(pair))
    return tuple((one, two) for one, two in found)


def _checked_pairs(pairs: Any) -> dict[tuple[str, str], Surface]:
    """Surfaces by pairs of different names, each pair once."""
    what = 'a dictionary of kumitate.Surface by pairs of names, {("a", "b"): ...}'
    _refuse("pairs", pairs, what, not isinstance(pairs, Mapping) or not _all_are(Surface, pairs.values()))
    for pair, surface in zip(_named_pairs(tuple(pairs), "pairs"), pairs.values(), strict=True):
        _refuse("pairs", pair, "surfaces without belts, which are of bodies: give them in `surfaces`", surface.moves)
    return dict(pairs)


def _checked_groups(groups: Any) -> dict[str, tuple[int, int]]:
    """Groups and masks by name, as whole numbers."""
    rule = 'a dictionary of (groups, mask) by body, two whole numbers whose bits are groups: {"hand": (0b01, 0b10)}'
    _refuse("groups", groups, rule, not isinstance(groups, Mapping))
    for pair in groups.values():
        whole = isinstance(pair, tuple | list) and len(pair) == 2 and all(type(bits) is int for bits in pair)
        _refuse("groups", pair, rule, not whole)
    return {name: (own, mask) for name, (own, mask) in groups.items()}


def _all_are(kind: type, items: Any) -> bool:
    return isinstance(items, Iterable) and all(isinstance(item, kind) for item in items)


def _refuse(name: str, value: Any, rule: str, wrong: bool) -> None:
    if wrong:
        raise InputError(f"contact: {name} has {shown(value)}; it must hold {rule}. Correct it, or leave it out")


def _pair(contact: Contact, a: tuple[str, Place, Geometry], b: tuple[str, Place, Geometry]) -> Pair:
    return Pair((a[0], b[0]), (a[2], b[2]), (a[1], b[1]), contact.where(a[0], b[0], (a[2], b[2])))
