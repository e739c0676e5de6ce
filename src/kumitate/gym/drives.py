"""Drives that hold joints at targets: a spring compiled into the step, and a damper in the joint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..control.controllers import columns_of
from ..errors import InputError
from ..model import Mechanism
from ..scalar.arrays import clip

__all__ = ["PositionDrives"]


class PositionDrives:
    """Drives at joints of one angle or length: τ = kp (target − q), within the joint's limit of effort, less kd q̇.

    The damper is put into the joint, where semi-implicit steps are implicit in it: the drives are stable with gains of damping
    that a controller could not have. The limit of effort therefore bounds the spring alone.

    Attributes:
        mechanism: with the dampers and armatures.
        joints: the names of the driven joints, in the order of targets.
        columns_q, columns_v: where they stand in q and v.
        kp: (k) [N·m/rad or N/m].
        most: (k), what the springs give at most [N·m or N]; infinite where the file says nothing.
    """

    def __init__(self, mechanism: Mechanism, kp: Mapping[str, float], kd: Mapping[str, float], *, armature: float = 0.0):
        """Drives at the joints that `kp` names.

        Args:
            kp, kd: by the joint's name.
            armature: inertia of each drive as felt at its joint [kg·m² or kg], where the file says nothing.

        Raises:
            InputError: if a name is not a joint's, `kd` has other names, or a joint has more than one coordinate.
        """
        if set(kp) != set(kd):
            raise InputError(f"{mechanism.name}: kp and kd name different joints: {', '.join(sorted(set(kp) ^ set(kd)))}")
        columns_of(mechanism, kp)  # names the joints that there are not
        links = {link.name: link for link in mechanism.tree.links}
        for name in kp:
            if (links[name].kind.nq, links[name].kind.nv) != (1, 1):
                raise InputError(f"{mechanism.name}: joint {name!r} has {links[name].kind.nq} coordinates; drives need one")
        self.joints = tuple(kp)
        self.columns_q = np.array([links[name].q_start for name in kp])
        self.columns_v = np.array([links[name].v_start for name in kp])
        self.kp = np.array(list(kp.values()), dtype=float)
        limits = {joint.name: joint.limits[0].effort for joint in mechanism.joints if joint.name in kp}
        self.most = np.array([np.inf if (most := limits[name]) is None else most for name in kp])
        self.mechanism = replace(
            mechanism,
            joints=tuple(
                replace(joint, damping=joint.damping[0] + kd[joint.name], armature=joint.armature[0] or armature)  # type: ignore[index]
                if joint.name in kp
                else joint
                for joint in mechanism.joints
            ),
        )

    def efforts(self, q: Any, target: Any) -> Any:
        """What the springs give, tau (nv), at q (nq) for targets (k); to be called in a controller."""
        spring = clip(self.kp * (target - q[self.columns_q]), -self.most, self.most)
        given = dict(zip(self.columns_v.tolist(), spring, strict=True))
        zero = 0.0 * q[0]  # a number among numbers, a symbol among symbols
        return np.stack([given.get(k, zero) for k in range(self.mechanism.nv)])
