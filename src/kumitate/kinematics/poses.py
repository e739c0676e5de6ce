"""Poses and twists of links and of the frames on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ..model import Link, PerLink, Place, Tree, outward
from ..scalar import Scalar
from ..spatial import Motion, Transform

T = TypeVar("T")


def link_poses(tree: Tree, q: Sequence[Scalar]) -> PerLink[Transform]:
    """X_WL of every link L."""
    return outward(tree, lambda link, X_WP: (X_WP @ link.pose(q)).dense(), Transform())


def link_twists(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> PerLink[Motion]:
    """V_WL_L of every link: its spatial velocity in the world, in the link's axes and at its origin (thesis eq. 2.5)."""

    def stage(link: Link, V_WP: Motion) -> Motion:
        twist = V_WP.to_child(link.pose(q))
        for S, rate in zip(link.kind.subspace(link.coordinates(q)), link.velocities(v), strict=True):
            twist = twist + S * rate
        return twist

    return outward(tree, stage, Motion())


def place_pose(tree: Tree, poses: PerLink[Transform], place: Place) -> Transform:
    """X_WB of a frame B fixed on a link."""
    return (_of(tree, poses, place, Transform()) @ place.pose).dense()


def place_twist(tree: Tree, twists: PerLink[Motion], place: Place) -> Motion:
    """V_WB_B of a frame B fixed on a link, in the axes of B and at its origin."""
    return _of(tree, twists, place, Motion()).to_child(place.pose)


def _of(tree: Tree, values: PerLink[T], place: Place, world: T) -> T:
    return world if place.link < 0 else values[tree.links[place.link]]


def world_velocity(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], place: Place) -> list[Scalar]:
    """[ω; v] (6) of a frame B fixed on a link: angular velocity and velocity of B's origin, in the axes of the world."""
    R = place_pose(tree, link_poses(tree, q), place).rotation
    twist = place_twist(tree, link_twists(tree, q, v), place)
    return [*R.rotate(twist.angular), *R.rotate(twist.linear)]
