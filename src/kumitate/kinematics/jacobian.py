"""Jacobians of frames, and their rates (thesis eq. A.1; N eq. 24-31)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model import Place, Tree
from ..scalar import Scalar
from ..spatial import Motion, Vector3
from .poses import link_poses, link_twists, place_pose


def jacobian(tree: Tree, q: Sequence[Scalar], place: Place) -> list[list[Scalar]]:
    """J (6, nv) with [ω; v] = J v, for the frame B at `place`.

    ω is the angular velocity of B in the world [rad/s] and v the velocity of B's origin [m/s], both in the axes of the world.
    """
    poses = link_poses(tree, q)
    p_E = place_pose(tree, poses, place).translation
    columns = [Motion() for _ in range(tree.nv)]
    for link in tree.ancestors(place.link):
        X_WL = poses[link]
        for k, S in enumerate(link.kind.subspace(link.coordinates(q))):
            z, slide = X_WL.rotation.rotate(S.angular), X_WL.rotation.rotate(S.linear)  # N (25)
            columns[link.v_start + k] = Motion(z, slide + z.cross(p_E - X_WL.translation))  # N (24), angular part first
    return _rows(columns)


def jacobian_rate(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], place: Place) -> list[list[Scalar]]:
    """J̇ (6, nv), the rate of `jacobian` when the mechanism moves with v."""
    poses, twists = link_poses(tree, q), link_twists(tree, q, v)
    p_E = place_pose(tree, poses, place).translation
    v_E = _point_velocity(poses, twists, tree, place, p_E)
    columns = [Motion() for _ in range(tree.nv)]
    for link in tree.ancestors(place.link):
        X_WL, R = poses[link], poses[link].rotation
        omega, v_L = R.rotate(twists[link].angular), R.rotate(twists[link].linear)
        coordinates, velocities = link.coordinates(q), link.velocities(v)
        rates = link.kind.subspace_rate(coordinates, velocities)
        for k, (S, dS) in enumerate(zip(link.kind.subspace(coordinates), rates, strict=True)):
            z, slide = R.rotate(S.angular), R.rotate(S.linear)
            z_rate = omega.cross(z) + R.rotate(dS.angular)  # N (28)
            slide_rate = omega.cross(slide) + R.rotate(dS.linear)
            lever, lever_rate = p_E - X_WL.translation, v_E - v_L  # N (27), (29)
            columns[link.v_start + k] = Motion(z_rate, slide_rate + z_rate.cross(lever) + z.cross(lever_rate))  # N (30), (31)
    return _rows(columns)


def _point_velocity(poses: Any, twists: Any, tree: Tree, place: Place, p_W: Vector3) -> Vector3:
    """Velocity in the world of the point of a link that is now at p_W."""
    if place.link < 0:
        return Vector3()
    link = tree.links[place.link]
    R, twist = poses[link].rotation, twists[link]
    return R.rotate(twist.linear) + R.rotate(twist.angular).cross(p_W - poses[link].translation)


def _rows(columns: Sequence[Motion]) -> list[list[Scalar]]:
    return [[column[i] for column in columns] for i in range(6)]
