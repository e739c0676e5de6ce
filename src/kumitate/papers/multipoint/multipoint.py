"""Rigid contact by the method of Sugihara and Nakamura: impulses for assumed velocities, then corrected for friction.

Equations and steps are numbered as in their paper, section 3. Differences, where it is incomplete or does not work as printed:

- A gap is closed exactly, and overlap is corrected as with `rigid`; the printed target, −e v (11), does not correct either.
  Weight also acts on the rebound: without this a ball would gain g h in every bounce.
- ε of (25) is 1e-4 m/s; slower points are held at rest.
- Kinetic friction (27) that would reverse the sliding of a point within the step holds the point at rest instead: as printed,
  a block never stops, but oscillates by μ g h.
- (19) selects independent equations by counting points; this is not needed here, see `assumed_impulses`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...contact.impulse.contact_points import ContactPatch, ContactPoint
from ...contact.impulse.problem import Impulses, Problem, Solved
from ...contact.laws import AT_REST
from ...scalar import Scalar, absolute, both, either, loop, maximum, select, sqrt, when
from .assumed_impulses import assumed_impulses

#: Points with smaller gaps are in contact, whether they approach or not [m].
TOUCHING = 1e-9
#: A point whose normal impulse is not above this fraction of the largest impulse does not push.
NOTHING = 1e-9
_SMALLEST = 1e-300


@dataclass(frozen=True)
class _Set:
    """The points in contact (1, others 0), those that stay at rest, and the impulses; `open`: 1 while the search goes on."""

    inside: list[list[Scalar]]
    rests: list[list[Scalar]]
    found: Impulses
    open: Scalar


def multipoint(given: Problem) -> Solved:
    """The impulses of a step (steps 4 to 8).

    They do not satisfy all contact laws simultaneously. Normal impulses are computed for points that keep their tangential
    velocity; afterwards only the size of friction is corrected. So normal velocities miss their targets where friction turns a
    body, points that left the set do not return, and energy can be gained; see `ContactRecord.residual` and `work`.
    """
    inside = [[_touches(patch, point) for point in patch.points] for patch in given.patches]
    rests = [[_slower(point) for point in patch.points] for patch in given.patches]
    count = sum(len(patch.points) for patch in given.patches)
    still: list[Scalar] = [0.0 for _ in given.loops]
    free = given.after(given.nothing().points, still).v

    def turn(_: Any, now: _Set) -> tuple[_Set, None]:
        wanted = [  # step 4: (11); (12), or at rest
            [[point.target, *(select(rest > 0.5, 0.0, u) for u in point.velocity[1:])] for point, rest in zip(*of, strict=True)]
            for of in zip((patch.points for patch in given.patches), now.rests, strict=True)
        ]
        assumed = assumed_impulses(given, now.inside, wanted, free)  # step 5: (17), (19)
        least = NOTHING * _largest(assumed)
        pulls = [  # step 6: (24)
            [select(impulse[0] > least, 0.0, one) for impulse, one in zip(*of, strict=True)]
            for of in zip(assumed, now.inside, strict=True)
        ]
        pulled = _any(pulls)

        def complete() -> _Set:  # step 8
            impulses = [
                [_rubbed(point, impulse, rests) for point, impulse, rests in zip(patch.points, held, resting, strict=True)]
                for patch, held, resting in zip(given.patches, assumed, now.rests, strict=True)
            ]
            found = given.after(impulses, still)
            twists, turned = given.jacobians.twists(found.v), []
            for patch, *of in zip(given.patches, now.inside, now.rests, strict=True):
                twist = patch.twist(given.jacobians, twists)
                turned.append(
                    [_turned(point, point.frame.along(twist), *masks) for point, *masks in zip(patch.points, *of, strict=True)]
                )
            return _Set(now.inside, _less(now.rests, turned, -1.0), found, _any(turned))

        return when(pulled < 0.5, complete, _Set(_less(now.inside, pulls, 1.0), now.rests, now.found, pulled)), None  # step 7

    first = _Set(inside, rests, given.nothing(), _any(inside))
    return Solved(loop(2 * count + 1, turn, first, while_=lambda now: now.open > 0.5, varies=True)[0].found)


def _touches(patch: ContactPatch, point: ContactPoint) -> Scalar:
    """Whether a point is in contact: touching, or closing within the step (step 2)."""
    touching = both(patch.near, either(point.touch.gap <= TOUCHING, point.free[0] < point.target))
    return select(touching, 1.0, 0.0)


def _slower(point: ContactPoint) -> Scalar:
    x, y = point.velocity[1:]
    return select(x * x + y * y <= AT_REST * AT_REST, 1.0, 0.0)


def _rubbed(point: ContactPoint, assumed: list[Scalar], rests: Scalar) -> list[Scalar]:
    """The impulse with friction limited by (25)-(28)."""
    normal, *tangent = assumed
    size = sqrt(maximum(tangent[0] * tangent[0] + tangent[1] * tangent[1], _SMALLEST))
    speed = sqrt(maximum(point.velocity[1] * point.velocity[1] + point.velocity[2] * point.velocity[2], _SMALLEST))
    sticks = both(rests > 0.5, size <= point.surface.friction * normal)
    kinetic = point.surface.kinetic * normal  # along the holding impulse (at rest), or against sliding
    against = [
        kinetic * select(rests > 0.5, part / size, -(u / speed)) for part, u in zip(tangent, point.velocity[1:], strict=True)
    ]
    return [normal, *(select(sticks, part, rubbed) for part, rubbed in zip(tangent, against, strict=True))]


def _turned(point: ContactPoint, after: list[Scalar], inside: Scalar, rests: Scalar) -> Scalar:
    """Whether friction reversed the sliding of the point."""
    back = point.velocity[1] * after[1] + point.velocity[2] * after[2] < 0.0
    return select(both(inside > rests, back), 1.0, 0.0)


def _largest(impulses: list[list[list[Scalar]]]) -> Scalar:
    most: Scalar = 0.0
    for of_points in impulses:
        for impulse in of_points:
            for part in impulse:
                most = maximum(most, absolute(part))
    return most


def _any(masks: list[list[Scalar]]) -> Scalar:
    most: Scalar = 0.0
    for of_points in masks:
        for one in of_points:
            most = maximum(most, one)
    return most


def _less(masks: list[list[Scalar]], others: list[list[Scalar]], sign: float) -> list[list[Scalar]]:
    return [[a - sign * b for a, b in zip(one, other, strict=True)] for one, other in zip(masks, others, strict=True)]
