"""The links of an SDF file: inertia, shapes and colours, and which bodies may touch."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...errors import did_you_mean, first_of
from ...scalar import floats
from ...spatial import Transform, Vector3, pose, quaternion_normalized, quaternion_rotation
from ..elements import Body, Joint
from ..mechanism import WORLD
from ..shapes import Geometry, Mesh, Plane, Shape
from ..tree.tree import alignment
from .parts import MOMENTS, SQUARES, Color, MeshFinder, clipped_color, link_inertia, read_shape
from .xml import TEXT, Element, Notes

# --- the frames of an SDF file: links, joints, models and <frame>s, each given in another, at zero joint coordinates ------
# Every frame has a key: its name, prefixed by the names of the nested models around it (`arm::hand`). The outermost model's
# is "__model__", and "world" is the world.

#: The tolerance of the length of quaternions, which files contain rounded.
_ROUNDED = 1e-3


def read_text(owner: Element, tag: str) -> str | None:
    """The text of a child, without blanks around it; None if it is not there or empty."""
    part = owner.child(tag)
    return None if part is None else part.text.strip() or None


def read_numbers(part: Element, *counts: int) -> tuple[float, ...]:
    """The finite numbers in an element's text; as many as one of `counts`."""
    return part.parsed(repr(part.text.strip()), "", part.text, *counts)


def read_number(owner: Element, tag: str, default: float | None = None) -> float:
    """The number in a child; `default` if it is not there (None: it must be)."""
    part = owner.need_child(tag) if default is None else owner.child(tag)
    if part is None:
        assert default is not None
        return default
    return read_numbers(part, 1)[0]


def read_bound(owner: Element | None, tag: str) -> float | None:
    """The limit in a child element; None if it is missing or so large that it means no limit."""
    part = None if owner is None else owner.child(tag)
    if part is None:
        return None
    words = part.text.split()
    return part.limit(repr(part.text.strip()), "", words[0] if len(words) == 1 else "nan", "element")


def read_flag(owner: Element, tag: str, *, default: bool = False) -> bool:
    """Whether a child says "true" or "1"."""
    text = read_text(owner, tag)
    return default if text is None else _truth(owner.need_child(tag), f"<{tag}>", text)


def read_word(owner: Element, name: str) -> bool:
    """Whether an attribute says "true" or "1"; it need not be there."""
    return _truth(owner, f"<{owner.tag}> {name}", owner.get(name) or "false")


def _truth(part: Element, what: str, text: str) -> bool:
    if text.lower() not in ("true", "false", "1", "0"):
        raise part.error(f"{what} {text!r} is neither true nor false; write one of them")
    return text.lower() in ("true", "1")


def read_pose(part: Element | None) -> Transform:
    """The pose in an element's text: x y z [m], then roll pitch yaw [rad, or degrees if it says so] or a quaternion x y z w."""
    if part is None:
        return Transform()
    form = part.get("rotation_format") or "euler_rpy"
    degrees = read_word(part, "degrees")
    if not part.text.strip():
        return Transform()
    if form == "euler_rpy":
        x, y, z, *angles = read_numbers(part, 6)
        return pose((x, y, z), [math.radians(angle) for angle in angles] if degrees else angles)
    if form != "quat_xyzw":
        raise part.error(f"<pose> has the unknown rotation_format {form!r}; it is euler_rpy or quat_xyzw")
    x, y, z, *quaternion = read_numbers(part, 7)
    length = math.hypot(*quaternion)
    if abs(length - 1.0) > _ROUNDED:
        raise part.error(
            f"<pose> {part.text.strip()!r}: the quaternion has the length {length:.4g}; it must be one. The order is x y z, "
            f"then qx qy qz qw{'; divide its parts by its length' if length > 0.0 else ', and no turn is 0 0 0 1'}"
        )
    return Transform(quaternion_rotation(quaternion_normalized(quaternion)), Vector3(x, y, z)).dense()


def relative_to(part: Element | None) -> str | None:
    """The name of the frame that a <pose> is given in, if it names one (`frame` before SDF 1.7)."""
    return None if part is None else part.get("relative_to") or part.get("frame") or None


#: The key of the outermost model's frame, and the name of any model's frame inside it.
MODEL = "__model__"

#: The separator between the names of nested models and their elements.
SEPARATOR = "::"

#: Frames that are at most so many steps apart, one given in the other, are related directly and not through the world.
_STEPS = 16


class _Entry(NamedTuple):
    """A frame: `pose` in the frame `base`; fixed to the link that carries `carrier` (None: a link itself)."""

    element: Element
    base: str
    pose: Transform
    carrier: str | None
    placement: str | None


class Frames:
    """All frames of a file, and the version of its format; add all of them before reading poses."""

    def __init__(self, version: tuple[int, ...]) -> None:
        self.version = version
        self._entries: dict[str, _Entry] = {}
        self._carriers: dict[str, str] = {WORLD: WORLD}
        self._placed: dict[str, Transform] = {WORLD: Transform()}

    @staticmethod
    def key(scope: str, name: str) -> str:
        """The key of the element `name` in the models of `scope`, the prefix of their names."""
        if name in (WORLD, "__root__"):
            return WORLD
        if name == MODEL:
            return scope.removesuffix(SEPARATOR) or MODEL
        return scope + name

    def add(
        self, key: str, scope: str, element: Element, *, base: str, carrier: str | None = None, placement: str | None = None
    ) -> None:
        """Adds a frame with the pose of its element, in the frame that the pose names, or else in `base`.

        `carrier` is the key of a frame that it is fixed to (None for links), `placement` that of a model's placement frame.
        """
        if key in self._entries or key == WORLD:
            line = f"used in line {self._entries[key].element.line} already" if key in self._entries else "the world's"
            rule = "links, joints and frames share one set of names, rename one"
            raise element.error(f"the name {key!r} of this <{element.tag}> is {line}; {rule}")
        part = element.child("pose")
        named = relative_to(part)
        given = base if named is None else self.key(scope, named)
        self._entries[key] = _Entry(element, given, read_pose(part), carrier, placement)

    def carrier(self, key: str, asking: Element) -> str:
        """The key of the link that a frame is fixed to, or the world."""
        way: dict[str, None] = {}
        while key not in self._carriers:
            entry = self._entry(key, asking, way)
            if entry.carrier is None:
                self._carriers[key] = key
            else:
                key = entry.carrier
        self._carriers.update(dict.fromkeys(way, self._carriers[key]))
        return self._carriers[key]

    def relative(self, key: str, to: str, asking: Element) -> Transform:
        """The pose of one frame in another, at zero coordinates; exact if one is given in the other."""
        X, at = Transform(), key
        for _ in range(_STEPS):
            if at in (to, WORLD):
                break
            X, at = self._own(at, asking) @ X, self._entry(at, asking, {}).base
        if at == to:
            return X.dense()
        return (self._in_world(to, asking).inverse() @ self._in_world(key, asking)).dense()

    def _in_world(self, key: str, asking: Element) -> Transform:
        """The pose of a frame in the world. Cached, so that in chains of frames each is computed once."""
        way: dict[str, None] = {}
        while key not in self._placed:
            key = self._entry(key, asking, way).base
        X = self._placed[key]
        for passed in reversed(way):
            X = self._placed[passed] = (X @ self._own(passed, asking)).dense()
        return X

    def _own(self, key: str, asking: Element) -> Transform:
        """The pose of a frame in its base, from its element; for a model with a placement frame it applies to that frame."""
        entry = self._entry(key, asking, {})
        if entry.placement is None:
            return entry.pose
        X, at, way = Transform(), entry.placement, dict[str, None]()
        while at not in (key, WORLD):
            inner = self._entry(at, asking, way)
            X, at = self._own(at, asking) @ X, inner.base
        if at != key:
            raise entry.element.error(f"the placement_frame {entry.placement!r} is not a frame inside the model")
        return entry.pose @ X.inverse()

    def _entry(self, key: str, asking: Element, way: dict[str, None]) -> _Entry:
        """The frame of this key, which is the next one of a `way`."""
        if key not in self._entries:
            remedy = did_you_mean(key, self._entries, f"there are {first_of(self._entries)}")
            owner = asking.attributes.get("name") or asking.text.strip()
            raise asking.error(f"<{asking.tag}> {owner!r} refers to the frame {key!r}, which the file does not have; {remedy}")
        if key in way:
            seen = list(way)
            circle = " → ".join([*seen[seen.index(key) :], key])
            raise self._entries[key].element.error(
                f"frames are given by one another in a circle: {circle}; give one in its model"
            )
        way[key] = None
        return self._entries[key]


# --- links ----------------------------------------------------------------------------------------------------------------
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
    inside = (part for surface in collision.children if surface.tag == "surface" for part in surface.children)
    if not any(part.has(tag) for part in inside if part.tag == "contact" for tag in tags):
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
        rule = f"is not a whole number of {BITS} bits; write one from 0 to {2**BITS - 1}, or leave it out"
        raise contact.need_child(tag).error(f"<{tag}> {text!r} {rule}")
    return value


def kept_apart(masks: Mapping[str, Collection[Mask]], joints: Collection[Joint]) -> Iterator[tuple[str, str]]:
    """The pairs of bodies, none of whose collisions may touch, where no joints connect them, as such touch only on request.

    Of two bodies that are both fixed to the world nothing is said. `masks`: of the collisions of each body that has any.
    """
    if all(mask == Mask() for of_body in masks.values() for mask in of_body):
        return
    parents = {joint.child: joint.parent for joint in joints}
    fixed = {joint.child for joint in joints if joint.parent == WORLD and joint.kind.nv == 0}
    roots = {}
    for name in masks:  # the bodies that carry these on the world
        root = name
        while parents.get(root, WORLD) != WORLD:
            root = parents[root]
        roots[name] = root
    for one, two in combinations(masks, 2):
        moved = roots[one] != roots[two] and not {roots[one], roots[two]} <= fixed
        if moved and not any(a.meets(b) for a in masks[one] for b in masks[two]):
            yield one, two


#: The masks of a collision that nothing may touch.
NOTHING = Mask(0, 0)


class SdfLinkReader:
    """Reads the links of one file."""

    def __init__(self, frames: Frames, notes: Notes, *, static: Collection[str] = (), fix_inertia: bool = False):
        #: `static`: the scopes of models that do not move
        self.frames, self.static, self.notes, self.fix_inertia = frames, static, notes, fix_inertia
        #: finds the meshes of a file, by the file: included ones have theirs beside them
        self.meshes: dict[str, MeshFinder] = {}
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
        if inertial is None:
            if any(scope.startswith(held) for held in self.static):
                return 0.0, Transform(), np.zeros((3, 3))
            remark = "links without <inertial>, which by SDF's rule have 1 kg and 1 kg·m² about every axis"
            self.notes.add(remark, key, link.line)
            return 1.0, Transform(), np.eye(3)
        if read_word(inertial, "auto"):
            auto = inertial.get("auto")
            raise inertial.error(f"link {key!r}: inertias are not computed from shapes (auto={auto!r}); write the numbers")
        mass, place = read_number(inertial, "mass", 1.0), self._pose(inertial, key, scope)
        if mass < 0.0:
            said = f"link {key!r}: <mass> {mass:g} is negative; a mass is zero or more, in kilograms"
            raise inertial.need_child("mass").error(said)
        tensor = inertial.child("inertia")
        if tensor is None:
            return mass, place, np.eye(3)
        numbers = [read_number(tensor, tag, float(tag in SQUARES)) for tag in MOMENTS]
        return mass, place, link_inertia(numbers, mass, key, self.notes, place, line=tensor.line, fix=self.fix_inertia)

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
        path = None if part.source == TEXT else Path(part.source).expanduser()
        finder = self.meshes.setdefault(part.source, MeshFinder(path))
        return finder.mesh(uri, (1.0, 1.0, 1.0) if scale is None else read_numbers(scale, 3), part.line)

    def _color(self, item: Element) -> Color | None:
        """The colour: the diffuse one, or else the ambient one."""
        material = item.child("material")
        part = None if material is None else material.child("diffuse") or material.child("ambient")
        return None if part is None else clipped_color(read_numbers(part, 3, 4), self.notes, "", part.line)
