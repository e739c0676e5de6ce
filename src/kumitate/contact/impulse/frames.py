"""The axes of contact points, and how these give way to impulses by the inverse inertia felt at their links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...model import Link
from ...scalar import Scalar, Scalars, maximum
from ...spatial import Dense, Force, Motion, SparseFactors, Vector3, dot
from ..laws import above, masses, onto_cone, onto_disc, projected, sizes
from .jacobians import LinkJacobians

#: A lower bound of `ContactFrame.size` [1/kg].
SMALLEST = 1e-9
#: A compliant point gives way at least this part of what it does alone: others may hold it by a lever.
LEAST = 0.25


@dataclass(frozen=True)
class MomentLimit:
    """Axes about which the moment at a contact point has one limit: the normal (torsional friction), or two tangents (rolling).

    Moments are written as a length times an impulse, and angular velocities as velocities at that length, so that all
    components of a point have the same units.
    """

    axes: tuple[Vector3, ...]  # unit vectors times that length [m]
    limit: Scalar  # the largest moment, as a part of the length times the normal impulse [1]


@dataclass(frozen=True)
class ContactFrame:
    """The position and axes of the force at a contact point, in the axes of the world.

    Its impulses and velocities have three components along `axes`, and one more for each axis of `turns`.
    """

    lever: Vector3  # from the origin of A's twists to the point [m]
    axes: tuple[Vector3, Vector3, Vector3]  # the normal and two tangents
    friction: Scalar  # the coefficient that applies now: static at rest, otherwise kinetic
    size: Scalar = 1.0  # the inverse effective mass: the largest velocity along an axis per unit impulse along the same [1/kg]
    mass: Scalar = 1.0  # its inverse, the effective mass [kg]
    turns: tuple[MomentLimit, ...] = ()  # torsional and rolling friction
    softness: Scalar = 0.0  # see `Compliance`; zero: rigid [1/kg]

    @property
    def spins(self) -> list[Vector3]:
        """The axes of all turns."""
        return [axis for turn in self.turns for axis in turn.axes]

    @property
    def nothing(self) -> list[Scalar]:
        """No impulse."""
        return [0.0] * (3 + len(self.spins))

    @property
    def sizes(self) -> list[Scalar]:
        """Of each component: `size`, and along the normal also what a soft point gives way to."""
        along, across = sizes(self.size, self.softness)
        return [along, *([across] * (2 + len(self.spins)))]

    @property
    def masses(self) -> list[Scalar]:
        """The inverses of `sizes`."""
        along, across = masses(self.mass, self.softness)
        return [along, *([across] * (2 + len(self.spins)))]

    def above(self, u: Scalars, impulse: Scalars, target: Scalar) -> list[Scalar]:
        """A velocity relative to the target, which a soft point gives way to: what the laws of contact are about."""
        return above(u, impulse, target, self.softness)

    def split(self, components: Scalars) -> tuple[Scalars, list[Scalars]]:
        """The components along the axes, and those of each turn."""
        first, found = 3, []
        for turn in self.turns:
            found.append(components[first : first + len(turn.axes)])
            first += len(turn.axes)
        return components[:3], found

    def onto_laws(self, components: Scalars) -> list[Scalar]:
        """An impulse projected onto the friction cone, and the moments onto what its normal component allows them."""
        impulse, moments = self.split(components)
        found = onto_cone(impulse, self.friction)
        for turn, moment in zip(self.turns, moments, strict=True):
            found += onto_disc(moment, turn.limit * found[0])
        return found

    def projected(self, components: Scalars, u: Scalars, target: Scalar) -> list[Scalar]:
        """The impulse and moments that the laws ask for at a velocity u; see `laws.projected`."""
        impulse, moments = self.split(components)
        asked = projected(impulse, u[:3], target, self.friction, self.mass, self.softness)
        for turn, moment, rates in zip(self.turns, moments, self.split(u)[1], strict=True):
            pushed = [part - rate * self.mass for part, rate in zip(moment, rates, strict=True)]
            asked += onto_disc(pushed, turn.limit * asked[0])
        return asked

    def along(self, twist: Motion) -> list[Scalar]:
        """The point's velocity along its axes, from the twist of A's link relative to B's."""
        at_point = self.velocity(twist)
        return [*(axis.dot(at_point) for axis in self.axes), *(axis.dot(twist.angular) for axis in self.spins)]

    def velocity(self, twist: Motion) -> Vector3:
        """The velocity of A relative to B at the point, in the axes of the world."""
        return twist.linear + twist.angular.cross(self.lever)

    def components(self, impulse: Vector3) -> list[Scalar]:
        """The components along the axes of an impulse, of which `force` makes it again."""
        normal, *tangents = self.axes
        return [normal.dot(impulse), *(axis.dot(impulse) / axis.dot(axis) for axis in tangents)]

    def force(self, components: Scalars) -> Vector3:
        """A force or impulse on A from its components along the axes."""
        return sum((axis * part for axis, part in zip(self.axes, components[:3], strict=True)), Vector3())

    def moment(self, components: Scalars) -> Vector3:
        """The moment on A of the turns."""
        return sum((axis * part for axis, part in zip(self.spins, components[3:], strict=True)), Vector3())

    def wrench(self, components: Scalars) -> Force:
        """Both, as a wrench about the origin of A's twists."""
        force = self.force(components)
        about = self.lever.cross(force)
        return Force(about + self.moment(components) if self.turns else about, force)


def inverse_link_inertia(jacobians: LinkJacobians, link: Link, factors: SparseFactors) -> Dense:
    """J M⁻¹ Jᵀ (6×6) of a link: maps an impulsive wrench to its twist, in the axes of the world, about its origin.

    `factors` are those of the inertia matrix with loops open; closed loops would reduce the response. A wrench on a link passes
    only through the joints that carry it, so the other joints do not contribute.
    """
    passed = {
        k: S for ancestor in jacobians.tree.ancestors(link.index) for k, S in enumerate(jacobians.S[ancestor], ancestor.v_start)
    }
    half: list[list[Scalar]] = [[0.0] * (k + 1) for k in range(6)]  # its lower triangle
    for step in factors.steps:
        if step.pivot in passed:
            y = passed[step.pivot]
            for i, factor in step.column.items():
                passed[i] = passed[i] - y * factor
            eased = list(y * step.inverse)
            half = [[entry + a * b for entry, b in zip(row, eased, strict=False)] for row, a in zip(half, y, strict=True)]
    return Dense.of([half[max(i, j)][min(i, j)] for j in range(6)] for i in range(6))


def twist_of(inverse_inertia: Dense, impulse: Force) -> Motion:
    """The twist caused by an impulse."""
    return Motion.of([dot(row, impulse) for row in inverse_inertia.rows])


def sizes_of(frames: Sequence[ContactFrame], a: Dense, b: Dense | None = None, shift: Vector3 | None = None) -> Any:
    """For every point, its `size` (the largest velocity along an axis per unit impulse along it) and its `mass`."""
    found = []
    for frame in frames:
        most: Scalar = SMALLEST
        for k, axis in enumerate(frame.axes):
            twist = _twist(Force(frame.lever.cross(axis), axis), a, b, shift)
            most = maximum(most, frame.along(twist)[k])
        for axis in frame.spins:
            of_both = [twist_of(body, Force(axis, Vector3())).angular for body in (a, b) if body is not None]
            most = maximum(most, axis.dot(sum(of_both, Vector3())))
        found.append((most, 1.0 / most))
    return found


def gives_of(
    frames: Sequence[ContactFrame], touching: Scalars, a: Dense, b: Dense | None = None, shift: Vector3 | None = None
) -> list[Scalar]:
    """For every point, its normal velocity per unit impulse at it and at all others that touch, with a weight of 1 [1/kg].

    Bodies that land flat give way so, where all points bear alike; of others it is at least a part (`LEAST`) of what the
    impulse at the point alone moves.
    """
    units = [Force(frame.lever.cross(frame.axes[0]), frame.axes[0]) for frame in frames]
    twists = [_twist(unit, a, b, shift) for unit in units]
    found = []
    for i, frame in enumerate(frames):
        alone = frame.along(twists[i])[0]
        pairs = zip(touching, twists, strict=True)
        others = (weight * frame.along(twist)[0] for j, (weight, twist) in enumerate(pairs) if j != i)
        found.append(maximum(sum(others, alone), LEAST * alone))
    return found


def _twist(impulse: Force, a: Dense, b: Dense | None, shift: Vector3 | None) -> Motion:
    """The twist of A relative to B by an impulse on A, and its opposite on B."""
    twist = twist_of(a, impulse)
    if b is None or shift is None:
        return twist
    other = twist_of(b, Force(impulse.moment + shift.cross(impulse.force), impulse.force))
    return twist + Motion(other.angular, other.linear + other.angular.cross(shift))


def mobility_of(a: Dense, b: Dense | None = None, shift: Vector3 | None = None) -> Dense:
    """`ContactPatch.mobility`, from the inverse inertias of both links."""
    if b is None or shift is None:
        return a
    units = [Force.of([1.0 if i == k else 0.0 for i in range(6)]) for k in range(6)]
    return Dense.columns([list(_twist(unit, a, b, shift)) for unit in units])
