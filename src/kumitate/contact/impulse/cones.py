"""Impulses by the method of multipliers on the convex problem of all friction cones; where steps on the exact laws go round.

Were the normal velocity at each point raised by s = μ |u_t|, the laws would be the optimum of a convex problem, of which s is a
fixed point (De Saxcé and Feng 1998; Acary, Cadoux, Lemaréchal and Malick 2011). With multipliers λ and stiffnesses R it is to
minimize ½ |v − v_free|²_M + Σ |P|² / 2R over v, P being the nearest point of the cone to λ − R (u − target + s), a smooth
function: Newton's method with a line search gets there, whichever points share a load (augmented Lagrangian, Hestenes 1969).
Then λ = P, s is that of the new velocities, and R ten times as large.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...scalar import Scalar, Scalars, absolute, both, either, flatten, loop, maximum, minimum, select, sqrt, when
from ...spatial import Dense, Force, Motion
from .. import tuned
from ..laws import STIFF, onto_friction_cone, worst
from .frames import ContactFrame
from .jacobians import NO_STIFFNESS, along, frozen
from .newton import felt_stiffness
from .problem import Impulses, Problem

Rows = list[list[Scalar]]


@dataclass(frozen=True)
class _Descent:
    """The state: velocities, multipliers, by how much each point is raised [m/s], and the stiffness of points."""

    v: list[Scalar]
    held: list[Rows]
    raised: Rows
    strength: Scalar
    best: Impulses
    least: Scalar  # its residual [m/s]
    left: Scalar  # that of the last multipliers
    since: Scalar  # steps since these


def inside_cones(
    given: Problem, guess: Impulses, targets: Sequence[Scalars], least: Scalar, enough: Scalar
) -> tuple[Impulses, Scalar]:  # fmt: skip
    """The impulses with the least residual, and that residual [m/s]; of rigid points without moments.

    Args:
        guess: what is returned if nothing is better; least: its residual.
        enough: the residual at which the search ends.
    """

    def at(now: _Descent, v: Scalars) -> tuple[list[Any], list[Scalar], list[Scalar], Scalar]:
        """What the patches make of velocities: impulses, wrench, stiffness; pulls of loops; the gradient; the function."""
        twists = given.twists(v)
        found = [
            patch.if_near(
                _pressed, patch.frames, frozen(held), tuple(raised), patch.twist(given.jacobians, twists), tuple(aims),
                now.strength, otherwise=(held, Force(), NO_STIFFNESS, 0.0),
            )
            for patch, held, raised, aims in zip(given.patches, now.held, now.raised, targets, strict=True)
        ]  # fmt: skip
        pulls = given.pulls(v, guess.loops)
        moved = [rate - free for rate, free in zip(v, given.v_free, strict=True)]
        heavy = [along(given.M[i], moved) for i in range(len(moved))]
        pushed = given.efforts([wrench for _, wrench, _, _ in found], pulls)
        value = 0.5 * sum((a * b for a, b in zip(heavy, moved, strict=True)), 0.0)
        value = value + sum((energy for *_, energy in found), 0.0)
        value = value + sum((0.5 * pull * pull / row.stiffness for pull, row in zip(pulls, given.loops, strict=True)), 0.0)
        return found, pulls, [a - b for a, b in zip(heavy, pushed, strict=True)], value

    def step(_: Any, now: _Descent) -> tuple[_Descent, None]:
        found, pulls, slope, value = at(now, now.v)
        uneven = worst([absolute(part) / given.M[i][i] for i, part in enumerate(slope)])
        fine = maximum(tuned.SETTLED * now.left, tuned.ROUNDED_BY * now.strength)
        ends = both(now.since > 0.5, either(uneven < fine, now.since > tuned.MOST_AT_ONCE))
        settled = select(ends, 1.0, 0.0)

        def renewed() -> _Descent:
            held = [impulses for impulses, *_ in found]
            tried = given.after(held, pulls)
            left = given.residual(tried, targets)
            best = chosen(left < now.least, tried, now.best)
            stronger = minimum(tuned.STRONGER * now.strength, STIFF)
            return _Descent(now.v, held, _raised(given, now.v), stronger, best, minimum(left, now.least), left, 0.0)

        def moved() -> _Descent:
            change = given.stiffened([K for _, _, K, _ in found]).solve([-part for part in slope])
            steep = tuned.DESCENT * sum((a * b for a, b in zip(slope, change, strict=True)), 0.0)

            def shorter(_: Any, last: tuple[Scalar, Scalar]) -> tuple[tuple[Scalar, Scalar], None]:
                share = select(last[0] > 1.0, 1.0, 0.5 * last[0])
                v = [rate + share * more for rate, more in zip(now.v, change, strict=True)]
                return (share, at(now, v)[3] - value - share * steep - tuned.FLAT * value), None

            share = loop(tuned.HALVINGS, shorter, (2.0, 1.0), while_=lambda last: last[1] > 0.0, varies=True)[0][0]
            return replace(
                now, v=[rate + share * more for rate, more in zip(now.v, change, strict=True)], since=now.since + 1.0
            )

        return when(settled > 0.5, renewed, when(settled < 0.5, moved, now)), None

    nothing, nobody = given.nothing(), [[0.0] * len(patch.points) for patch in given.patches]
    begun: tuple[Any, Any, Any] = chosen(
        least > tuned.ROUGH * given.fastest,
        (nothing.v, nothing.points, nobody),
        (guess.v, guess.points, _raised(given, guess.v)),
    )
    start = _Descent(*begun, tuned.GENTLE, guess, least, least, 0.0)
    end = loop(tuned.DESCENTS, step, start, while_=lambda now: now.least > enough, varies=True)[0]
    return end.best, end.least


def chosen(first: Scalar, one: Any, other: Any) -> Any:
    """One of two values of the same structure."""
    (ones, build), (others, _) = flatten(one), flatten(other)
    return build([select(first, a, b) for a, b in zip(ones, others, strict=True)])


def _raised(given: Problem, v: Scalars) -> Rows:
    """By how much the normal velocity of every point is raised [m/s]."""
    twists = given.twists(v)
    sliding = [[frame.along(patch.twist(given.jacobians, twists))[1:] for frame in patch.frames] for patch in given.patches]
    return [[frame.friction * sqrt(a * a + b * b) for frame, (a, b) in zip(patch.frames, row, strict=True)]
            for patch, row in zip(given.patches, sliding, strict=True)]  # fmt: skip


def _pressed(
    frames: Sequence[ContactFrame], held: Any, raised: Scalars, twist: Motion, targets: Scalars, strength: Scalar
) -> tuple[Rows, Force, Dense, Scalar]:
    """P of the points of a patch, their wrench and stiffness, and Σ |P|² / 2R."""
    impulses, total, slopes = [], Force(), []
    value: Scalar = 0.0
    for frame, impulse, more, target in zip(frames, held, raised, targets, strict=True):
        R, u = strength * frame.mass, frame.along(twist)
        u[0] = u[0] - target + more
        P, D = onto_friction_cone([a - R * b for a, b in zip(impulse, u, strict=True)], frame.friction)
        impulses.append(P)
        total = total + frame.wrench(P)
        slopes.append(Dense.of([[R * part for part in row] for row in D]))
        value = value + 0.5 * sum((part * part for part in P), 0.0) / R
    return impulses, total, felt_stiffness(frames, slopes), value
