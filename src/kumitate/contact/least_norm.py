"""Which impulses give points the velocities wanted of them: least squares where those contradict, least norm where open.

The points' matrix J H⁻¹ Jᵀ, of rank 5 at most for two points of a body, is never formed: its pseudo-inverse comes from factors
of H + Jᵀ R J, with the sparsity of H, R being large and alike for all points, by sweeps that each leave 1/STIFF of the error
(Tikhonov's method, iterated). Loops stay closed in all of it: they are held a hundred times as stiffly, and by multipliers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..scalar import Scalar, is_zero, loop, when
from ..scalar.reuse import call_shared
from ..spatial import Force, Motion, SparseFactors
from .columns import NO_STIFFNESS, Rows, frozen
from .meetings import Spot
from .newton import felt_stiffness
from .problem import Held, Problem

__all__ = ["least_norm"]

#: How much stiffer points are held than their surroundings are.
STIFF = 1e5
#: How often what is missing is solved for; with loops that stand against what is wanted, each leaves a good part of the error.
SWEEPS, SWEEPS_WITH_LOOPS = 8, 20


def least_norm(
    given: Problem,
    inside: Sequence[Sequence[Scalar]],
    wanted: Sequence[Sequence[Sequence[Scalar]]],
    free: Sequence[Scalar],
) -> list[list[list[Scalar]]]:
    """Impulses (normal, tangent, tangent) of all points [N·s] that change the velocities of those inside to the wanted ones.

    Of all that miss them by the least sum of squares, the impulses with the least sum of squares.

    Args:
        inside: 1 for every point that may push, else 0; wanted: velocities along the points' axes [m/s]; both by meetings.
        free: velocities (nv) without these impulses, the loops closed.
    """
    most = STIFF / min(meeting.size for meeting in given.meetings)
    strengths = [tuple(most * one for one in of_points) for of_points in inside]
    factors = given.stiffened(
        [
            when(meeting.near, partial(call_shared, _stiffened, meeting.spots, R, name="stiffened"), NO_STIFFNESS)
            for meeting, R in zip(given.meetings, strengths, strict=True)
        ]
    )
    nothing = [[[0.0, 0.0, 0.0] for _ in meeting.points] for meeting in given.meetings]

    def drawn(v: Sequence[Scalar], aims: Sequence[Sequence[Sequence[Scalar]]]) -> list[Scalar]:
        """Jᵀ R (aims − J v)."""
        twists = given.columns.twists(v)
        wrenches = []
        for meeting, R, aim in zip(given.meetings, strengths, aims, strict=True):
            state = (meeting.spots, R, frozen(aim), meeting.twist(given.columns, twists))
            wrenches.append(when(meeting.near, partial(call_shared, _drawn, *state, name="drawn"), Force()))
        return given.efforts(wrenches, [0.0 for _ in given.held])

    # the change that comes nearest to the wanted velocities, with the least kinetic energy; then H y = Jᵀ λ with λ = R J w
    y = _swept(given, factors, lambda y: drawn([a + b for a, b in zip(free, y, strict=True)], wanted))
    momenta = _momenta(given, y)
    w = _swept(given, factors, lambda w: [a + b for a, b in zip(momenta, drawn(w, nothing), strict=True)])
    twists, found = given.columns.twists(w), []
    for meeting, R, none in zip(given.meetings, strengths, nothing, strict=True):
        state = (meeting.spots, R, meeting.twist(given.columns, twists))
        found.append(when(meeting.near, partial(call_shared, _impulses, *state, name="impulses"), none))
    return found


def _swept(given: Problem, factors: SparseFactors, lack: Callable[[Sequence[Scalar]], Sequence[Scalar]]) -> list[Scalar]:
    """x (nv) with lack(x) + Gᵀ η = 0 and G x = 0 for the rigid equations G of loops, whatever their impulses η."""
    rigid = [equation for equation in given.held if not _soft(equation)]

    def sweep(_: Any, now: Any) -> Any:
        x, held = now
        total = list(lack(x))
        for equation, impulse in zip(rigid, held, strict=True):
            for i, value in equation.push.items():
                total[i] = total[i] + value * (impulse - equation.stiffness * _along(equation, x))
        x = [a + b for a, b in zip(x, factors.solve(total), strict=True)]
        return (x, [old - equation.stiffness * _along(equation, x) for equation, old in zip(rigid, held, strict=True)]), None

    return loop(
        SWEEPS_WITH_LOOPS if rigid else SWEEPS, sweep, ([0.0 for _ in given.v_free], [0.0 for _ in rigid]), varies=True
    )[0][0]


def _momenta(given: Problem, x: Sequence[Scalar]) -> list[Scalar]:
    """H x, what stands for inertia along loop joints included."""
    total = [sum((value * x[j] for j, value in row.items()), 0.0) for _, row in sorted(given.M.items())]
    for equation in given.held:
        if _soft(equation):
            for i, value in equation.push.items():
                total[i] = total[i] + value * equation.stiffness * _along(equation, x)
    return total


def _along(equation: Held, x: Sequence[Scalar]) -> Scalar:
    return sum((value * x[k] for k, value in equation.push.items()), 0.0)


def _soft(equation: Held) -> bool:
    """Whether it stands for inertia along a loop joint, and holds nothing."""
    return not is_zero(equation.softness)


def _stiffened(spots: Sequence[Spot], strengths: Sequence[Scalar]) -> Rows:
    return felt_stiffness(spots, [[[R, 0.0, 0.0], [0.0, R, 0.0], [0.0, 0.0, R]] for R in strengths])


def _drawn(spots: Sequence[Spot], strengths: Sequence[Scalar], aims: Any, twist: Motion) -> Force:
    """The wrench of what a meeting's velocities lack."""
    total = Force()
    for spot, R, aim in zip(spots, strengths, aims, strict=True):
        total = total + spot.wrench([R * (a - u) for a, u in zip(aim, spot.along(twist), strict=True)])
    return total


def _impulses(spots: Sequence[Spot], strengths: Sequence[Scalar], twist: Motion) -> list[list[Scalar]]:
    return [[R * u for u in spot.along(twist)] for spot, R in zip(spots, strengths, strict=True)]
