"""The links of an SDF file: inertia, shapes and colours, and which bodies may touch."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...scalar import floats
from ...spatial import Transform
from ..elements import Body, Joint
from ..mechanism import WORLD
from ..shapes import Geometry, Mesh, Plane, Shape
from ..tree.tree import alignment
from .repairs import usable_inertia
from .sdf_frames import Frames, read_number, read_numbers, read_pose, read_text, read_word, relative_to
from .shapes import MeshFinder, read_shape
from .xml import TEXT, Element, Notes

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


#: The masks of a collision that nothing may touch.
NOTHING = Mask(0, 0)
Color = tuple[float, float, float, float]


class SdfLinkReader:
    """Reads the links of one file."""

    def __init__(self, frames: Frames, notes: Notes, *, static: Collection[str] = (), fix_inertia: bool = False):
        self.frames = frames
        #: the scopes of models that do not move
        self.static = static
        #: finds the meshes of a file, by the file: included ones have theirs beside them
        self.meshes: dict[str, MeshFinder] = {}
        self.notes = notes
        self.fix_inertia = fix_inertia
        self.missing: list[tuple[str, int]] = []
        #: the masks of the collisions of each body that has any
        self.masks: dict[str, list[Mask]] = {}

    def body(self, link: Element, key: str, scope: str) -> Body:
        """The body of the link with this key in the models of `scope`; its frame is the link's."""
        mass, place, rows = self._inertial(link, key, scope)
        shapes = [tuple(self._shapes(link, role, key, scope)) for role in ("visual", "collision")]
        with (link.child("inertial") or link).located():
            return Body(key, mass, tuple(floats(place.translation)), rows.tolist(), *shapes)

    def _pose(self, owner: Element, key: str, scope: str) -> Transform:
        """The pose of a part of a link, in the link."""
        part = owner.child("pose")
        named = relative_to(part)
        if part is None or named is None:
            return read_pose(part).dense()
        return (self.frames.relative(self.frames.key(scope, named), key, part) @ read_pose(part)).dense()

    # --- inertia --------------------------------------------------------------------------------------------------------
    def _inertial(self, link: Element, key: str, scope: str) -> tuple[float, Transform, np.ndarray]:
        """Mass, the pose of the inertial frame in the link, and inertia about its origin in the link's axes."""
        inertial = link.child("inertial")
        if inertial is None and any(scope.startswith(held) for held in self.static):
            return 0.0, Transform(), np.zeros((3, 3))
        if inertial is None:
            remark = "links without <inertial>, which by SDF's rule have 1 kg and 1 kg·m² about every axis"
            self.notes.add(remark, key, link.line)
            return 1.0, Transform(), np.eye(3)
        if read_word(inertial, "auto"):
            raise inertial.error(
                f"link {key!r}: inertias are not computed from shapes (auto={inertial.get('auto')!r}); write the numbers"
            )
        mass, place = read_number(inertial, "mass", 1.0), self._pose(inertial, key, scope)
        if mass < 0.0:
            said = f"link {key!r}: <mass> {mass:g} is negative; a mass is zero or more, in kilograms"
            raise inertial.need_child("mass").error(said)
        tensor = inertial.child("inertia")
        if tensor is None:
            return mass, place, np.eye(3)
        xx, yy, zz = (read_number(tensor, tag, 1.0) for tag in ("ixx", "iyy", "izz"))
        xy, xz, yz = (read_number(tensor, tag, 0.0) for tag in ("ixy", "ixz", "iyz"))
        rows = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        rows = usable_inertia(rows, mass, key, self.notes, line=tensor.line, fix=self.fix_inertia)
        rotation = np.array([list(row) for row in place.rotation.matrix()])
        if not np.array_equal(rotation, np.eye(3)):
            rows = rotation @ rows @ rotation.T
            rows = (rows + rows.T) / 2.0
        return mass, place, rows

    # --- shapes ---------------------------------------------------------------------------------------------------------
    def _shapes(self, link: Element, role: str, key: str, scope: str) -> Iterator[Geometry]:
        for item in link.all(role):
            name = item.get("name") or ""
            geometry = item.child("geometry")
            shape, turn = (None, Transform()) if geometry is None else self._shape(geometry)
            if shape is None:
                kinds = ", ".join(f"<{part.tag}>" for part in geometry.children) if geometry is not None else ""
                remark = f"<{role}> of no shape that is known here{f' ({kinds})' * bool(kinds)}, left out"
                self.notes.leave(item, remark, name or key)
            elif role == "collision" and (mask := read_mask(item)) == NOTHING:
                self.notes.leave(item, "<collision> with a bitmask of 0, which nothing may touch, left out", name or key)
            else:
                if role == "collision":
                    self.masks.setdefault(key, []).append(mask)
                with item.located():
                    found = Geometry(shape, (self._pose(item, key, scope) @ turn).dense(), self._color(item), name)
                yield found

    def _shape(self, geometry: Element) -> tuple[Shape | None, Transform]:
        """A shape, and its pose where the format gives it there: the normal of a plane, which has no end."""
        part = geometry.child("plane")
        if part is None:
            return read_shape(geometry, self._mesh, self._lengths), Transform()
        normal, size = part.child("normal"), part.child("size")
        direction = np.array((0.0, 0.0, 1.0) if normal is None else read_numbers(normal, 3))
        if size is not None:
            read_numbers(size, 2)
        if not direction.any():
            raise part.error("<normal> 0 0 0 has no direction; write 0 0 1 for a level plane")
        return Plane(), Transform(alignment((direction / np.linalg.norm(direction)).tolist(), None))

    def _lengths(self, part: Element, tag: str, count: int = 1) -> tuple[float, ...]:
        values = read_numbers(part.need_child(tag), count)
        if min(values) < 0.0:
            size = part.need_child(tag)
            raise size.error(
                f"<{tag}> {size.text.strip()!r} of the {part.tag} is negative; lengths are zero or more, in metres"
            )
        return values

    def _mesh(self, part: Element) -> Mesh | None:
        uri = read_text(part, "uri")
        if uri is None:
            return None
        scale = part.child("scale")
        x, y, z = (1.0, 1.0, 1.0) if scale is None else read_numbers(scale, 3)
        path = None if part.source == TEXT else Path(part.source).expanduser()
        resolved = self.meshes.setdefault(part.source, MeshFinder(path)).find(uri)
        if resolved is None:
            self.missing.append((uri, part.line))
        return Mesh(uri, (x, y, z), resolved)

    def _color(self, item: Element) -> Color | None:
        """The colour: the diffuse one, or else the ambient one."""
        material = item.child("material")
        part = None if material is None else material.child("diffuse") or material.child("ambient")
        if part is None:
            return None
        values = read_numbers(part, 3, 4)
        if min(values) < 0.0 or max(values) > 1.0:
            self.notes.add("colours outside 0…1, clipped", line=part.line)
        red, green, blue, *opacity = (min(max(value, 0.0), 1.0) for value in values)
        return red, green, blue, *(opacity or (1.0,))  # type: ignore[return-value]
