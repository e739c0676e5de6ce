"""Semantic descriptions of robots (SRDF): named postures, groups of joints, pairs of bodies that need no collision check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import InputError
from .mechanism import Mechanism


@dataclass(frozen=True)
class VirtualJoint:
    """The joint of the robot's root according to the file: of `kind`, from the frame `parent` to the body `child`."""

    name: str
    kind: str
    parent: str
    child: str


@dataclass(frozen=True)
class EndEffector:
    """A tool: the group of its joints, the body that carries it, and the group that moves that body, if said."""

    name: str
    group: str
    parent: str
    parent_group: str | None = None


@dataclass(frozen=True)
class Srdf:
    """The content of an SRDF file for a mechanism.

    Attributes:
        name: of the robot there.
        mechanism: that it was read for.
        poses: coordinates by joint, in our order of components, of each named posture; joints that it leaves out are missing.
        groups: the moving joints of each group, in the mechanism's order.
        disabled_collisions: pairs of bodies that need not be checked for collision, in alphabetical order, and the reason.
        passive_joints: joints that no drive moves.
        virtual_joints: joints of the root; kept as written.
        end_effectors: tools; kept as written.
    """

    name: str
    mechanism: Mechanism = field(repr=False)
    poses: Mapping[str, Mapping[str, tuple[float, ...]]]
    groups: Mapping[str, tuple[str, ...]]
    disabled_collisions: Mapping[tuple[str, str], str] = field(repr=False)
    passive_joints: tuple[str, ...] = ()
    virtual_joints: tuple[VirtualJoint, ...] = ()
    end_effectors: tuple[EndEffector, ...] = ()

    def q(self, pose: str, start: Any = None) -> np.ndarray:
        """The coordinates (nq) of a named posture.

        Args:
            pose: its name.
            start: coordinates (nq) of the joints that the posture leaves out; neutral by default.

        Raises:
            InputError: if there is no such posture, or `start` has another shape.
        """
        if pose not in self.poses:
            known = ", ".join(repr(name) for name in self.poses) or "none"
            raise InputError(f"{self.name}: there is no pose {pose!r} in the file; there are {known}")
        own = self.poses[pose]
        parts = {joint.name: joint.kind.neutral() for joint in self.mechanism.joints}
        q = np.array([x for part in parts.values() for x in part]) if start is None else np.array(start, dtype=float)
        if q.shape != (self.mechanism.nq,):
            raise InputError(f"{self.name}: start has the shape {q.shape}; it must be ({self.mechanism.nq},)")
        at = 0
        for name, part in parts.items():
            q[at : at + len(part)] = own.get(name, q[at : at + len(part)])
            at += len(part)
        return q
