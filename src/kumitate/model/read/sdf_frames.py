"""The frames of an SDF file: links, joints, models and <frame>s, each given in another, at zero joint coordinates.

Every frame has a key: its name, with the names of the nested models around it in front (`arm::hand`). The outermost model's is
"__model__", and "world" is the world.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from ...spatial import Transform
from ..mechanism import WORLD
from .sdf_values import read_pose, relative_to
from .xml import Element

__all__ = ["MODEL", "Frames"]

#: The key of the outermost model's frame, and the name by which any model's elements know their model.
MODEL = "__model__"

#: Between the names of nested models and what is in them.
SEPARATOR = "::"


@dataclass(frozen=True)
class _Entry:
    """A frame: `pose` in the frame `base`; fixed to the link that carries `carrier` (None: a link itself)."""

    element: Element
    base: str
    pose: Transform
    carrier: str | None
    placement: str | None


class Frames:
    """All frames of a file; add them first, then ask."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    @staticmethod
    def key(scope: str, name: str) -> str:
        """The key of what is called `name` inside the models of `scope`, the prefix of their names."""
        if name in (WORLD, "__root__"):
            return WORLD
        if name == MODEL:
            return scope.removesuffix(SEPARATOR) or MODEL
        return scope + name

    def add(
        self, key: str, scope: str, element: Element, *, base: str, carrier: str | None = None, placement: str | None = None
    ) -> None:
        """A frame with the pose that its element gives, in the frame that the pose names, or else in `base`.

        Args:
            carrier: key of a frame that it is fixed to; None for links.
            placement: for models: the key of that frame in it which the pose is meant for.
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
        seen: list[str] = []
        while key != WORLD:
            entry = self._entry(key, asking, seen)
            if entry.carrier is None:
                return key
            key = entry.carrier
        return WORLD

    def relative(self, key: str, to: str, asking: Element) -> Transform:
        """The pose of one frame in another, from link to link as the file has them; exact where one is given in the other."""
        up = self._upward(key, asking, to)
        if up[0] == to:
            return up[1].dense()
        return (self._upward(to, asking, WORLD)[1].inverse() @ up[1]).dense()

    def _upward(self, key: str, asking: Element, stop: str) -> tuple[str, Transform]:
        """The pose of a frame in `stop`, or in the world if the way there does not meet it; and which of them it is."""
        X, seen = Transform(), list[str]()
        while key not in (stop, WORLD):
            entry = self._entry(key, asking, seen)
            own = entry.pose
            if entry.placement is not None:
                inside, X_placed = self._upward(entry.placement, asking, key)
                if inside != key:
                    raise entry.element.error(f"the placement_frame {entry.placement!r} is not a frame inside the model")
                own = own @ X_placed.inverse()
            X, key = own @ X, entry.base
        return key, X

    def _entry(self, key: str, asking: Element, seen: list[str]) -> _Entry:
        if key not in self._entries:
            near = get_close_matches(key, self._entries, 1)
            some = ", ".join(list(self._entries)[:8]) + ", …" * (len(self._entries) > 8)
            remedy = f"did you mean {near[0]!r}?" if near else f"there are {some}"
            owner = asking.attributes.get("name") or asking.text.strip()
            raise asking.error(f"<{asking.tag}> {owner!r} refers to the frame {key!r}, which the file does not have; {remedy}")
        if key in seen:
            circle = " → ".join([*seen[seen.index(key) :], key])
            raise self._entries[key].element.error(
                f"frames are given by one another in a circle: {circle}; give one in its model"
            )
        seen.append(key)
        return self._entries[key]
