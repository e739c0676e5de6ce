"""Holding joints, and taking their friction away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...errors import ModelError
from ...spatial import Transform
from ..joints import KINDS
from ..mechanism import Mechanism
from ..parts import Joint
from ..tree import alignment

__all__ = ["lock", "without_friction"]


def lock(mechanism: Mechanism, joints: Mapping[str, Any] | Sequence[str]) -> Mechanism:
    """The mechanism with some joints fixed: at the coordinates given by name, or at their neutral ones.

    Raises:
        ModelError: if a name is no joint's, or a joint is given the wrong number of coordinates.
    """
    known = {joint.name for joint in mechanism.joints}
    for name in joints:
        if name not in known:
            raise ModelError(f"{mechanism.name}: there is no joint {name!r} to lock; there are {', '.join(sorted(known))}")
    at = joints if isinstance(joints, Mapping) else {}
    changed = tuple(_locked(joint, at.get(joint.name)) if joint.name in joints else joint for joint in mechanism.joints)
    return replace(mechanism, joints=changed)


def _locked(joint: Joint, q: Sequence[float] | None) -> Joint:
    kind = joint.kind
    values = kind.neutral() if q is None else [float(x) for x in q]
    if len(values) != kind.nq:
        raise ModelError(f"joint {joint.name!r} is locked at {len(values)} coordinates; it has {kind.nq}")
    A = Transform(alignment(joint.axis, joint.second_axis))
    held = joint.pose @ A @ kind.transform(values) @ A.inverse()
    return Joint(joint.name, KINDS["fixed"], joint.parent, joint.child, held.dense())


def without_friction(mechanism: Mechanism) -> Mechanism:
    """The mechanism with frictionless, undamped joints and loops."""
    joints, loops = (
        tuple(replace(item, damping=0.0, friction=0.0) for item in items) for items in (mechanism.joints, mechanism.loops)
    )
    return replace(mechanism, joints=joints, loops=loops)
