"""Rows of four-bar linkages, as mechanisms and as Pinocchio's models: what is timed of closed loops."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kumitate.model import WORLD, Mechanism
from kumitate.model.samples import four_bars, four_bars_start
from kumitate.spatial import Transform, Vector3, pose

from .subjects import Subject

__all__ = ["FourBars"]

#: A plane that is parallel to no axis of the world.
ASKEW = pose((0.3, -0.2, 0.5), (0.4, -0.7, 1.1))


@dataclass(frozen=True)
class FourBars(Subject):
    """The sample `four_bars(count)`: loops in a row, closed by revolute joints, and a tree of 2·count + 1 joints.

    Attributes:
        count: the number of loops; without any, one leg is left.
        tilted: whether it moves, gravity and all, in a plane askew in space: nothing is zero by its place then.
    """

    name: str
    title: str
    count: int
    tilted: bool = False

    def _build(self) -> Mechanism:
        upright = four_bars(self.count)
        if not self.tilted:
            return replace(upright, name=self.name)
        grounded = tuple(
            replace(joint, pose=ASKEW @ joint.pose) if joint.parent == WORLD else joint for joint in upright.joints
        )
        down = ASKEW.rotation.rotate(Vector3(*upright.gravity))
        gravity = float(down.x), float(down.y), float(down.z)
        return replace(upright, name=self.name, joints=grounded, gravity=gravity)

    def state(self, angle: float, rate: float) -> tuple[np.ndarray, np.ndarray]:
        """q and v (nv), on closed loops, with legs that lean by `angle` [rad] and turn at `rate` [rad/s]."""
        q, v = four_bars_start(self.count, angle, rate)
        return np.array(q), np.array(v)

    def random_states(self, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q and v (count, nv) on closed loops, away from the singular postures at ±π/2; and forces along the joints."""
        rng = np.random.default_rng(1)
        angles, rates = rng.uniform(-1.2, 1.2, count), rng.normal(size=count)
        states = [self.state(angle, rate) for angle, rate in zip(angles, rates, strict=True)]
        q, v = (np.array(part) for part in zip(*states, strict=True))
        return q, v, rng.normal(size=v.shape)

    def pinocchio(self, pin: Any) -> Any:
        model, joint = pin.Model(), {WORLD: 0}
        model.gravity = pin.Motion(np.array([*self.mechanism.gravity, 0.0, 0.0, 0.0]))
        for ours, body in zip(self.mechanism.joints, self.mechanism.bodies, strict=True):
            joint[ours.child] = model.addJoint(joint[ours.parent], pin.JointModelRY(), _placed(pin, ours.pose), ours.name)
            inertia = pin.Inertia(body.mass, np.array(body.center_of_mass), np.array(body.inertia))
            model.appendBodyToJoint(joint[ours.child], inertia, pin.SE3.Identity())
        return model

    def constraints(self, pin: Any, model: Any) -> Any:
        """Their loops: points held together, three rows each."""
        found = pin.StdVec_RigidConstraintModel()
        carrier = {joint.child: model.getJointId(joint.name) for joint in self.mechanism.joints}
        for loop in self.mechanism.loops:
            a, b = carrier[loop.body_a], carrier[loop.body_b]
            at_a, at_b = _placed(pin, loop.pose_a), _placed(pin, loop.pose_b)
            kind, axes = pin.ContactType.CONTACT_3D, pin.ReferenceFrame.LOCAL
            found.append(pin.RigidConstraintModel(kind, model, a, at_a, b, at_b, axes))
        return found


def _placed(pin: Any, place: Transform) -> Any:
    return pin.SE3(np.array(place.matrix(), dtype=float))
