"""Poses, velocities and accelerations of frames in the world, by the outward pass of the Newton-Euler method (N eq. 2-4)."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..dynamics import link_motions
from ..dynamics.motion import acceleration, falling
from ..kinematics import link_poses, link_twists, place_pose, place_twist
from ..model import Body, Mechanism, Place, outward
from ..spatial import Transform, Vector3, centripetal

_HERE = Transform()


class MovingFrame(NamedTuple):
    """The motion of a frame B: its pose X in the world; in the world's axes its velocities and accelerations, minus gravity."""

    X: Transform
    angular: Vector3
    linear: Vector3
    turning: Vector3
    acceleration: Vector3


class MovingFrames:
    """The mechanism at one state."""

    def __init__(self, mechanism: Mechanism, q: Any, v: Any, a: Any):
        self.mechanism, tree = mechanism, mechanism.tree
        self._poses, self._twists, motions = link_poses(tree, q), link_twists(tree, q, v), link_motions(tree, q, v)
        self._accelerations = outward(
            tree, lambda link, parent: acceleration(motions[link], parent, link.velocities(a)), falling(mechanism.gravity)
        )

    def at(self, name: str, pose: Transform = _HERE) -> MovingFrame:
        """The frame at a pose in a body or frame."""
        tree = self.mechanism.tree
        base = tree.places[name]
        place = Place(base.link, base.pose @ pose)
        X, twist = place_pose(tree, self._poses, place), place_twist(tree, self._twists, place)
        angular, linear = (X.rotation.rotate(part) for part in (twist.angular, twist.linear))
        if place.link < 0:
            return MovingFrame(X, angular, linear, Vector3(), -Vector3.of(self.mechanism.gravity))
        link = tree.links[place.link]
        own, omega, r = self._accelerations[link], self._twists[link].angular, place.pose.translation
        there = own.linear + own.angular.cross(r) + centripetal(omega, r)
        R = self._poses[link].rotation
        return MovingFrame(X, angular, linear, R.rotate(own.angular), R.rotate(there))

    def carried(self, name: str) -> list[tuple[Body, MovingFrame]]:
        """The bodies that a body carries, with itself, and the motion of their centers of mass."""
        joints, found = self.mechanism.joints, {name}
        for _ in joints:
            found |= {joint.child for joint in joints if joint.parent in found}
        bodies = [body for body in self.mechanism.bodies if body.name in found and body.mass]
        return [(body, self.at(body.name, Transform(translation=Vector3.of(body.center_of_mass)))) for body in bodies]
