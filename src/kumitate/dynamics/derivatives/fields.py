"""How the accelerations of a link and of all that it carries change with the coordinates and velocities of its joint.

Let one coordinate of a joint change, or one velocity, and look at everything that the link carries in axes that turn along with
the link. A point at r from the link's origin, where it moves with ṙ relative to that origin, then accelerates by

    a + β × r + 2 ψ × ṙ

more: a, β and ψ are the same for all points, a `Field`. It is linear, so that the inertial forces of all carried bodies follow
from it by their composite (`MovingComposite`). Inverse dynamics is the same in frames that move uniformly, which is why
linear velocities are not needed. The form with a relative ṙ is ours; Singh, Russo and Wensing (RA-L 7, 2022) have the same
quantities as 6×6 matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...model import Link
from ...scalar import Scalar
from ...spatial import Motion, Transform, Vector3, centripetal
from .own_motion import OwnMotion, own_motion, units


@dataclass(frozen=True, slots=True)
class Field:
    """The change of accelerations a + β × r + 2 ψ × ṙ of points that move together, in the axes and about the origin of a link.

    Attributes:
        turn: the small rotation of the axes; zero for a change of velocity.
        spin: ψ, the change of the angular velocity.
        angular: β.
        linear: a.
    """

    turn: Vector3
    spin: Vector3
    angular: Vector3
    linear: Vector3


@dataclass(frozen=True, slots=True)
class Carrier:
    """A link's motion and that of its parent, as far as fields depend on them, all in the axes of the link.

    Attributes:
        X_PL: pose of the link in its parent.
        S: the motion subspace of the joint.
        omega: angular velocity of the link [rad/s].
        acceleration: [α; a] of the link [rad/s², m/s²].
        origin_rate: the velocity of the link's origin relative to the parent's, in the axes of the parent [m/s].
        by_position, by_velocity: the fields of each coordinate and each velocity of the joint.
        subspace_slopes: ∂S/∂q, S's columns by coordinate.
    """

    X_PL: Transform
    S: tuple[Motion, ...]
    omega: Vector3
    acceleration: Motion
    origin_rate: Vector3
    by_position: tuple[Field, ...] = ()
    by_velocity: tuple[Field, ...] = ()
    subspace_slopes: tuple[tuple[Motion, ...], ...] = ()


def carrier(link: Link, parent: Carrier, q: Sequence[Scalar], v: Sequence[Scalar], vdot: Sequence[Scalar]) -> Carrier:
    """The motion of a link and the fields of its joint, from the motion of its parent."""
    q_joint, v_joint, a_joint = link.coordinates(q), link.velocities(v), link.velocities(vdot)
    X, S = link.pose(q), link.kind.subspace(q_joint)
    own, by_q, by_v = own_motion(link.kind, q_joint, v_joint, a_joint)
    R, d = X.rotation, X.translation
    omega_P, alpha_P = R.unrotate(parent.omega), R.unrotate(parent.acceleration.angular)
    at_origin = parent.acceleration.linear + parent.acceleration.angular.cross(d) + centripetal(parent.omega, d)
    carried = R.unrotate(at_origin)  # the acceleration of the point of the parent that is at the link's origin

    def field(moved: Motion, change: OwnMotion) -> Field:
        """Of a small motion of the link, and a change of the joint's own velocity and acceleration."""
        z, e = moved.angular, moved.linear
        dragged, rate = omega_P.cross(z), change.velocity
        spin = dragged + rate.angular
        angular = (
            alpha_P.cross(z) + dragged.cross(own.velocity.angular) + omega_P.cross(rate.angular) + change.acceleration.angular
        )
        linear = (
            carried.cross(z) + alpha_P.cross(e) + omega_P.cross(omega_P.cross(e))  # the frame turns and moves
            + 2.0 * (dragged.cross(sliding) + omega_P.cross(rate.linear))
            + rate.angular.cross(sliding) + turning.cross(rate.linear)
            + change.acceleration.linear
        )  # fmt: skip
        return Field(z, spin, angular + omega.cross(spin), linear)

    turning, sliding = own.velocity.angular, own.velocity.linear
    omega = omega_P + turning
    angular = alpha_P + omega_P.cross(turning) + own.acceleration.angular
    linear = carried + 2.0 * omega_P.cross(sliding) + turning.cross(sliding) + own.acceleration.linear
    still = Motion()
    return Carrier(
        X, S, omega, Motion(angular, linear), parent.omega.cross(d) + R.rotate(sliding),
        tuple(field(column, change) for column, change in zip(S, by_q, strict=True)),
        tuple(field(still, change) for change in by_v),
        tuple(link.kind.subspace_rate(q_joint, unit) for unit in units(link.kind)),
    )  # fmt: skip
