"""The quadratic program of whole-body control as one program of a state and the goals' targets.

Limits of driven joints are bounds of efforts and accelerations; a contact is a point of a body that stands on something.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...dynamics import crba, rnea
from ...errors import InputError
from ...inverse_kinematics import Goal, Posture
from ...kinematics import jacobian, rate
from ...model import Mechanism, Place
from ...scalar import Program, call, directional, table, trace
from ...spatial import Transform, Vector3, dot, identity_rotation


class DrivenLimits(NamedTuple):
    """Limits of the joints of one degree of freedom, infinite where there are none.

    Attributes:
        driven: which of the degrees of freedom (nv) they are.
        place: where their coordinates are in q (driven).
        least, most: efforts [N·m, N]; low, high: coordinates [rad, m] (driven).
    """

    driven: np.ndarray
    place: np.ndarray
    least: np.ndarray
    most: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, mechanism: Mechanism, efforts: bool) -> DrivenLimits:
        """The limits of a mechanism; those of efforts if wanted."""
        driven = [joint.kind.nv == 1 for joint in mechanism.joints for _ in range(joint.kind.nv)]
        place, rows, begin = [], [], 0
        for joint in mechanism.joints:
            if joint.kind.nv == 1:
                limits = joint.limits[0]
                most = _or(limits.effort if efforts else None, np.inf)
                place.append(begin)
                rows.append((-most, most, _or(limits.lower, -np.inf), _or(limits.upper, np.inf)))
            begin += joint.kind.nq
        return cls(np.array(driven), np.array(place, dtype=int), *np.array(rows).reshape(-1, 4).T)

    def stops(self, rate: float, q: Any, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The bounds of v̇ with which the distance d to a stop obeys d̈ + 2 r ḋ + r² d ≥ 0, so that it stays positive.

        Args:
            rate: r [1/s]; 0: no bounds.
        """
        if rate == 0.0:
            return np.full(self.low.shape, -np.inf), np.full(self.high.shape, np.inf)
        at, speed = np.asarray(q, dtype=float)[self.place], v[self.driven]
        return rate**2 * (self.low - at) - 2.0 * rate * speed, rate**2 * (self.high - at) - 2.0 * rate * speed


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else float(value)


#: Faces of the pyramid inside the friction cone.
FACES = 4


@dataclass(frozen=True)
class StandingPoint:
    """A point that stands: it does not accelerate, and is pushed within a friction cone.

    Attributes:
        body: name of the body or frame.
        point: in its frame [m].
        friction: coefficient of static friction.
        normal: of the surface, in the world, towards the body.
    """

    body: str
    point: Sequence[float] = (0.0, 0.0, 0.0)
    friction: float = 0.6
    normal: Sequence[float] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        if not (self.friction >= 0.0 and np.isfinite(self.friction)):
            raise InputError(f"the contact point of {self.body!r} has friction {self.friction}; give a number ≥ 0")
        if not np.linalg.norm(self.normal) > 0.0:
            raise InputError(f"the contact point of {self.body!r} has the normal {tuple(self.normal)}; give a direction")

    @property
    def offset(self) -> Vector3:
        """The point, in the frame of its body."""
        return Vector3.of([float(x) for x in self.point])

    def cone(self) -> np.ndarray:
        """Rows C (5, 3) of C f ≥ 0: forces within a pyramid inside the friction cone, and pressing."""
        n = np.asarray(self.normal, dtype=float) / np.linalg.norm(self.normal)
        first = np.cross(n, np.eye(3)[int(np.argmin(np.abs(n)))])
        first /= np.linalg.norm(first)
        across = [first, np.cross(n, first)]
        slope = self.friction / np.sqrt(2.0)  # the pyramid's edges lie on the cone
        return np.array([n, *(slope * n + sign * t for t in across for sign in (1.0, -1.0))])


def whole_body_program(mechanism: Mechanism, goals: Sequence[Goal], contacts: Sequence[StandingPoint]) -> Program:
    """(q, v, targets of all goals) → inertia "M", bias "h", and of the rows that are tracked errors, slopes "J" and drifts.

    The rows are first those of the contact points (3 each, without error), then those of the goals. Their "drift" is J̇v: the
    derivative of J v along the motion, with v constant.
    """
    tree = mechanism.tree
    sizes = [goal.size(tree) for goal in goals]
    places = [_place(mechanism, contact) for contact in contacts]

    def rows(q: Any, targets: Any) -> dict[str, Any]:
        posture, begin = Posture(tree, q), 0
        slopes = [row for place in places for row in jacobian(tree, q, place)[3:]]
        errors: list[Any] = [0.0] * len(slopes)
        for goal, size in zip(goals, sizes, strict=True):
            target = list(targets[begin : begin + size])
            errors += goal.errors(posture, target)
            slopes += goal.slopes(posture, target)
            begin += size
        return {"errors": errors, "J": slopes}

    shapes: dict[str, int | tuple[int, ...]] = {"q": mechanism.nq, "v": mechanism.nv, "targets": sum(sizes)}

    def speeds(q: Any, v: Any, targets: Any) -> dict[str, Any]:
        return {"speeds": [dot(row, v) for row in rows(q, targets)["J"]]}

    moving = directional(trace(speeds, shapes, f"tracked_speeds_{mechanism.name}"))

    def page(q: Any, v: Any, targets: Any) -> dict[str, Any]:
        still = table([0.0] * tree.nv)
        along = call(moving, q, v, targets, rate(tree, q, v), still, [0.0] * sum(sizes))
        bias = rnea(tree, q, v, still, gravity=mechanism.gravity)
        return {**rows(q, targets), "M": crba(tree, q), "h": bias, "drift": list(along["speeds_dot"])}

    return trace(page, shapes, f"whole_body_{mechanism.name}")


def _place(mechanism: Mechanism, contact: StandingPoint) -> Place:
    base = mechanism.tree.places[contact.body]
    return Place(base.link, (base.pose @ Transform(identity_rotation(), contact.offset)).dense())
