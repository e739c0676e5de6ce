"""The contract that every kind of joint fulfils and that all algorithms use.

A joint connects a frame F of the parent to a frame M of the child. Its kind gives, in terms of its coordinates q and
velocities v, the pose of M in F and the velocity of M: V = S(q) v, in the axes of M at its origin (thesis eq. 2.5). All kinds
are defined about fixed axes (z first); the frames F and M are oriented along the axis that the user gives. Code outside this
folder does not depend on the kind of a joint.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...scalar import Scalar, Scalars
from ...spatial import Force, Inertia, Motion, Transform, Vector3

#: Names of components that are lengths and their rates, and of those without a unit; all others are angles.
_LENGTHS = frozenset({"position", "x", "y", "z", "vx", "vy", "vz", "length"})
_QUATERNION = frozenset({"qx", "qy", "qz", "qw"})


def sort_of(component: str) -> str:
    """What a component of q or v of a joint is, by its name: an "angle", a "length", or "plain".

    >>> sort_of("vx"), sort_of("angle"), sort_of("qw")
    ('length', 'angle', 'plain')
    """
    return "length" if component in _LENGTHS else "plain" if component in _QUATERNION else "angle"


@dataclass(frozen=True)
class Closing:
    """A closure at one state.

    Attributes:
        pose: the nearest X_FM that the closure allows.
        twist: M's velocity in F; `velocity`: the part of it that the closure allows.
        bias: the velocity-dependent part of the relative acceleration A: T·(A − bias) = 0 for every T of `constraint`.
        constraint: the unit forces T that the closure exerts on M, and their opposites on F.
        active: the forces on M of unit drives along its degrees of freedom; `coordinates`, `rates`: of these degrees of
            freedom.
        error: the small motion of M from the nearest allowed pose to the actual one [rad, m].
        springs: unit forces on M, and the coordinates along them, that a spring of no free length works along; none where
            these are `active` and `coordinates`. They are smooth where a line has no length, and so no direction.
        opening: the velocity of M that the constraints do not allow, where it is not Σ T (T·twist); None where it is.
    """

    pose: Transform
    twist: Motion
    velocity: Motion
    bias: Motion
    constraint: tuple[Force, ...]
    active: tuple[Force, ...]
    coordinates: tuple[Scalar, ...]
    rates: tuple[Scalar, ...]
    error: Motion
    springs: tuple[tuple[Force, Scalar], ...] = ()
    opening: Motion | None = None


class Closure(ABC):
    """One way to close a loop.

    Attributes:
        name: what files and tables call it.
        coordinates: names of the components of q along which drives, damping and limits may act; `velocities`: of v. Angles in
            rad, lengths in m.
        rows: how many directions it constrains.
        velocity_rows: how many of them, the last ones, it constrains in velocity alone, so that they have no error (rolling).
        angles: the indices of coordinates that poses give up to whole turns: angles, but not those of screws.
    """

    name: ClassVar[str]
    coordinates: ClassVar[tuple[str, ...]] = ()
    velocities: ClassVar[tuple[str, ...]] = ()
    velocity_rows: ClassVar[int] = 0
    angles: ClassVar[tuple[int, ...]] = ()

    @property
    @abstractmethod
    def rows(self) -> int:
        """The number of constraint forces."""

    @property
    def holonomic_rows(self) -> int:
        """The number of those that constrain positions; they come first."""
        return self.rows - self.velocity_rows

    @cached_property
    def nv(self) -> int:
        """The number of velocities: the degrees of freedom n_J."""
        return len(self.velocities)

    @cached_property
    def nq(self) -> int:
        """The number of coordinates."""
        return len(self.coordinates)

    def facing(self, X_FM: Transform) -> dict[int, tuple[Scalar, Scalar]]:
        """Of coordinates that are angles, by index: sine and cosine at the pose nearest to X_FM, times any positive number.

        They tell quickly whether an angle is near a limit; kinds that do not give them are slower there.
        """
        return {}

    def pull(self, coordinates: Scalars, rates: Scalars) -> list[Scalar]:
        """The forces of its own along its degrees of freedom, positive against them, like a spring's k·(q − rest)."""
        return [0.0] * self.nv

    def pull_slopes(self, coordinates: Scalars, rates: Scalars) -> list[tuple[Scalar, Scalar]]:
        """The derivatives of each of these forces by its coordinate and by its rate."""
        return [(0.0, 0.0)] * self.nv

    @abstractmethod
    def closing(self, X_FM: Transform, V_FM: Motion) -> Closing:
        """Its constraints and forces at a pose X_FM and a velocity of M in F."""


class JointKind(Closure):
    """One kind of joint: frozen, stateless, for floats and symbols alike.

    Attributes:
        screw_symmetric: whether rotating or shifting F and M together about and along z changes nothing.
        turn: the index of a coordinate that turns M about z and has no other effect, so that a constant may be added; or None.
        is_group: whether the inverse of each motion is a motion of the same kind.
        drawn_as: its mark in figures: "hinge", "slider" or "ball"; "" for none.
    """

    screw_symmetric: ClassVar[bool] = False
    turn: ClassVar[int | None] = None
    is_group: ClassVar[bool] = False
    drawn_as: ClassVar[str] = "ball"

    # --- kinematics ---------------------------------------------------------------------------------------------------
    @abstractmethod
    def transform(self, q: Scalars) -> Transform:
        """X_FM(q)."""

    @abstractmethod
    def subspace(self, q: Scalars) -> tuple[Motion, ...]:
        """The motion subspace S(q): one motion of M per velocity, in M."""

    def subspace_rate(self, q: Scalars, v: Scalars) -> tuple[Motion, ...]:
        """dS/dt, the rate of the components of S in M: zero unless S depends on q."""
        return (Motion(),) * self.nv

    # --- forces (thesis tables 2.1, 2.2) ------------------------------------------------------------------------------
    @abstractmethod
    def active(self, q: Scalars) -> tuple[Force, ...]:
        """The active-force subspace T_a(q): the force in M of each unit generalised force; T_aᵀ S = 1 (eq. 2.8)."""

    @abstractmethod
    def constraint(self, q: Scalars) -> tuple[Force, ...]:
        """The constraint-force subspace T(q), 6 − n_J forces in M; Tᵀ S = 0 (eq. 2.8)."""

    # --- as a loop joint ----------------------------------------------------------------------------------------
    @abstractmethod
    def locate(self, X_FM: Transform) -> list[Scalar]:
        """The coordinates at which the pose of M is nearest to X_FM."""

    @property
    def rows(self) -> int:
        return 6 - self.nv

    def deviation(self, X_FM: Transform) -> Motion:
        """The small motion of M, in M, from its nearest allowed pose to X_FM: 2 tan(θ/2) about an axis, and a shift."""
        away = self.transform(self.locate(X_FM)).inverse() @ X_FM
        R = away.rotation.matrix()
        twice = 2.0 / (1.0 + R[0][0] + R[1][1] + R[2][2])
        return Motion(Vector3(R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1]) * twice, away.translation)

    def closing(self, X_FM: Transform, V_FM: Motion) -> Closing:
        q = self.locate(X_FM)
        T_a = self.active(q)
        rates = tuple(V_FM.dot(force) for force in T_a)  # T_aᵀ S = 1 (eq. 2.8)
        velocity = bias = Motion()
        for S, dS, rate in zip(self.subspace(q), self.subspace_rate(q, rates), rates, strict=True):
            velocity, bias = velocity + S * rate, bias + dS * rate
        allowed = Transform(X_FM.rotation, self.transform(q).translation)
        return Closing(allowed, V_FM, velocity, bias, self.constraint(q), T_a, tuple(q), rates, self.deviation(X_FM))

    def movable_inertia(self, inertia: Inertia) -> Inertia:
        """The largest part of a child's inertia, in M, that can be moved to the parent, in F, without changing the motion."""
        return Inertia()

    # --- the configuration manifold -----------------------------------------------------------------------------------
    def neutral(self) -> list[float]:
        """The coordinates at which M coincides with F."""
        return [1.0 if name == "qw" else 0.0 for name in self.coordinates]

    def random(self, rng: np.random.Generator) -> list[float]:
        """Coordinates drawn over the whole manifold (lengths within ±1 m)."""
        reach = [1.0 if sort_of(name) == "length" else math.pi for name in self.coordinates]
        return [float(rng.uniform(-most, most)) for most in reach]

    def rate(self, q: Scalars, v: Scalars) -> list[Scalar]:
        """q̇ of the velocities v."""
        return list(v)

    def integrate(self, q: Scalars, dv: Scalars) -> list[Scalar]:
        """The coordinates after moving by `dv`, a velocity times a time."""
        return [a + b for a, b in zip(q, dv, strict=True)]

    def difference(self, q0: Scalars, q1: Scalars) -> list[Scalar]:
        """The `dv` from q0 to q1: integrate(q0, difference(q0, q1)) is q1."""
        return [b - a for a, b in zip(q0, q1, strict=True)]

    def turning(self, v: Scalars) -> list[Scalar]:
        """The rate of v for a constant motion, due to the rotation of the axes of v with M: −ω × v for a free body."""
        return [0.0] * self.nv

    def carried(self, v: Scalars, dv: Scalars) -> list[Scalar]:
        """The motion v, given in the axes before a motion by `dv`, in the axes after it."""
        return list(v)

    def normalized(self, q: Scalars) -> list[Scalar]:
        """q projected back to the manifold, after rounding or a step off it."""
        return list(q)

    def off_manifold(self, q: Sequence[Any]) -> Any:
        """How far q is from a configuration, over floats or arrays: |1 − |quaternion||, else 0."""
        return 0.0

    def singularity(self, q: Sequence[float]) -> float:
        """Distance of the coordinates from a singularity of their own (not of the mechanism), 0…1; 1 for kinds without one."""
        return 1.0


def basis_motions(axes: Sequence[int]) -> tuple[Motion, ...]:
    """The unit motions along these of the six coordinate axes (0-2 angular, 3-5 linear)."""
    return tuple(Motion.of([1.0 if i == axis else 0.0 for i in range(6)]) for axis in axes)


def basis_forces(axes: Sequence[int]) -> tuple[Force, ...]:
    """The unit forces along these of the six coordinate axes."""
    return tuple(Force.of([1.0 if i == axis else 0.0 for i in range(6)]) for axis in axes)
