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
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from ...model import JointKind, Link
from ...scalar import Program, Scalar, Scalars, call, directional, trace
from ...spatial import Dense, Force, Inertia, Matrix3, Motion, Transform, Vector3, centripetal
from ..motion import combined


@dataclass(frozen=True, slots=True)
class OwnMotion:
    """A joint's own velocity [ω; v] and acceleration [α; a] relative to its parent, in the link's axes; or their change."""

    velocity: Motion
    acceleration: Motion


def own_motion(kind: JointKind, q: Scalars, v: Scalars, vdot: Scalars) -> tuple[OwnMotion, list[OwnMotion], list[OwnMotion]]:
    """The joint's own motion S v, S v̇ + Ṡ v, and its changes with each coordinate and with each velocity."""
    S = kind.subspace(q)
    if type(kind).subspace_rate is JointKind.subspace_rate:  # S is constant
        own = OwnMotion(combined(S, v), combined(S, vdot))
        return own, [OwnMotion(Motion(), Motion())] * kind.nv, [OwnMotion(column, Motion()) for column in S]
    along_each, program, zeros = Dense.unit(kind.nv).rows, _relative(kind), [0.0] * kind.nv
    slopes = _relative_slopes(kind)

    def along(dq: Scalars, dv: Scalars) -> OwnMotion:
        found = call(slopes, q, v, vdot, dq, dv, zeros)
        return OwnMotion(Motion.of(found["velocity_dot"]), Motion.of(found["acceleration_dot"]))

    found = call(program, q, v, vdot)
    own = OwnMotion(Motion.of(found["velocity"]), Motion.of(found["acceleration"]))
    still = [0.0] * kind.nq
    return own, [along(kind.rate(q, unit), zeros) for unit in along_each], [along(still, unit) for unit in along_each]


@cache
def _relative(kind: JointKind) -> Program:
    """(q, v, v̇) → the joint's own velocity and acceleration, for kinds whose S depends on q."""

    def relative(q: Any, v: Any, vdot: Any) -> dict[str, Any]:
        S = kind.subspace(q)
        drift = combined(kind.subspace_rate(q, v), v)
        return {"velocity": list(combined(S, v)), "acceleration": list(combined(S, vdot) + drift)}

    return trace(relative, {"q": kind.nq, "v": kind.nv, "vdot": kind.nv}, f"joint_{kind.name}")


@cache
def _relative_slopes(kind: JointKind) -> Program:
    return directional(_relative(kind))


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


def carrier(link: Link, parent: Carrier, q: Scalars, v: Scalars, vdot: Scalars) -> Carrier:
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
        tuple(link.kind.subspace_rate(q_joint, unit) for unit in Dense.unit(link.kind.nv).rows),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Load:
    """External forces that keep their directions and magnitudes in the world, on points fixed on the carried bodies.

    Attributes:
        arms: E = Σ r fᵀ, with r from the link's origin [N·m]; `moment`: n, the sum of the moments that are not due to forces.
        force: f, the sum of the forces. All in the link's axes.
    """

    arms: Matrix3 = field(default_factory=Matrix3.zero)
    moment: Vector3 = field(default_factory=Vector3)
    force: Vector3 = field(default_factory=Vector3)

    @classmethod
    def at(cls, point: Vector3, moment: Vector3, force: Vector3) -> Load:
        """A moment, and a force on a point, in a link's axes."""
        return cls(Matrix3.outer(point, force), moment, force)

    def __add__(self, other: Load) -> Load:
        return Load(self.arms + other.arms, self.moment + other.moment, self.force + other.force)

    def to_parent(self, X_PL: Transform) -> Load:
        """In the parent's axes and about its origin."""
        R, force = X_PL.rotation, X_PL.rotation.rotate(self.force)
        return Load(R.rotate_matrix(self.arms) + Matrix3.outer(X_PL.translation, force), R.rotate(self.moment), force)

    def turned(self, turn: Vector3) -> Force:
        """The change of [n; f] in axes that turn by θ along with the points: f × θ for every force, n × θ for moments."""
        E, trace = self.arms, self.arms[0].x + self.arms[1].y + self.arms[2].z
        # Σ r × (f × θ) = Σ f (r·θ) − θ (r·f)
        return Force(E.transposed_times(turn) - turn * trace + self.moment.cross(turn), self.force.cross(turn))

    def felt(self, S: Motion) -> Vector3:
        """l with θ·l = S · `turned`(θ)."""
        z, e, trace = S.angular, S.linear, self.arms[0].x + self.arms[1].y + self.arms[2].z
        return self.arms @ z - z * trace + z.cross(self.moment) + e.cross(self.force)


@dataclass(frozen=True, slots=True)
class MovingComposite:
    """All bodies that a link carries, in its axes and about its origin.

    Attributes:
        inertia: as of one rigid body.
        momentum: p = Σ m ṙ, with ṙ relative to the link's origin [kg·m/s].
        swing: K = tr(D)·1 − Dᵀ with D = Σ m r ṙᵀ [kg·m²/s]: Σ m r × (2 ψ × ṙ) = 2 K ψ.
        load: of external forces that keep their directions in the world.
    """

    inertia: Inertia
    momentum: Vector3
    swing: Matrix3
    load: Load = field(default_factory=Load)

    @classmethod
    def of_body(cls, inertia: Inertia, omega: Vector3) -> MovingComposite:
        """A rigid body that turns with ω: D = Σ m r (ω × r)ᵀ = −P [ω]×, with P = Σ m r rᵀ = ½ tr(J)·1 − J."""
        J = inertia.rotational
        half = 0.5 * (J.xx + J.yy + J.zz)
        P = Matrix3.of([[half - J.xx, -J.xy, -J.xz], [-J.xy, half - J.yy, -J.yz], [-J.xz, -J.yz, half - J.zz]])
        # K = −Dᵀ = −[ω]× P, as tr D = 0; column by column, P being symmetric
        columns = [list(-omega.cross(row)) for row in P]
        return cls(inertia, omega.cross(inertia.first_moment), Matrix3.of(columns).T)

    def loaded(self, forces: Sequence[tuple[Vector3, Force]]) -> MovingComposite:
        """With external forces and moments, each at a point, in the link's axes."""
        loads = (Load.at(point, wrench.moment, wrench.force) for point, wrench in forces)
        return replace(self, load=sum(loads, self.load))

    def __add__(self, other: MovingComposite) -> MovingComposite:
        return MovingComposite(
            self.inertia + other.inertia, self.momentum + other.momentum, self.swing + other.swing, self.load + other.load
        )

    def to_parent(self, X_PL: Transform, origin_rate: Vector3) -> MovingComposite:
        """In the parent's axes and about its origin, from which this one's moves away by `origin_rate` ḋ [m/s]."""
        R, d = X_PL.rotation, X_PL.translation
        p, K = R.rotate(self.momentum), R.rotate_matrix(self.swing)
        g = R.rotate(self.inertia.first_moment) + d * self.inertia.mass
        # D' = D + d pᵀ + g ḋᵀ
        trace = d.dot(p) + g.dot(origin_rate)
        spread = Matrix3.outer(p, d) + Matrix3.outer(origin_rate, g)
        diagonal = Matrix3.of([[trace, 0.0, 0.0], [0.0, trace, 0.0], [0.0, 0.0, trace]])
        return MovingComposite(
            self.inertia.to_parent(X_PL), p + origin_rate * self.inertia.mass, K + diagonal - spread, self.load.to_parent(X_PL)
        )

    def response(self, change: Field) -> Force:
        """The force that the additional accelerations of a field take."""
        accelerated = self.inertia.times(Motion(change.angular, change.linear))
        turning = Force(self.swing @ change.spin * 2.0, change.spin.cross(self.momentum) * 2.0)
        return accelerated + turning - self.load.turned(change.turn)

    def weight(self, S: Motion) -> Weight:
        """S · `response`, as a linear function of the field."""
        z, e = S.angular, S.linear
        spin = (self.swing.transposed_times(z) + self.momentum.cross(e)) * 2.0
        return Weight(self.inertia.times(S), spin, -self.load.felt(S))


@dataclass(frozen=True, slots=True)
class Weight:
    """A linear function of fields: β·n + a·f + ψ·k + θ·l, with θ the turn.

    Attributes:
        force: [n; f]; `spin`: k; `turn`: l.
    """

    force: Force
    spin: Vector3
    turn: Vector3

    def of(self, change: Field) -> Scalar:
        """Its value for a field in the same axes about the same origin."""
        inertial = change.angular.dot(self.force.moment) + change.linear.dot(self.force.force)
        return inertial + change.spin.dot(self.spin) + change.turn.dot(self.turn)

    def to_parent(self, X_PL: Transform, origin_rate: Vector3) -> Weight:
        """The same function for fields in the parent's axes about its origin: there a is less by β × d + 2 ψ × ḋ."""
        force, R = self.force.to_parent(X_PL), X_PL.rotation
        return Weight(force, R.rotate(self.spin) + origin_rate.cross(force.force) * 2.0, R.rotate(self.turn))
