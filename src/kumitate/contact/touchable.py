"""Which bodies of a mechanism and its surroundings may touch: by what connects them, by name, and by groups."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from ..errors import InputError, ModelError
from ..model import Geometry, Mechanism, Place, Tree
from ..spatial import Transform
from .mesh_hulls import check_size, touchable

if TYPE_CHECKING:
    from .scene import Contact

GROUND = "ground"
#: `Contact.between` of all bodies but those that are fixed to each other or joined by a joint.
ALL = "all"


@dataclass(frozen=True)
class Touchable:
    """The shapes of a mechanism and its surroundings that can touch, with meshes replaced by their hulls.

    Attributes:
        moving: of moving bodies, by name.
        standing: of the world, each with its name and place.
        between: the pairs of moving bodies that may touch, if they were asked for or are not all that only the world connects,
            which None stands for.
        barred: the pairs of a moving body and one of the world, or "ground", that never touch.
    """

    moving: Mapping[str, tuple[Geometry, ...]]
    standing: Sequence[tuple[str, Place, Geometry]]
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
        standing = [(GROUND, Place(-1, Transform()), shape) for shape in solid(GROUND, contact.on(mechanism).ground or ())]
        standing += [(name, tree.places[name], shape) for name, shape in resting]
        never = {*mechanism.no_contact, *((two, one) for one, two in mechanism.no_contact)}
        pairs = {(one, other) for one in moving for other, _, _ in standing}
        barred = {pair for pair in pairs if pair in never or not contact.may(*pair)}
        fixed = {name for name, _, _ in standing}
        return cls(moving, standing, _between(mechanism, tree, contact, moving, fixed), frozenset(barred))

    def beside(self, name: str) -> list[tuple[str, Place, Geometry]]:
        """What stands in the world that a moving body may touch."""
        return [item for item in self.standing if (name, item[0]) not in self.barred]


def between_bodies(tree: Tree, found: Touchable) -> Sequence[tuple[str, str]]:
    """The pairs of moving bodies that may touch."""
    return found.between if found.between is not None else _apart(tree, found.moving)


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
    root, joined = {name: _root(tree, tree.places[name].link) for name in names}, _joined_by_loops(tree)
    return [
        (one, two)
        for one, two in combinations(root, 2)
        if root[one] != root[two] and frozenset((root[one], root[two])) not in joined
    ]


def _all_but_neighbours(tree: Tree, names: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of bodies that are not fixed to each other, and that no joint joins."""
    near = {frozenset(part.index for part in tree.ancestors(link.index)[:2]) for link in tree.links}
    near |= {frozenset((chord.base.link, chord.follower.link)) for chord in tree.chords}
    link = {name: tree.places[name].link for name in names}
    return [
        (one, two)
        for one, two in combinations(link, 2)
        if link[one] != link[two] and frozenset((link[one], link[two])) not in near
    ]


def _joined_by_loops(tree: Tree) -> set[frozenset[int]]:
    """The pairs of links at the world whose trees a loop joins."""
    pairs = {frozenset((_root(tree, chord.base.link), _root(tree, chord.follower.link))) for chord in tree.chords}
    return {pair for pair in pairs if len(pair) == 2 and -1 not in pair}


def _root(tree: Tree, index: int) -> int:
    return tree.ancestors(index)[-1].index if index >= 0 else index
