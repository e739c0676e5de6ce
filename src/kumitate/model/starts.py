"""Named states of a mechanism at which a simulation may begin, such as the keyframes of MJCF."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from ..errors import ModelError
from .elements import Joint
from .values import checked_name, checked_numbers, shown

#: The name of the state at which simulations begin by default, if a mechanism has one of this name.
INITIAL = "initial"

#: Coordinates or velocities by the names of joints.
ByJoint = tuple[tuple[str, tuple[float, ...]], ...]


@dataclass(frozen=True)
class NamedState:
    """A named state, as the coordinates and velocities of joints.

    Attributes:
        name: unique among the starts of a mechanism.
        q, v: (joint, numbers) of the joints that are not at their neutral coordinates, or not at rest; or a dictionary of them.
    """

    name: str
    q: ByJoint = ()
    v: ByJoint = ()

    def __post_init__(self) -> None:
        owner = f"start {checked_name('a start', self.name)!r}"
        for key in ("q", "v"):
            given: Any = getattr(self, key)
            pairs = given.items() if isinstance(given, Mapping) else given
            try:
                found = tuple((name, tuple(numbers)) for name, numbers in pairs)
            except (TypeError, ValueError):
                raise ModelError(
                    f"{owner}: {key} is {shown(given)}; it must be pairs of a joint and its numbers. Give {{'hinge': (0.1,)}}"
                ) from None
            checked = tuple((n, checked_numbers(owner, f"{key} of joint {n!r}", x, len(x))) for n, x in found)
            object.__setattr__(self, key, checked)

    def check(self, mechanism: str, joints: Mapping[str, Joint]) -> None:
        """Refuses joints that are not those of the mechanism, and wrong numbers of coordinates.

        Raises:
            ModelError: naming the joint.
        """
        for key, count in (("q", "nq"), ("v", "nv")):
            for name, numbers in getattr(self, key):
                if name not in joints:
                    near = get_close_matches(name, joints, 1)
                    remedy = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(joints) or 'none'}"
                    raise ModelError(f"{mechanism}: start {self.name!r} names the joint {name!r}, which is not there; {remedy}")
                needed = getattr(joints[name].kind, count)
                if len(numbers) != needed:
                    raise ModelError(
                        f"{mechanism}: start {self.name!r} has {len(numbers)} numbers for {key} of joint {name!r}; it has "
                        f"{needed}, give these"
                    )


def fitting(starts: Iterable[NamedState], joints: Iterable[Joint]) -> tuple[NamedState, ...]:
    """The starts without the joints that are not among these, or have other coordinates now: those of an edited mechanism."""
    kinds = {joint.name: joint.kind for joint in joints}
    return tuple(
        NamedState(
            start.name,
            tuple((name, x) for name, x in start.q if name in kinds and kinds[name].nq == len(x)),
            tuple((name, x) for name, x in start.v if name in kinds and kinds[name].nv == len(x)),
        )
        for start in starts
    )
