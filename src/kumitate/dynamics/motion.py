"""The motion of links for the Newton-Euler methods: orientations, angular velocities, velocity-dependent accelerations.

Accelerations are classical ones of the link's origin, not spatial ones, so linear velocities are never needed. With A = [α; a]
of the parent's origin, the link's acceleration is X(A) + bias + S v̇.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..model import Link, PerLink, Tree, outward
from ..scalar import Scalars
from ..spatial import Motion, Transform, Vector3, centripetal


@dataclass(frozen=True, slots=True)
class LinkMotion:
    """The motion of one link L with parent P.

    Attributes:
        X_PL: pose of the link in its parent.
        S: the joint's motion subspace, in L.
        omega: angular velocity of L in the world, in L [rad/s].
        bias: the part of the acceleration of L that velocities cause, in L [rad/s², m/s²].
    """

    X_PL: Transform
    S: tuple[Motion, ...]
    omega: Vector3
    bias: Motion


def link_motions(tree: Tree, q: Scalars, v: Scalars) -> PerLink[LinkMotion]:
    """The `LinkMotion` of every link (N eq. 2-4, velocity terms; thesis eq. 2.6)."""
    root = LinkMotion(Transform(), (), Vector3(), Motion())
    return outward(tree, lambda link, parent: link_motion(link, parent.omega, q, v), root)


def link_motion(link: Link, omega_P: Vector3, q: Scalars, v: Scalars) -> LinkMotion:
    """The `LinkMotion` of a link whose parent has the angular velocity `omega_P`, in the parent's axes [rad/s]."""
    q_joint, v_joint = link.coordinates(q), link.velocities(v)
    X_PL = link.pose(q)
    S = link.kind.subspace(q_joint)
    relative = combined(S, v_joint)  # V of L in P (2.5)
    carried = X_PL.rotation.unrotate(omega_P)
    omega = carried + relative.angular  # N (2)
    rate = combined(link.kind.subspace_rate(q_joint, v_joint), v_joint)
    angular = omega.cross(relative.angular) + rate.angular  # N (3)
    swing = X_PL.rotation.unrotate(centripetal(omega_P, X_PL.translation))  # N (4)
    coriolis = 2.0 * carried.cross(relative.linear) + relative.angular.cross(relative.linear)
    return LinkMotion(X_PL, S, omega, Motion(angular, swing + coriolis + rate.linear))


def falling(gravity: Scalars) -> Motion:
    """The upward acceleration of the world that replaces gravity."""
    return Motion(Vector3(), -Vector3.of(gravity))


def acceleration(motion: LinkMotion, parent: Motion, vdot: Scalars) -> Motion:
    """[α; a] of a link from that of its parent and the joint's v̇ (thesis eq. 2.26, N eq. 3-4)."""
    return parent.to_child(motion.X_PL) + motion.bias + combined(motion.S, vdot)


def combined(S: Sequence[Motion], v: Scalars) -> Motion:
    """S v."""
    return sum((column * rate for column, rate in zip(S, v, strict=True)), Motion())
