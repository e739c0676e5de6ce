"""One Newton step on all contact laws at once (Alart and Curnier 1991), regularised like the loops' equations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

from ..scalar import either, maximum, minimum, select, sqrt, when
from ..scalar.shared import reused
from ..spatial import Force, Motion
from .columns import Rows, frozen
from .cone import onto_cone
from .meetings import Spot
from .problem import STIFF, Impulses, Problem

__all__ = ["NO_STIFFNESS", "felt_stiffness", "newton"]

Scalar = Any

#: What is closed and at rest within rounding is taken to hold [m/s].
TIE = 1e-10
NO_STIFFNESS: Rows = [[0.0] * 6 for _ in range(6)]


@dataclass(frozen=True)
class Law:
    """A point's impulse near a guess, along its axes: λ' = base − K du."""

    base: list[Scalar]
    K: Rows

    def after(self, spot: Spot, du: Sequence[Scalar]) -> list[Scalar]:
        """The impulse, made one that can be, once the velocity has changed by du."""
        change = [sum((k * d for k, d in zip(row, du, strict=True)), 0.0) for row in self.K]
        return onto_cone([a - b for a, b in zip(self.base, change, strict=True)], spot.friction)


def newton(
    given: Problem, guess: Impulses, targets: Sequence[Sequence[Scalar]], *, holding: Scalar = 0.0, alike: Scalar = 1.0
) -> Impulses:
    """The impulses that would obey all laws if each point went on as it does now: apart, sticking, or sliding its way.

    M dv = Jᵀ(λ' − λ), λ' = base − K J dv: (M + JᵀKJ) dv = Jᵀ(base − λ). The sparsity is that of the mass matrix, but for loops
    and meetings of two moving links. Where a point slides, K is not symmetric: its friction follows its normal force.

    Args:
        holding: 1 to take all closed points for sticking ones: where sliding would press a point down without end, only
            sticking stops it (Painlevé's case).
        alike: 1 to hold all points of a meeting alike, so that what is undetermined has the least norm; 0 for each by its own
            size, which converges better where they slide and roll.
    """
    twists = given.columns.twists(guess.v)
    states, wrenches, stiffnesses = [], [], []
    for meeting, impulses, wanted in zip(given.meetings, guess.points, targets, strict=True):
        state = (meeting.spots, frozen(impulses), meeting.twist(given.columns, twists), tuple(wanted), holding, alike)
        wrench, K = when(meeting.near, partial(reused, _felt, *state, name="felt"), (Force(), NO_STIFFNESS))
        states.append(state)
        wrenches.append(wrench)
        stiffnesses.append(K)
    still = [0.0 for _ in given.held]  # the loops are closed: what opens them by dv they answer by their stiffness
    dv = given.stiffened(stiffnesses).solve(given.efforts(wrenches, still))

    turned = given.columns.twists(dv)
    points = []
    for meeting, state, impulses in zip(given.meetings, states, guess.points, strict=True):
        change = meeting.twist(given.columns, turned)
        points.append(when(meeting.near, partial(reused, _after, *state, change, name="after"), impulses))
    return given.after(points, guess.held)


def _laws(
    spots: Sequence[Spot],
    impulses: Sequence[Sequence[Scalar]],
    twist: Motion,
    targets: Sequence[Scalar],
    holding: Scalar,
    alike: Scalar,
) -> list[Law]:
    for_all = STIFF / reduce(minimum, (spot.size for spot in spots))
    return [
        _law(spot, impulse, spot.along(twist), target, select(alike > 0.5, for_all, STIFF / spot.size), holding)
        for spot, impulse, target in zip(spots, impulses, targets, strict=True)
    ]


def _felt(spots: Sequence[Spot], impulses: Sequence[Sequence[Scalar]], *state: Any) -> tuple[Force, Rows]:
    """By a meeting's laws, the wrench that its impulses lack, and their stiffness."""
    laws = _laws(spots, impulses, *state)
    total = Force()
    for spot, law, old in zip(spots, laws, impulses, strict=True):
        total = total + spot.wrench([a - b for a, b in zip(law.base, old, strict=True)])
    return total, felt_stiffness(spots, [law.K for law in laws])


def _after(spots: Sequence[Spot], *state: Any) -> list[list[Scalar]]:
    """A meeting's impulses once its twist has changed by the last of `state`."""
    *now, change = state
    return [law.after(spot, spot.along(change)) for spot, law in zip(spots, _laws(spots, *now), strict=True)]


def _law(spot: Spot, impulse: Sequence[Scalar], u: Sequence[Scalar], target: Scalar, stiff: Scalar, holding: Scalar) -> Law:
    mu, inverse = spot.friction, 1.0 / spot.size
    lack = u[0] - target
    x, y = impulse[1] - u[1] * inverse, impulse[2] - u[2] * inverse
    aim = impulse[0] - lack * inverse
    closed = aim >= -TIE * inverse
    length = sqrt(maximum(x * x + y * y, 1e-300))
    sticks = either(length <= mu * maximum(aim, 0.0) + TIE * inverse, holding > 0.5)
    R = select(closed, stiff, 0.0)
    holds, slides = select(sticks, R, 0.0), select(sticks, 0.0, R)
    dx, dy = x / length, y / length
    normal = impulse[0] - stiff * lack
    # sliding, the force keeps its size and turns with the velocity: stiff across, the more so the slower it slides
    kept = mu * maximum(impulse[0], 0.0) / length
    across = minimum(kept / maximum(1.0 - kept, 1.0 / STIFF), STIFF) * inverse
    turns = select(sticks, 0.0, select(closed, across, 0.0))
    K = [
        [R, 0.0, 0.0],
        [mu * dx * slides, holds + turns * (dy * dy), -turns * (dx * dy)],
        [mu * dy * slides, -turns * (dx * dy), holds + turns * (dx * dx)],
    ]
    base = [
        select(closed, normal, 0.0),
        select(closed, select(sticks, impulse[1] - stiff * u[1], mu * dx * normal), 0.0),
        select(closed, select(sticks, impulse[2] - stiff * u[2], mu * dy * normal), 0.0),
    ]
    return Law(base, K)


def felt_stiffness(spots: Sequence[Spot], of_points: Sequence[Rows]) -> Rows:
    """The points' K (3×3, along their axes) as one 6×6 matrix: the wrench of a meeting against its twist."""
    columns: Rows = [[0.0] * 6 for _ in range(6)]
    for spot, K in zip(spots, of_points, strict=True):
        for k in range(6):
            du = spot.along(Motion.of([1.0 if i == k else 0.0 for i in range(6)]))
            wrench = spot.wrench([sum((a * d for a, d in zip(row, du, strict=True)), 0.0) for row in K])
            columns[k] = [a + b for a, b in zip(columns[k], wrench, strict=True)]
    return [[columns[j][i] for j in range(6)] for i in range(6)]
