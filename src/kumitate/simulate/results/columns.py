"""Which columns of q and v belong to which joint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...model import Joint, JointKind, Mechanism


class JointColumns(NamedTuple):
    """A joint, its kind, and where it stands in q and in v (as well as a and tau)."""

    joint: Joint
    kind: JointKind
    q: slice
    v: slice


def joint_columns(mechanism: Mechanism) -> Iterator[JointColumns]:
    """The columns of every joint of the tree, in their order; those of fixed joints are empty."""
    q_start = v_start = 0
    for joint in mechanism.joints:
        kind = joint.kind
        yield JointColumns(joint, kind, slice(q_start, q_start + kind.nq), slice(v_start, v_start + kind.nv))
        q_start, v_start = q_start + kind.nq, v_start + kind.nv
