"""How contact points give way to impulses, from the inverse inertias of their links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...scalar import Scalar, maximum
from ...spatial import Dense, Force, Motion, Vector3
from .inverse_inertia import twist_of

if TYPE_CHECKING:
    from .contact_points import ContactFrame

__all__ = ["SMALLEST", "gives_of", "mobility_of", "sizes_of"]

#: A lower bound of `ContactFrame.size` [1/kg].
SMALLEST = 1e-9


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


def gives_of(frames: Sequence[ContactFrame], a: Dense, b: Dense | None = None, shift: Vector3 | None = None) -> list[Scalar]:
    """For every point, its normal velocity per unit impulse along the normal [1/kg]."""
    return [_give(frame, 0, a, b, shift) for frame in frames]


def _give(frame: ContactFrame, k: int, a: Dense, b: Dense | None, shift: Vector3 | None) -> Scalar:
    """The velocity of a point along one of its axes per unit impulse along it [1/kg]."""
    axis = frame.axes[k]
    unit = Force(frame.lever.cross(axis), axis)
    twist = twist_of(a, unit)
    if b is not None and shift is not None:
        other = twist_of(b, Force(unit.moment + shift.cross(unit.force), unit.force))
        twist = twist + Motion(other.angular, other.linear + other.angular.cross(shift))
    return frame.along(twist)[k]


def mobility_of(a: Dense, b: Dense | None = None, shift: Vector3 | None = None) -> Dense:
    """`ContactPatch.mobility`, from the inverse inertias of both links."""
    if b is None or shift is None:
        return a
    units = [Force.of([1.0 if i == k else 0.0 for i in range(6)]) for k in range(6)]
    columns = []
    for unit in units:
        other = twist_of(b, Force(unit.moment + shift.cross(unit.force), unit.force))
        columns.append(list(twist_of(a, unit) + Motion(other.angular, other.linear + other.angular.cross(shift))))
    return Dense.columns(columns)
