"""The contact scene: which bodies of a mechanism and its surroundings may touch, and by which shapes, fixed before a run."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from ..errors import InputError, ModelError
from ..kinematics import place_pose
from ..model import Geometry, HeightField, Mechanism, PerLink, Place, Plane, Tree
from ..model.values import checked_whole, shown
from ..spatial import Transform
from .mesh_hulls import check_size, touchable
from .pairs import capacity, without_routine
from .pairs.own_points import check_small_boxes
from .surface import Surface, VariedSurface

#: What stands in the world without a body, by name; `Contact.between` of all bodies but those that are fixed to each other or
#: joined by a joint.
GROUND, ALL = "ground", "all"
#: The groups and the mask of bodies without: all.
_EVERY = (-1, -1)
Accuracy = Literal["following", "strict"]
#: How well laws may be kept.
ACCURACIES: tuple[Accuracy, ...] = ("following", "strict")
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
        accuracy: how well rigid contact keeps its laws. "strict": to 1e-8 m/s, in moving piles of more than 20 bodies to 1e-6.
            "following": to 1e-6 of the speed that gravity gives in a step, where that is more; where more than 20 bodies touch
            each other, to 1e-3 of the fastest speed of a point above 5 mm/s.

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
    accuracy: Accuracy = "following"

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
        number = checked_whole(
            "contact", "hull_vertices", self.hull_vertices, 4, remedy="Leave it out for 16", error=InputError
        )
        object.__setattr__(self, "hull_vertices", number)
        _refuse("accuracy", self.accuracy, '"following" or "strict"', self.accuracy not in ACCURACIES)

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
        given = [shape.friction for shape, side in zip(shapes, sides, strict=False) if side is None]
        own = Surface(max(rubs)) if (rubs := [one for one in given if one is not None]) else USUAL
        return known or (sides[0] or own).against(sides[1] or own)

    def stiffness(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Where bodies of each pair touch, the stiffness of the surfaces [N/m]; 0 where they are rigid."""
        return np.array([self.where(*pair).stiffness or 0.0 for pair in pairs], dtype=float)

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


class PlacedShape(NamedTuple):
    """A shape of a body or of the ground, with its name and the place of its frame."""

    body: str
    place: Place
    geometry: Geometry


@dataclass(frozen=True)
class Touchable:
    """The shapes of a mechanism and its surroundings that can touch, with meshes replaced by their hulls.

    Attributes:
        moving: of moving bodies, by name.
        standing: of the world.
        between: the pairs of moving bodies that may touch, if they were asked for or are not all that only the world connects,
            which None stands for.
        barred: the pairs of a moving body and one of the world, or "ground", that never touch.
    """

    moving: Mapping[str, tuple[Geometry, ...]]
    standing: Sequence[PlacedShape]
    between: Sequence[tuple[str, str]] | None
    barred: frozenset[tuple[str, str]] = frozenset()

    @classmethod
    def of(cls, mechanism: Mechanism, tree: Tree, contact: Contact) -> Touchable:
        """All shapes; errors and warnings as in `contact_pairs`."""

        def solid(name: str, shapes: Iterable[Geometry]) -> tuple[Geometry, ...]:
            owner = f"{mechanism.name}: {name!r}"
            found = touchable(owner, shapes, contact.hull_vertices)
            for item in found:
                check_size(item.shape, owner)
                if contact.turns and item.shape.bounding_radius == 0.0:
                    raise ModelError(
                        f"{owner}: a {item.shape.kind} is a point, which torsional and rolling friction cannot act on; it must "
                        "have a size. Give it one, or leave such friction out"
                    )
            return found

        collisions = {body.name: solid(body.name, body.collisions) for body in mechanism.bodies}
        for name in contact.names:
            if name not in collisions and name != GROUND:
                known = ", ".join(name for name, shapes in collisions.items() if shapes)
                raise InputError(
                    f"{mechanism.name}: contact names {name!r}, which is not a body; those with shapes are {known or 'none'}"
                )
        moving = {name: shapes for name, shapes in collisions.items() if shapes and tree.places[name].link >= 0}
        resting = [(name, shape) for name, shapes in collisions.items() if name not in moving for shape in shapes]
        ground = solid(GROUND, contact.on(mechanism).ground or ())
        standing = [PlacedShape(GROUND, Place(-1, Transform()), shape) for shape in ground]
        standing += [PlacedShape(name, tree.places[name], shape) for name, shape in resting]
        never = {*mechanism.no_contact, *((two, one) for one, two in mechanism.no_contact)}
        pairs = {(one, other) for one in moving for other, _, _ in standing}
        barred = {pair for pair in pairs if pair in never or not contact.may(*pair)}
        fixed = {name for name, _, _ in standing}
        return cls(moving, standing, _between(mechanism, tree, contact, moving, fixed), frozenset(barred))

    def pairs(self, tree: Tree) -> Iterator[tuple[PlacedShape, PlacedShape]]:
        """Every two shapes that may touch: one of a moving body, and one of the world or of another moving body."""
        for name in self.moving:
            for one in self.shapes(tree, name):
                yield from ((one, other) for other in self.standing if (name, other.body) not in self.barred)
        for names in self.between if self.between is not None else _apart(tree, self.moving):
            yield from product(*(self.shapes(tree, name) for name in names))

    def shapes(self, tree: Tree, name: str) -> list[PlacedShape]:
        """The shapes of a moving body."""
        return [PlacedShape(name, tree.places[name], shape) for shape in self.moving[name]]


def _check_pair(
    mechanism: Mechanism, tree: Tree, moving: Mapping[str, Any], fixed: Container[str], pair: tuple[str, str]
) -> None:
    """Refuses a pair of bodies that cannot touch each other; one of both may be `fixed` in the world."""
    beside = [name in fixed for name in pair]
    for name, of_world in zip(pair, beside, strict=True):
        if name not in moving and (all(beside) or not of_world):
            why = "has no shape to touch with" if name in tree.places and tree.places[name].link >= 0 else "does not move"
            raise InputError(
                f"{mechanism.name}: contact between {pair[0]!r} and {pair[1]!r}: {name!r} {why}; pairs must be of moving "
                "bodies with collision shapes, or of one and the ground. Leave the pair out, or give the shape"
            )
    if not any(beside) and tree.places[pair[0]].link == tree.places[pair[1]].link:
        raise InputError(
            f"{mechanism.name}: contact between {pair[0]!r} and {pair[1]!r}, which are fixed to each other; they must be able "
            "to move against each other. Leave the pair out"
        )


def _between(
    mechanism: Mechanism, tree: Tree, contact: Contact, moving: Mapping[str, Any], fixed: Container[str]
) -> tuple[tuple[str, str], ...] | None:  # fmt: skip
    """`Touchable.between`."""
    asked, never = contact.between, set(mechanism.no_contact)
    if asked is None and not (never or contact.apart or contact.groups or _joined_by_loops(tree)):
        return None  # without listing the pairs, of which a thousand bodies have half a million
    if asked is None or isinstance(asked, str):
        every = _apart(tree, moving) if asked is None else _all_but_neighbours(tree, moving)
        kept = [pair for pair in every if tuple(sorted(pair)) not in never and contact.may(*pair)]
        plain = asked is None and len(kept) == len(every) and not _joined_by_loops(tree)
        return None if plain else tuple(kept)
    named = tuple(asked)
    for pair in named:
        _check_pair(mechanism, tree, moving, fixed, pair)
    return tuple(pair for pair in named if contact.may(*pair) and not any(name in fixed for name in pair))


def _apart(tree: Tree, names: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of bodies that only the world connects."""
    return _in_none({name: _root(tree, tree.places[name].link) for name in names}, _joined_by_loops(tree))


def _all_but_neighbours(tree: Tree, names: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of bodies that are not fixed to each other, and that no joint joins."""
    near = {frozenset(part.index for part in tree.ancestors(link.index)[:2]) for link in tree.links}
    near |= {frozenset((chord.base.link, chord.follower.link)) for chord in tree.chords}
    return _in_none({name: tree.places[name].link for name in names}, near)


def _in_none(link: Mapping[str, int], near: Container[frozenset[int]]) -> list[tuple[str, str]]:
    """Pairs of names of two links that are not in a set of pairs."""
    pairs = combinations(link, 2)
    return [(a, b) for a, b in pairs if link[a] != link[b] and frozenset((link[a], link[b])) not in near]


def _joined_by_loops(tree: Tree) -> set[frozenset[int]]:
    """The pairs of links at the world whose trees a loop joins."""
    pairs = {frozenset((_root(tree, chord.base.link), _root(tree, chord.follower.link))) for chord in tree.chords}
    return {pair for pair in pairs if len(pair) == 2 and -1 not in pair}


def _root(tree: Tree, index: int) -> int:
    return tree.ancestors(index)[-1].index if index >= 0 else index


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
    pairs = [
        Pair((a, b), (one, other), (here, there), contact.where(a, b, (one, other)))
        for (a, here, one), (b, there, other) in found.pairs(tree)
    ]
    if not pairs and found.moving and found.barred:
        names = ", ".join(map(repr, found.moving))
        raise InputError(
            f"{mechanism.name}: nothing may touch {names}, as `apart` and `groups` of the contact leave no pair; leave one of "
            "these out, or simulate without contact"
        )
    if not pairs:
        raise nothing_touches(mechanism)
    for made in pairs:
        if fault := without_routine(made.geometries[0].shape, made.geometries[1].shape):
            raise ModelError(f"{mechanism.name}: {made.bodies[0]!r} against {made.bodies[1]!r}: {fault}")
    check_small_boxes(mechanism.name, pairs)
    return sorted(pairs, key=lambda pair: pair.links)


def nothing_touches(mechanism: Mechanism) -> InputError:
    """The error where no moving body has a shape."""
    return InputError(
        f"{mechanism.name}: no moving body has a shape to touch with; give bodies `collisions`, as <collision> in a URDF does"
    )


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
