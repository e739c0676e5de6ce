"""What the quadratic program is made of, as one program of a state and the goals' targets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dynamics import crba, rnea
from ...inverse_kinematics import Goal, Posture
from ...kinematics import jacobian, rate
from ...model import Mechanism, Place
from ...scalar import Program, call, directional, table, trace
from ...spatial import Transform, dot, identity_rotation
from .standing_point import StandingPoint


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
