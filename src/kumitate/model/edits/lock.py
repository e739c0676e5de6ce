"""Locking joints, and removing their friction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...errors import ModelError
from ...spatial import Transform
from ..elements import Joint, fitting
from ..joints import KINDS
from ..mechanism import Mechanism
from ..tree.tree import alignment
from ..values import checked_array
from .undriven import check_undriven

#: The tolerance for given coordinates that a coupling relates, relative to their size.
_ROUNDING = 1e-9


def lock(mechanism: Mechanism, joints: Mapping[str, Any] | Sequence[str]) -> Mechanism:
    """The mechanism with some joints fixed: at the coordinates given by name, or at their neutral ones.

    Joints that are coupled to a locked one are locked too, at the coordinates that follow from it.

    Raises:
        ModelError: if a name is not a joint's, a joint is given the wrong number of coordinates, or coupled joints are given
            coordinates that contradict their coupling; or if one of the joints has a drive.
    """
    at = joints if isinstance(joints, Mapping) else {}
    held = {name: _coordinates(mechanism.joint(name), at.get(name)) for name in joints}
    _follow(mechanism, held)
    check_undriven(mechanism, held, "is locked")
    changed = tuple(_locked(joint, held[joint.name]) if joint.name in held else joint for joint in mechanism.joints)
    couplings = tuple(item for item in mechanism.couplings if item.joint not in held)
    return replace(mechanism, joints=changed, couplings=couplings, starts=fitting(mechanism.starts, changed))


def _coordinates(joint: Joint, q: Any) -> list[float]:
    if q is None:
        return joint.kind.neutral()
    values = checked_array(f"joint {joint.name!r}", "the place where it is locked", q, error=ModelError).ravel().tolist()
    if len(values) != joint.kind.nq:
        raise ModelError(
            f"joint {joint.name!r} is locked at {len(values)} coordinates; it has {joint.kind.nq} "
            f"({', '.join(joint.kind.coordinates) or 'none'}), give these"
        )
    return values


def _follow(mechanism: Mechanism, held: dict[str, list[float]]) -> None:
    """Adds the joints that are locked by couplings with those already in `held`, by their coordinates."""
    waiting = list(mechanism.couplings)
    while waiting:
        found = next((item for item in waiting if item.of in held or (item.joint in held and item.ratio != 0.0)), None)
        if found is None:
            break
        waiting.remove(found)
        if found.of not in held:
            held[found.of] = [(held[found.joint][0] - found.offset) / found.ratio]
        needed = found.ratio * held[found.of][0] + found.offset
        given = held.setdefault(found.joint, [needed])[0]
        if abs(given - needed) > _ROUNDING * (1.0 + abs(needed)):
            raise ModelError(
                f"{mechanism.name}: joint {found.joint!r} is locked at {given:.9g}, but coupling {found.name!r} holds it at "
                f"{needed:.9g} with {found.of!r} where it is locked; lock one of the two, or take the coupling out"
            )


def _locked(joint: Joint, values: Sequence[float]) -> Joint:
    A = Transform(alignment(joint.axis, joint.second_axis))
    held = joint.pose @ A @ joint.kind.transform(values) @ A.inverse()
    return Joint(joint.name, KINDS["fixed"], joint.parent, joint.child, held.dense())


def without_friction(mechanism: Mechanism) -> Mechanism:
    """The mechanism with frictionless, undamped joints and loops."""
    joints = tuple(replace(joint, damping=0.0, friction=0.0) for joint in mechanism.joints)
    loops = tuple(replace(loop, damping=0.0, friction=0.0) for loop in mechanism.loops)
    return replace(mechanism, joints=joints, loops=loops)
