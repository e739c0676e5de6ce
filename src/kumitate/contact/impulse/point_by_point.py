"""Impulses point by point (non-smooth Gauss-Seidel: Moreau 1988, Jean 1999); used where steps for all points at once fail.

Each point in turn gets the impulse that obeys its own law while the others push as they last did. Where friction couples the
normal velocities of a few points, this finds the modes that a Newton method misses; many redundant points it solves slowly.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from ...scalar import Scalar, Scalars, absolute, loop, maximum, select, when
from ...scalar.reuse import call_shared
from ...spatial import Dense, Force, Motion, dot
from .. import tuned
from .frames import ContactFrame, twist_of
from .jacobians import frozen
from .problem import Impulses, Problem


def point_by_point(given: Problem, guess: Impulses, targets: Sequence[Scalars], sweeps: Scalar) -> Impulses:
    """The guess after so many sweeps over all points, MOST_SWEEPS at most; `targets`: their least normal velocities [m/s]."""
    mobilities = [_mobility(given, k) if given.loops else patch.mobility for k, patch in enumerate(given.patches)]

    def sweep(_: Any, now: Any) -> Any:
        points, v, left = list(now[0]), list(now[1]), now[2]
        for k, (patch, aims) in enumerate(zip(given.patches, targets, strict=True)):

            def visited(k: int = k, patch: Any = patch, aims: Any = aims, v: Any = v) -> Any:
                twist = patch.twist(given.jacobians, given.jacobians.twists(v))
                state = (patch.frames, frozen(points[k]), twist, tuple(aims), mobilities[k])
                new, change = call_shared(_visit, *state, name="point_by_point")
                return new, [rate + more for rate, more in zip(v, _response(given, k, change), strict=True)]

            points[k], v = when(patch.near, visited, (points[k], v))
        return (points, v, left - 1.0), None

    begun = guess.points, guess.v, sweeps
    (points, *_), _ = loop(tuned.MOST_SWEEPS, sweep, begun, while_=lambda now: now[2] > 0.5, varies=True)
    return given.after(points, guess.loops)


def _response(given: Problem, k: int, wrench: Force) -> list[Scalar]:
    """The change of the velocities (nv) by an impulsive wrench on the patch k, with loops closed."""
    wrenches = [wrench if i == k else Force() for i in range(len(given.patches))]
    return given.factors.solve(given.efforts(wrenches, [0.0] * len(given.loops)))


def _mobility(given: Problem, k: int) -> Dense:
    """From an impulsive wrench on the patch k to the change of its twist (6×6), with loops closed."""
    units = (Force.of([1.0 if i == j else 0.0 for i in range(6)]) for j in range(6))
    turned = (given.jacobians.twists(_response(given, k, unit)) for unit in units)
    return Dense.columns([list(given.patches[k].twist(given.jacobians, twists)) for twists in turned])


def _visit(frames: Sequence[ContactFrame], impulses: Any, twist: Motion, aims: Any, mobility: Dense) -> Any:
    """The impulses of a patch after a sweep over its points, and the wrench that they add."""
    total, found = Force(), []
    for frame, old, aim in zip(frames, impulses, aims, strict=True):
        above = frame.above(frame.along(twist), old, aim)
        new = _own_impulse(frame, _inverse_inertia(frame, mobility), above, old)
        change = frame.wrench([a - b for a, b in zip(new, old, strict=True)])
        twist, total = twist + twist_of(mobility, change), total + change
        found.append(new)
    return found, total


def _inverse_inertia(frame: ContactFrame, mobility: Dense) -> list[list[Scalar]]:
    """The velocities along the axes of a point per unit impulse along each; rows."""
    size = len(frame.nothing)
    units = [[1.0 if i == k else 0.0 for i in range(size)] for k in range(size)]
    columns = [frame.along(twist_of(mobility, frame.wrench(unit))) for unit in units]
    columns[0][0] = columns[0][0] + frame.softness
    return [list(row) for row in zip(*columns, strict=True)]


def _own_impulse(frame: ContactFrame, W: list[list[Scalar]], above: Scalars, old: Scalars) -> list[Scalar]:
    """The impulse with which the point is apart, sticks or slides by its law."""
    free = [a - dot(row, old) for a, row in zip(above, W, strict=True)]
    firm = [
        [entry + tuned.SINGULAR * frame.size if i == j else entry for j, entry in enumerate(row)] for i, row in enumerate(W)
    ]
    held = Dense.of(firm).factored().solve([-part for part in free])
    allowed = frame.onto_laws(held)
    off = reduce(maximum, (absolute(a - b) for a, b in zip(held, allowed, strict=True)), 0.0)

    def slid(_: Any, now: Any) -> Any:
        rates = [a + dot(row, now) for a, row in zip(free, W, strict=True)]
        return frame.onto_laws([a - rate * m for a, rate, m in zip(now, rates, frame.masses, strict=True)]), None

    sliding, _ = loop(tuned.PROJECTIONS, slid, list(old), varies=True)
    sticks = off <= tuned.ROUNDING * maximum(held[0], 0.0)
    pressed = [select(sticks, a, b) for a, b in zip(allowed, sliding, strict=True)]
    return [select(free[0] >= 0.0, 0.0, part) for part in pressed]
