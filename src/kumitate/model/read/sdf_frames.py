"""The frames of an SDF file: links, joints, models and <frame>s, each given in another, at zero joint coordinates.

Every frame has a key: its name, prefixed by the names of the nested models around it (`arm::hand`). The outermost model's is
"__model__", and "world" is the world.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from ...spatial import Transform
from ..mechanism import WORLD
from .sdf_values import read_pose, relative_to
from .xml import Element

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
            near = get_close_matches(key, self._entries, 1)
            some = ", ".join(list(self._entries)[:8]) + ", …" * (len(self._entries) > 8)
            remedy = f"did you mean {near[0]!r}?" if near else f"there are {some}"
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
