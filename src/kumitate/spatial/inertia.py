"""Inertias, which map motions to momenta or forces (thesis, appendix A.5-A.7).

`Inertia` is that of a rigid body, given by ten numbers. `ArticulatedInertia` is the apparent inertia of a body at a handle when
other bodies are attached to it by joints; it is symmetric and positive, but not that of a rigid body.

An articulated body at its handle: its articulated inertia and bias force there (thesis eq. 2.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from ..scalar import Scalar, Scalars, Symbol
from .dense import Dense
from .motion import Force, Motion, Transform
from .vector import Matrix3, Symmetric3, Vector3, quantity


@quantity
class Inertia:
    """A rigid body's inertia in a frame B, about B's origin O.

    Attributes:
        mass: m [kg].
        first_moment: m c, with c the center of mass in B [kg·m].
        rotational: the rotational inertia about O in the axes of B [kg·m²].
    """

    mass: Scalar = 0.0
    first_moment: Vector3 = field(default_factory=Vector3)
    rotational: Symmetric3 = field(default_factory=Symmetric3)

    @classmethod
    def about_center(cls, mass: Scalar, center: Vector3, central: Symmetric3) -> Inertia:
        """From the mass, the center of mass in B, and the rotational inertia about it in the axes of B (A.29)."""
        return cls(mass, center * mass, central + _parallel_axis(mass, center))

    def __add__(self, other: Inertia) -> Inertia:
        """Two bodies as one: the composite rigid body."""
        return Inertia(self.mass + other.mass, self.first_moment + other.first_moment, self.rotational + other.rotational)

    def times(self, motion: Motion) -> Force:
        """I·V: momentum of a velocity, or force of a classical acceleration at rest (A.25)."""
        return Force(
            self.rotational @ motion.angular + self.first_moment.cross(motion.linear),
            motion.angular.cross(self.first_moment) + motion.linear * self.mass,
        )

    def velocity_force(self, omega: Vector3) -> Force:
        """The velocity-dependent force [ω × I ω; ω × (ω × m c)] at `omega` [rad/s], added to I·A of classical acceleration."""
        x, y, z = omega
        xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z  # shared with `centripetal`
        I = self.rotational
        gyroscopic = Vector3(
            (I.zz - I.yy) * yz + I.yz * (yy - zz) + I.xz * xy - I.xy * xz,
            (I.xx - I.zz) * xz + I.xz * (zz - xx) + I.xy * yz - I.yz * xy,
            (I.yy - I.xx) * xy + I.xy * (xx - yy) + I.yz * xz - I.xz * yz,
        )
        return Force(gyroscopic, centripetal(omega, self.first_moment))

    def to_parent(self, X_AB: Transform) -> Inertia:
        """The same body in A, about A's origin (A.28)."""
        p, m = X_AB.translation, self.mass
        h = X_AB.rotation.rotate(self.first_moment)
        shift = 2.0 * p.dot(h)
        turned = X_AB.rotation.rotate_symmetric(self.rotational)
        # |c + p|² and (c + p)(c + p)ᵀ, multiplied out: no division by the mass, which may be zero
        mixed = Symmetric3(
            shift - 2.0 * (p.x * h.x), shift - 2.0 * (p.y * h.y), shift - 2.0 * (p.z * h.z),
            -(p.x * h.y + p.y * h.x), -(p.x * h.z + p.z * h.x), -(p.y * h.z + p.z * h.y),
        )  # fmt: skip
        return Inertia(m, h + p * m, turned + mixed + _parallel_axis(m, p))


def _parallel_axis(mass: Scalar, c: Vector3) -> Symmetric3:
    """m (|c|² 1 − c cᵀ): the rotational inertia of a point."""
    x, y, z = c * mass
    xx, yy, zz = x * c.x, y * c.y, z * c.z
    return Symmetric3(yy + zz, xx + zz, xx + yy, -(x * c.y), -(x * c.z), -(y * c.z))


def centripetal(omega: Vector3, p: Vector3) -> Vector3:
    """ω × (ω × p), by the matrix ω ωᵀ − |ω|² 1, which all points of a body share."""
    x, y, z = omega
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    return Symmetric3(-(yy + zz), -(xx + zz), -(xx + yy), xy, xz, yz) @ p


@quantity
class ArticulatedInertia:
    """The blocks of [n; f] = [[I, H], [Hᵀ, M]] [α; a] at a handle (thesis eq. 2.2)."""

    I: Symmetric3
    H: Matrix3
    M: Symmetric3

    @classmethod
    def rigid(cls, inertia: Inertia) -> ArticulatedInertia:
        """A single rigid body."""
        h, m = inertia.first_moment, inertia.mass
        skew = Matrix3.of([[0.0, -h.z, h.y], [h.z, 0.0, -h.x], [-h.y, h.x, 0.0]])
        return cls(inertia.rotational, skew, Symmetric3.diagonal(m, m, m))

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(self.I + other.I, self.H + other.H, self.M + other.M)

    def times(self, motion: Motion) -> Force:
        """The force for a given acceleration."""
        return Force(
            self.I @ motion.angular + self.H @ motion.linear,
            self.H.transposed_times(motion.angular) + self.M @ motion.linear,
        )

    def column(self, axis: int) -> Force:
        """The force of a unit acceleration along coordinate `axis` (0-2 angular, 3-5 linear)."""
        if axis < 3:
            return Force(self.I[axis], self.H[axis])
        return Force(self.H.T[axis - 3], self.M[axis - 3])

    def minus_outer(self, U: Force, g: Force) -> ArticulatedInertia:
        """self − U gᵀ, for g parallel to U."""
        n, f = U.moment, U.force

        def symmetric(a: Vector3, b: Vector3) -> Symmetric3:
            return Symmetric3(a.x * b.x, a.y * b.y, a.z * b.z, a.x * b.y, a.x * b.z, a.y * b.z)

        return ArticulatedInertia(
            self.I - symmetric(n, g.moment), self.H - Matrix3.outer(n, g.force), self.M - symmetric(f, g.force)
        )

    def with_column(self, axis: int, column: Force) -> ArticulatedInertia:
        """With row and column `axis` replaced."""
        rows = [list(self.I[i]) + list(self.H[i]) for i in range(3)]
        rows += [list(self.H.T[i]) + list(self.M[i]) for i in range(3)]
        for i, value in enumerate(column):
            rows[i][axis] = rows[axis][i] = value
        return ArticulatedInertia(
            Symmetric3.of([row[:3] for row in rows[:3]]),
            Matrix3.of([row[3:] for row in rows[:3]]),
            Symmetric3.of([row[3:] for row in rows[3:]]),
        )

    def to_parent(self, X_AB: Transform) -> ArticulatedInertia:
        """The same inertia at A: rotated from B, then shifted along one axis at a time."""
        R = X_AB.rotation
        moved = ArticulatedInertia(R.rotate_symmetric(self.I), R.rotate_matrix(self.H), R.rotate_symmetric(self.M))
        for axis, distance in enumerate(X_AB.translation):
            moved = moved._shifted(axis, distance)
        return moved

    def _shifted(self, axis: int, distance: Scalar) -> ArticulatedInertia:
        """About a point at −`distance` along coordinate `axis`: H' = H + p̂ M and I' = I − H p̂ + p̂ H'ᵀ."""
        i, j = (axis + 1) % 3, (axis + 2) % 3
        H, M = [list(row) for row in self.H], self.M
        # p̂ has two entries, (i, j) = −d and (j, i) = d
        moved = [list(row) for row in H]
        moved[i] = [a - distance * b for a, b in zip(H[i], M[j], strict=True)]
        moved[j] = [a + distance * b for a, b in zip(H[j], M[i], strict=True)]
        inertia = [list(row) for row in self.I]
        inertia[axis][i] = inertia[i][axis] = inertia[axis][i] - distance * H[axis][j]
        inertia[axis][j] = inertia[j][axis] = inertia[axis][j] + distance * H[axis][i]
        inertia[i][j] = inertia[j][i] = inertia[i][j] + distance * (H[i][i] - moved[j][j])
        inertia[i][i] = inertia[i][i] - distance * (H[i][j] + moved[i][j])
        inertia[j][j] = inertia[j][j] + distance * (H[j][i] + moved[j][i])
        return ArticulatedInertia(Symmetric3.of(inertia), Matrix3.of(moved), M)


@quantity
class Release:
    """The equation for the acceleration along a released direction, given that of the handle: q̈ = free − g·A.

    `mobility` is the inverse of the inertia along the direction: an additional force f along it adds mobility·f to q̈.
    """

    free: Scalar
    gain: Force
    mobility: Scalar

    def acceleration(self, A: Motion) -> Scalar:
        """q̈ along the direction; A: the acceleration of the handle with the direction locked (thesis eq. 2.30)."""
        return self.free - A.dot(self.gain)


@quantity
class ArticulatedBody:
    """F = I·A + p at one handle: `inertia` I and `bias` p."""

    inertia: ArticulatedInertia
    bias: Force

    def __add__(self, other: ArticulatedBody) -> ArticulatedBody:
        return ArticulatedBody(self.inertia + other.inertia, self.bias + other.bias)

    def force(self, A: Motion) -> Force:
        """F = I·A + p, the force that accelerates the handle with A."""
        return self.inertia.times(A) + self.bias

    def release(self, S: Motion, tau: Scalar, armature: Scalar) -> tuple[ArticulatedBody, Release]:
        """The body as felt through one free direction of motion S under the force `tau` (thesis eq. 2.28-2.34 with n_J = 1).

        Joints of several degrees of freedom release one direction after another: the successive elimination is the Cholesky
        factorisation of S_jᵀ I S_j. S is at the handle, `tau` along it [N·m or N], `armature` along S only [kg·m² or kg].
        """
        axis = _coordinate(S)
        U = self.inertia.times(S) if axis is None else self.inertia.column(axis)
        D = S.dot(U) + armature
        W = 1.0 / D  # the inverse in (2.30), of size one
        gain = U * W
        u = tau - S.dot(self.bias)
        if axis is None:
            inertia = self.inertia.minus_outer(U, gain)
            return ArticulatedBody(inertia, self.bias + U * (W * u)), Release(W * u, gain, W)
        # Along a coordinate direction only the armature's share of inertia remains: row and column are known, and exactly
        # zero without armature, which an expression simplifier cannot detect. The bias there is exactly tau.
        share = armature * W
        gain = _replaced(gain, axis, 1.0 - share)
        inertia = self.inertia.minus_outer(U, gain).with_column(axis, U * share)
        bias = _replaced(self.bias + U * (W * u), axis, tau - u * share)
        return ArticulatedBody(inertia, bias), Release(W * u, gain, W)

    def carried_along(self, S: Motion, rate: Scalar) -> tuple[ArticulatedBody, Release]:
        """The body as felt through one direction of motion S along which it accelerates at the given `rate`."""
        return ArticulatedBody(self.inertia, self.bias + self.inertia.times(S) * rate), Release(rate, Force(), 0.0)


def _coordinate(S: Motion) -> int | None:
    """The coordinate axis that S is the unit vector of, if it is one."""
    parts = list(S)
    if any(isinstance(part, Symbol) for part in parts) or sorted(parts) != [0.0] * 5 + [1.0]:
        return None
    return parts.index(1.0)


def _replaced(force: Force, axis: int, value: Scalar) -> Force:
    parts = list(force)
    parts[axis] = value
    return Force.of(parts)


# --- inverse inertias, which map forces to accelerations (thesis eq. 2.3, appendix A.7) -----------------------------------
@quantity
class InverseInertia:
    """The blocks of Φ at a handle: a = linear·f + mixed·n and α = mixedᵀ·f + angular·n; symmetric."""

    linear: Symmetric3
    mixed: Matrix3
    angular: Symmetric3

    @classmethod
    def central(cls, mass: Scalar, rotational: Symmetric3) -> InverseInertia:
        """That of a rigid body at its center of mass (A.30), from its mass and its rotational inertia there."""
        m = 1.0 / mass
        inverse = Dense.of(rotational.matrix()).inverse()
        return cls(Symmetric3.diagonal(m, m, m), Matrix3.zero(), Symmetric3.of(inverse.rows))

    @classmethod
    def immovable(cls) -> InverseInertia:
        """That of an immovable body: zero."""
        return cls(Symmetric3(), Matrix3.zero(), Symmetric3())

    @classmethod
    def of(cls, rows: Sequence[Scalars]) -> InverseInertia:
        """From the rows of the 6×6 matrix, angular part first."""
        blocks = [[row[3:] for row in rows[3:]], [row[:3] for row in rows[3:]], [row[:3] for row in rows[:3]]]
        return cls(Symmetric3.of(blocks[0]), Matrix3.of(blocks[1]), Symmetric3.of(blocks[2]))

    def matrix(self) -> Dense:
        """The 6×6 matrix, angular part first."""
        upper = [[*a, *h] for a, h in zip(self.angular, self.mixed.T, strict=True)]
        return Dense.of(upper + [[*h, *m] for h, m in zip(self.mixed, self.linear, strict=True)])

    def __add__(self, other: InverseInertia) -> InverseInertia:
        return InverseInertia(self.linear + other.linear, self.mixed + other.mixed, self.angular + other.angular)

    def times(self, force: Force) -> Motion:
        """The acceleration caused by a force."""
        angular = self.mixed.transposed_times(force.force) + self.angular @ force.moment
        return Motion(angular, self.linear @ force.force + self.mixed @ force.moment)

    def minus(self, change: Dense) -> InverseInertia:
        """Φ minus a symmetric 6×6 matrix, of which the upper triangle is read."""
        return self + InverseInertia.of((-change).rows)

    def to_parent(self, X_AB: Transform) -> InverseInertia:
        """The same inverse inertia at A instead of B."""
        # the linear part of a motion transforms like the moment of a force (A.14, A.15): the blocks transform like an inertia's
        moved = ArticulatedInertia(self.linear, self.mixed, self.angular).to_parent(X_AB)
        return InverseInertia(moved.I, moved.H, moved.M)

    def to_child(self, X_AB: Transform) -> InverseInertia:
        """The same inverse inertia at B instead of A: shifted, then rotated."""
        shifted = self.to_parent(Transform(translation=-X_AB.translation))
        return shifted.to_parent(Transform(X_AB.rotation.inverse()))
