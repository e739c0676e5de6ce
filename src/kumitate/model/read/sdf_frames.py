"""The frames of an SDF file: links, joints, models and <frame>s, each given in another, at zero joint coordinates.

Every frame has a key: its name, prefixed by the names of the nested models around it (`arm::hand`). The outermost model's is
"__model__", and "world" is the world.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...errors import did_you_mean, first_of
from ...spatial import Transform, Vector3, pose, quaternion_normalized, quaternion_rotation
from ..mechanism import WORLD
from ..values import LARGEST
from .xml import UNLIMITED, Element

#: The tolerance of the length of quaternions, which files contain rounded.
_ROUNDED = 1e-3


def read_text(owner: Element, tag: str) -> str | None:
    """The text of a child, without blanks around it; None if it is not there or empty."""
    part = owner.child(tag)
    return None if part is None else part.text.strip() or None


def read_numbers(part: Element, *counts: int) -> tuple[float, ...]:
    """The finite numbers in an element's text; as many as one of `counts`."""
    values = tuple(_number(part, word) for word in part.text.split())
    if len(values) not in counts:
        wanted = " or ".join(map(str, counts))
        raise part.error(
            f"<{part.tag}> {part.text.strip()!r} has {len(values)} numbers; it must have {wanted}, with blanks between"
        )
    if not all(map(math.isfinite, values)):
        raise part.error(f"<{part.tag}> {part.text.strip()!r} is not finite; write finite numbers")
    if max(map(abs, values), default=0.0) > LARGEST:
        raise part.error(f"<{part.tag}> {part.text.strip()!r} is larger than {LARGEST:g}; check the number and its unit (SI)")
    return values


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
    value = _number(part, words[0]) if len(words) == 1 else math.nan
    if math.isnan(value):
        raise part.error(f"<{tag}> {part.text.strip()!r} is not a number; write one, or leave the element out")
    return value if abs(value) < UNLIMITED else None


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


def _number(part: Element, word: str) -> float:
    try:
        if "_" in word:  # Python's digit grouping, which other programs do not read
            raise ValueError
        return float(word)
    except ValueError:
        remedy = "write a decimal point, and blanks between numbers" if "," in word else "write digits, a point, an exponent"
        raise part.error(f"<{part.tag}>: {word!r} is not a number; {remedy}") from None


#: The key of the outermost model's frame, and the name of any model's frame inside it.
MODEL = "__model__"

#: The separator between the names of nested models and their elements.
SEPARATOR = "::"

#: Frames that are at most so many steps apart, one given in the other, are related directly and not through the world.
_STEPS = 16


@dataclass(frozen=True)
class _Entry:
    """A frame: `pose` in the frame `base`; fixed to the link that carries `carrier` (None: a link itself)."""

    element: Element
    base: str
    pose: Transform
    carrier: str | None
    placement: str | None


class Frames:
    """All frames of a file; add all of them before reading poses."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._carriers: dict[str, str] = {WORLD: WORLD}
        self._placed: dict[str, Transform] = {WORLD: Transform()}

    def __contains__(self, key: str) -> bool:
        return key in self._entries

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

        Args:
            carrier: key of a frame that it is fixed to; None for links.
            placement: for models: the key of their placement frame, to which the pose applies.
        """
        if key in self._entries or key == WORLD:
            line = f"used in line {self._entries[key].element.line} already" if key in self._entries else "the world's"
            raise element.error(
                f"the name {key!r} of this <{element.tag}> is {line}; links, joints and frames share one set of names, rename "
                "one"
            )
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
