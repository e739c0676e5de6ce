"""Alternating directions: sure far from the solution, slow near it; what Newton steps that go astray are helped by.

Velocities and the laws of contact are asked in turn (Glowinski and Marrocco 1975): the velocities with every point on a spring
and a damper of the same strength, the laws for each point by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ..scalar import Scalar, loop, when
from ..scalar.reuse import call_shared
from ..spatial import Force, Motion
from .columns import NO_STIFFNESS, Rows, frozen
from .cone import onto_cone
from .meetings import Spot
from .newton import felt_stiffness
from .problem import Impulses, Problem

__all__ = ["split"]

#: How strong the points are coupled to their laws, against their surroundings.
STRENGTH = 5.0


def split(given: Problem, guess: Impulses, targets: Sequence[Sequence[Scalar]], rounds: int) -> Impulses:
    """The guess after some rounds."""
    factors = given.stiffened(
        [
            when(meeting.near, partial(call_shared, _coupled, meeting.spots, name="coupled"), NO_STIFFNESS)
            for meeting in given.meetings
        ]
    )
    twists = given.columns.twists(guess.v)
    wanted, begun = [], []  # impulses that obey their laws, and the u, above the target, that go with them
    for meeting, old, aims in zip(given.meetings, guess.points, targets, strict=True):
        twist = meeting.twist(given.columns, twists)
        above = [_above(spot.along(twist), aim) for spot, aim in zip(meeting.spots, aims, strict=True)]
        obey = partial(call_shared, _obey, meeting.spots, frozen(old), twist, tuple(aims), name="obey")
        new, wished = when(meeting.near, obey, (old, above))
        begun.append(new)
        wanted.append(wished)

    def turn(_: Any, now: Any) -> Any:
        impulses, held, wanted = now
        wrenches = []
        for meeting, old, wishes, aims in zip(given.meetings, impulses, wanted, targets, strict=True):
            lacks = [
                [a - b for a, b in zip(wish, _above(point.free, aim), strict=True)]
                for point, wish, aim in zip(meeting.points, wishes, aims, strict=True)
            ]
            pull = partial(call_shared, _pull, meeting.spots, frozen(old), frozen(lacks), name="pull")
            wrenches.append(when(meeting.near, pull, Force()))
        pulls = [
            old - equation.stiffness * (equation.rate(given.v_free) + equation.softness * old)
            for old, equation in zip(held, given.held, strict=True)
        ]
        dv = factors.solve(given.efforts(wrenches, pulls))
        v = [rate + dv[k] for k, rate in enumerate(given.v_free)]
        twists = given.columns.twists(v)
        after, wishes_after = [], []
        for meeting, old, wishes, aims in zip(given.meetings, impulses, wanted, targets, strict=True):
            twist = meeting.twist(given.columns, twists)
            obey = partial(call_shared, _obey, meeting.spots, frozen(old), twist, tuple(aims), name="obey")
            new, wished = when(meeting.near, obey, (old, wishes))
            after.append(new)
            wishes_after.append(wished)
        held = [
            old - equation.stiffness * (equation.rate(v) + equation.softness * old)
            for old, equation in zip(held, given.held, strict=True)
        ]
        return (after, held, wishes_after), None

    (points, held, _), _ = loop(rounds, turn, (begun, guess.held, wanted), varies=True)
    return given.after(points, held)


def _above(u: Sequence[Scalar], target: Scalar) -> list[Scalar]:
    return [u[0] - target, u[1], u[2]]


def _strength(spot: Spot) -> Scalar:
    """R: how strongly a point's velocity is coupled to its law's."""
    return STRENGTH * spot.mass


def _coupled(spots: Sequence[Spot]) -> Rows:
    """The stiffness of the coupling."""
    return felt_stiffness(spots, [[[R, 0.0, 0.0], [0.0, R, 0.0], [0.0, 0.0, R]] for R in map(_strength, spots)])


def _pull(spots: Sequence[Spot], impulses: Any, lacks: Any) -> Force:
    """The wrench of a meeting's impulses and of what its velocities lack."""
    total = Force()
    for spot, impulse, lack in zip(spots, impulses, lacks, strict=True):
        total = total + spot.wrench([a + _strength(spot) * b for a, b in zip(impulse, lack, strict=True)])
    return total


def _obey(spots: Sequence[Spot], impulses: Any, twist: Motion, aims: Any) -> Any:
    """Impulses that obey their laws, and the velocities that go with them."""
    after, wishes = [], []
    for spot, impulse, aim in zip(spots, impulses, aims, strict=True):
        aimed = [a - _strength(spot) * b for a, b in zip(impulse, _above(spot.along(twist), aim), strict=True)]
        new = onto_cone(aimed, spot.friction)
        after.append(new)
        wishes.append([(a - b) * (spot.size / STRENGTH) for a, b in zip(new, aimed, strict=True)])
    return after, wishes
