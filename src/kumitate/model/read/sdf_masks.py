"""Which bodies of an SDF file may touch, by <collide_bitmask> and <category_bitmask> of their collisions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

from ..elements import Joint
from ..mechanism import WORLD
from .sdf_values import read_text
from .xml import Element

#: Masks have so many bits; without a mask all of them are set.
BITS = 16


class Mask(NamedTuple):
    """What a collision may touch: two may if one's `category` has a bit in common with the other's `touches`."""

    category: int = 2**BITS - 1
    touches: int = 2**BITS - 1

    def meets(self, other: Mask) -> bool:
        """Whether the two may touch."""
        return bool(self.category & other.touches or other.category & self.touches)


def read_mask(collision: Element) -> Mask:
    """The masks in <surface><contact> of a <collision>; without a category it is the mask.

    The rest of <surface> is marked as read only where there are masks, so that the remark on it stays as it is elsewhere.
    """
    tags = ("collide_bitmask", "category_bitmask")
    if not any(
        contact.has(tag)
        for surface in collision.children if surface.tag == "surface"
        for contact in surface.children if contact.tag == "contact"
        for tag in tags
    ):  # fmt: skip
        return Mask()
    contact = collision.need_child("surface").need_child("contact")
    touches, category = (_bits(contact, tag) for tag in tags)
    whole = Mask().touches if touches is None else touches
    return Mask(whole if category is None else category, whole)


def _bits(contact: Element, tag: str) -> int | None:
    text = read_text(contact, tag)
    if text is None:
        return None
    try:
        value = int(text, 16 if text.lower().startswith("0x") else 10)
    except ValueError:
        value = -1
    if "_" in text or not 0 <= value < 2**BITS:
        raise contact.need_child(tag).error(
            f"<{tag}> {text!r} is not a whole number of {BITS} bits; write one from 0 to {2**BITS - 1}, or leave it out"
        )
    return value


def kept_apart(masks: Mapping[str, Collection[Mask]], joints: Collection[Joint]) -> Iterator[tuple[str, str]]:
    """The pairs of bodies, none of whose collisions may touch, where no joints connect them, as such touch only on request.

    Args:
        masks: those of the collisions of each body that has any, by the body's name.
        joints: those of the mechanism; of two bodies that are both fixed to the world nothing is said.
    """
    if all(mask == Mask() for of_body in masks.values() for mask in of_body):
        return
    parents = {joint.child: joint.parent for joint in joints}
    fixed = {joint.child for joint in joints if joint.parent == WORLD and joint.kind.nv == 0}
    roots = {name: _root(name, parents) for name in masks}
    for one, two in combinations(masks, 2):
        moved = roots[one] != roots[two] and not {roots[one], roots[two]} <= fixed
        if moved and not any(a.meets(b) for a in masks[one] for b in masks[two]):
            yield one, two


def _root(name: str, parents: Mapping[str, str]) -> str:
    """The body that carries this one on the world."""
    while parents.get(name, WORLD) != WORLD:
        name = parents[name]
    return name
