"""The inverse inertia felt at a link, and how contact points give way to impulses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...model import Link
from ...scalar import Scalar, maximum
from ...spatial import Dense, Force, Motion, SparseFactors, Vector3, dot
from .jacobians import LinkJacobians

if TYPE_CHECKING:
    from .contact_points import ContactFrame

#: A lower bound of `ContactFrame.size` [1/kg].
SMALLEST = 1e-9
#: A compliant point gives way at least this part of what it does alone: others may hold it by a lever.
LEAST = 0.25


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
        for k in range(len(frame.axes)):
            most = maximum(most, _give(frame, k, a, b, shift))
        for axis in frame.spins:
            of_both = [twist_of(body, Force(axis, Vector3())).angular for body in (a, b) if body is not None]
            most = maximum(most, axis.dot(sum(of_both, Vector3())))
        found.append((most, 1.0 / most))
    return found


def gives_of(
    frames: Sequence[ContactFrame], touching: Sequence[Scalar], a: Dense, b: Dense | None = None, shift: Vector3 | None = None
) -> list[Scalar]:
    """For every point, its normal velocity per unit impulse at it and at all others that touch [1/kg].

    Bodies that land flat give way so, where all points bear alike; of others it is at least a part (`LEAST`) of what the
    impulse at the point alone moves.

    Args:
        touching: 1 for points that touch, else 0.
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


def _give(frame: ContactFrame, k: int, a: Dense, b: Dense | None, shift: Vector3 | None) -> Scalar:
    """The velocity of a point along one of its axes per unit impulse along it [1/kg]."""
    axis = frame.axes[k]
    return frame.along(_twist(Force(frame.lever.cross(axis), axis), a, b, shift))[k]


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
