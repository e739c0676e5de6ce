"""The joints of a mechanism that have drives, and where each stands among the degrees of freedom of all joints.

Steps number the degrees of freedom of the tree first, as in v, and after them those of loop joints and lines, as in
`Mechanism.loop_v_names`; coordinates likewise.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from ..bounds import loop_bounds
from .contract import Drive
from .with_state import DriveWithState

if TYPE_CHECKING:
    from ..elements import Joint, Loop
    from ..mechanism import Mechanism


class Driven(NamedTuple):
    """A joint with a drive.

    Attributes:
        name: of the joint, loop joint or line; `drive`: in it.
        q, v: the indices of its coordinate and velocity among those of all joints; those of the tree are those in q and v.
        limit: the largest effort of the drive [N·m or N], infinite if there is none.
        states: where the drive's own state stands among those of all drives; nothing for most.
    """

    name: str
    drive: Drive
    q: int
    v: int
    limit: float
    states: slice


def driven_joints(mechanism: Mechanism) -> tuple[Driven, ...]:
    """The joints with drives, first those of the tree, then loop joints and lines."""
    found, q, v, s = [], 0, 0, 0
    items: list[Joint | Loop] = [*mechanism.joints, *mechanism.loops]
    for item in items:
        if item.drive is not None:
            limits = (item.drive.limit, item.limits[0].effort, inf)
            limit = next(limit for limit in limits if limit is not None)
            states = slice(s, s := s + len(drive_states(item.drive)))
            found.append(Driven(item.name, item.drive, q, v, limit, states))
        q, v = q + item.kind.nq, v + item.kind.nv
    return tuple(found)


def drive_states(drive: Drive | None) -> Mapping[str, float]:
    """The numbers of a drive's own state by name, at the start; empty for drives that have none."""
    return drive.start if isinstance(drive, DriveWithState) else {}


def freedoms(mechanism: Mechanism) -> int:
    """The number of degrees of freedom at which drives and stops act: nv, and all of loops where a loop has one of them."""
    return mechanism.nv + (len(mechanism.loop_v_names) if any(map(_pushed, mechanism.loops)) else 0)


def by_loop(mechanism: Mechanism, values: Any) -> dict[str, list[Any]]:
    """The values at the degrees of freedom of loops with drives or stops, of values (`freedoms`), by the loop's name."""
    rest, found = iter(values[mechanism.nv :]), {}
    for loop in mechanism.loops if len(values) > mechanism.nv else ():
        own = list(islice(rest, loop.kind.nv))
        if _pushed(loop):
            found[loop.name] = own
    return found


def _pushed(loop: Loop) -> bool:
    """Whether a drive or a stop acts in a loop joint or line."""
    return loop.drive is not None or bool(loop_bounds(loop))
