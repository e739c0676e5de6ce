"""ADA by levels: the computation for one link and for one pair of bodies (thesis 2.2.1; future work in its 8.2 item 2).

All pairs in a round of `rounds` do the same computation with other numbers, so one program serves them all. The equations are
those of `assembly.recursion`, one joint at a time; a drive acts when its joint is closed, so no sum over children is needed.
Angular velocities are a parallel prefix computation over the maps ω_L = R_LP ω_P + w, in the same rounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...dynamics.ada import constraint_law
from ...dynamics.assembly.accelerations import Step, closed_bodies
from ...dynamics.assembly.connection import Bodies, JointConnection
from ...dynamics.assembly.initial import unheld_motion
from ...dynamics.motion import link_motion
from ...model import Link
from ...scalar import Scalar, Scalars
from ...spatial import Dense, Force, InverseInertia, Matrix3, Motion, Symmetric3, Vector3


# --- A joint with six degrees of freedom: it constrains nothing, and only its drive acts ----------------------------------
class FreeGrip:
    """W = 0."""

    def force(self, relative: Scalars) -> list[Scalar]:
        """Nothing."""
        return [0.0] * len(relative)

    def between(self, left: Dense, right: Dense) -> Dense:
        """Nothing."""
        return Dense.zero(len(left.rows), len(right.rows))


# --- the levels -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Turn:
    """The angular velocity of a link from that of another link further in: ω_L = R_LP ω_P + w, each in its own axes."""

    R_LP: Matrix3
    w: Vector3

    @classmethod
    def of(cls, link: Link, q: Scalars, v: Scalars) -> Turn:
        """The turn of a link relative to its carrier."""
        return cls(link.pose(q).rotation.matrix().T, link_motion(link, Vector3(), q, v).omega)

    def after(self, inner: Turn) -> Turn:
        """The composition of this turn with one further in."""
        return Turn(self.R_LP @ inner.R_LP, self.omega(inner.w))

    def omega(self, omega_P: Vector3) -> Vector3:
        """ω_L."""
        return self.R_LP @ omega_P + self.w


@dataclass(frozen=True)
class Single:
    """A single link: its joint, its center of mass, and its rotational inertia and Φ there."""

    link: Link
    center: Vector3
    rotational: Symmetric3
    Phi: InverseInertia

    def unheld(self, q: Scalars, v: Scalars, omega_P: Vector3) -> tuple[Motion, Motion]:
        """The velocity-dependent part of its joint's relative acceleration, and its B (2.4) without any drive."""
        motion = link_motion(self.link, omega_P, q, v)
        return motion.bias, unheld_motion(self.Phi, self.rotational, self.center, motion.omega, Force())


@dataclass(frozen=True)
class Closed:
    """A closed joint: the body at the handles it keeps, and the joint's force F = F_0 + T Σ K_h F_h from the forces on them.

    Attributes:
        F_0: (6), its force in the joint's frame while the kept handles are free, including its drive.
        K: by handle, (6 − n_J plus the number of armatures, 6).
    """

    bodies: Bodies
    F_0: list[Scalar]
    K: dict[int, Dense]


def closed_pair(joint: JointConnection, bodies: Bodies, kept: Sequence[int]) -> Closed:
    """Closes the joint between two bodies (2.15, 2.18, 2.21)."""
    free = not joint.holding.softness
    grip = FreeGrip() if free else constraint_law(joint, joint.mobility(bodies), None)
    driven = joint.pull(list(joint.drive))
    apart = joint.excess(lambda handle: bodies.B[handle] + bodies.response(handle, driven))
    held = grip.force([a + b for a, b in zip(apart, joint.drift, strict=True)])
    F_0 = [a + b for a, b in zip(joint.drive, held, strict=True)]
    after = closed_bodies(Step(0, joint, bodies, grip, F_0), set(kept))
    K = {} if free else {handle: _gain(joint, bodies, grip, handle) for handle in kept}
    return Closed(after, F_0, K)


def _gain(joint: JointConnection, bodies: Bodies, grip: Any, handle: int) -> Dense:
    """K: the joint's constraint forces per unit force on a handle."""
    columns = []
    for axis in range(6):
        push = {handle: Force.of([1.0 if k == axis else 0.0 for k in range(6)])}
        apart = Dense.column(joint.excess(lambda end, push=push: bodies.response(end, push)))  # type: ignore[misc]
        columns.append(grip.Y.solve((grip.T.T @ apart).entries()))
    return Dense.columns(columns)


def opened_pair(joint: JointConnection, F_0: Scalars, K: Mapping[int, Dense], forces: Mapping[int, Force]) -> dict[int, Force]:
    """Opens the joint again: the forces on the handles of both bodies, from those on the kept handles (2.15)."""
    F = list(F_0)
    for handle, gain in K.items():
        held = joint.holding.T @ (gain @ Dense.column(forces[handle]))
        F = [a + b for a, b in zip(F, held.entries(), strict=True)]
    total = dict(forces)
    for handle, pull in joint.pull(F).items():
        total[handle] = total[handle] + pull if handle in total else pull
    return total
