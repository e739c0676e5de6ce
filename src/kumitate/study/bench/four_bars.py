"""Ladders of four-bar linkages, as mechanisms and as Pinocchio's models: what is timed of closed loops."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...model import KINDS, WORLD, Body, Joint, Loop, Mechanism
from ...spatial import Transform, Vector3, pose
from .subjects import Subject

__all__ = ["FourBars"]


@dataclass(frozen=True)
class FourBars(Subject):
    """A ladder of parallelograms: legs of 1 kg and 1 m that stand on the ground 1 m apart, each joined to the next by such a bar.

    Gravity pulls along −y of the plane that it moves in. The tree is made of the legs, each with its bar; revolute joints close
    the loops. All legs turn alike, so that the whole ladder moves as one pendulum does: φ̈ = `rate2` sin φ, φ from upright.

    Attributes:
        count: the number of loops.
        tilted: whether the plane lies askew in space; nothing then is zero by its place, and the rows across the plane,
            which say nothing new, are there as numbers.
    """

    name: str
    title: str
    count: int
    tilted: bool = False

    def _build(self) -> Mechanism:
        plane = pose((0.3, -0.2, 0.5), (0.4, -0.7, 1.1)) if self.tilted else Transform()
        revolute, tip = KINDS["revolute"], pose((1.0, 0.0, 0.0))
        bodies, joints, loops = [], [], []
        for k in range(self.count + 1):
            bodies.append(_rod(f"leg{k}"))
            joints.append(Joint(f"pivot{k}", revolute, WORLD, f"leg{k}", plane @ pose((float(k), 0.0, 0.0))))
            if k < self.count:
                bodies.append(_rod(f"bar{k}"))
                joints.append(Joint(f"corner{k}", revolute, f"leg{k}", f"bar{k}", tip))
                loops.append(Loop(f"loop{k}", revolute, f"leg{k + 1}", f"bar{k}", tip, tip))
        down = plane.rotation.rotate(Vector3(0.0, -9.81, 0.0))
        gravity = float(down.x), float(down.y), float(down.z)
        return Mechanism(self.name, tuple(bodies), tuple(joints), tuple(loops), gravity=gravity)

    @property
    def rate2(self) -> float:
        """The square of the pendulum's rate [1/s²]: legs turn about their ends, bars do not turn."""
        return 9.81 * ((self.count + 1) / 2.0 + self.count) / ((self.count + 1) / 3.0 + self.count)

    def state(self, phi: float, rate: float) -> tuple[np.ndarray, np.ndarray]:
        """q and v (nv) with the legs turned clockwise from upright by φ [rad], at φ̇ [rad/s]; all loops closed."""
        signs = np.array([1.0 if link.parent < 0 else -1.0 for link in self.mechanism.tree.links])
        return signs * (math.pi / 2.0 - phi), -signs * rate

    def random_states(self, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q and v (count, nv) away from the singular postures φ = ±π/2, and forces along the joints, all on closed loops."""
        rng = np.random.default_rng(1)
        states = [self.state(phi, rate) for phi, rate in zip(rng.uniform(-1.2, 1.2, count), rng.normal(size=count), strict=True)]
        q, v = (np.array(part) for part in zip(*states, strict=True))
        return q, v, rng.normal(size=v.shape)

    def pinocchio(self, pin: Any) -> Any:
        model, joint = pin.Model(), {WORLD: 0}
        model.gravity = pin.Motion(np.array([*self.mechanism.gravity, 0.0, 0.0, 0.0]))
        for ours, body in zip(self.mechanism.joints, self.mechanism.bodies, strict=True):
            joint[ours.child] = model.addJoint(joint[ours.parent], pin.JointModelRZ(), _placed(pin, ours.pose), ours.name)
            inertia = pin.Inertia(body.mass, np.array(body.center_of_mass), np.array(body.inertia))
            model.appendBodyToJoint(joint[ours.child], inertia, pin.SE3.Identity())
        return model

    def constraints(self, pin: Any, model: Any) -> Any:
        """Their loops: points held together, three rows each."""
        found = pin.StdVec_RigidConstraintModel()
        carrier = {joint.child: model.getJointId(joint.name) for joint in self.mechanism.joints}
        for loop in self.mechanism.loops:
            ends = [(carrier[loop.body_a], _placed(pin, loop.pose_a)), (carrier[loop.body_b], _placed(pin, loop.pose_b))]
            parts = [part for end in ends for part in end]
            found.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, *parts, pin.ReferenceFrame.LOCAL))
        return found


def _rod(name: str) -> Body:
    """A thin uniform rod of 1 kg and 1 m along x; it never turns about itself."""
    return Body(name, 1.0, (0.5, 0.0, 0.0), (0.0, 1.0 / 12.0, 1.0 / 12.0))


def _placed(pin: Any, place: Transform) -> Any:
    return pin.SE3(np.array(place.matrix(), dtype=float))
