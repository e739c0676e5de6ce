"""Rigid contact by the method of Sugihara and Nakamura: impulses for assumed velocities, then corrected for friction (S 3).

The matrix J H⁻¹ Jᵀ of the points, which has at most rank 5 for two points of a body, is never formed. Its pseudo-inverse is
applied by iterated Tikhonov regularisation: factors of H + Jᵀ R J, which has the sparsity of H, with a large R, equal for all
points; each sweep leaves 1/STIFF of the error. Loops stay closed: they are a hundred times as stiff, and have multipliers.

Equations and steps are numbered as in their paper, section 3. Differences, where it is incomplete or does not work as printed:

- A gap is closed exactly, and overlap is corrected as with `rigid`; the printed target, −e v (11), does not correct either.
  Weight also acts on the rebound: without this a ball would gain g h in every bounce.
- ε of (25) is 1e-4 m/s; slower points are held at rest.
- Kinetic friction (27) that would reverse the sliding of a point within the step holds the point at rest instead: as printed,
  a block never stops, but oscillates by μ g h.
- (19) selects independent equations by counting points; this is not needed here, see `assumed_impulses`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import Any

from ..contact.impulse.contact_points import ContactPatch, ContactPoint
from ..contact.impulse.frames import ContactFrame
from ..contact.impulse.jacobians import NO_STIFFNESS, along, frozen
from ..contact.impulse.newton import felt_stiffness
from ..contact.impulse.problem import Impulses, LoopEquation, Problem, Solved
from ..contact.laws import AT_REST
from ..scalar import Scalar, Scalars, absolute, both, either, is_zero, loop, maximum, select, sqrt, when
from ..spatial import Dense, Force, Motion, SparseFactors

#: The stiffness R of points, relative to that of their surroundings.
STIFF = 1e5
#: The number of sweeps; if loops prevent the wanted velocities, each sweep leaves a considerable part of the error.
SWEEPS, SWEEPS_WITH_LOOPS = 8, 20


def assumed_impulses(
    given: Problem, inside: Sequence[Scalars], wanted: Sequence[Sequence[Scalars]], free: Scalars
) -> list[list[list[Scalar]]]:
    """Impulses (normal, tangent, tangent) of all points [N·s] that give the points inside the wanted velocities.

    Among the least-squares solutions, those with the least sum of squared impulses.

    Args:
        inside: 1 for every point that may exert an impulse, else 0; wanted: velocities along the points' axes [m/s]; both
            per patch.
        free: velocities (nv) without these impulses, the loops closed.
    """
    most = STIFF / min(patch.size for patch in given.patches)
    strengths = [tuple(most * one for one in of_points) for of_points in inside]
    pairs = zip(given.patches, strengths, strict=True)
    factors = given.stiffened([patch.if_near(_stiffened, patch.frames, R, otherwise=NO_STIFFNESS) for patch, R in pairs])
    nothing = [[[0.0, 0.0, 0.0] for _ in patch.points] for patch in given.patches]

    def drawn(v: Scalars, aims: Sequence[Sequence[Scalars]]) -> list[Scalar]:
        """Jᵀ R (aims − J v)."""
        twists = given.jacobians.twists(v)
        wrenches = []
        for patch, R, aim in zip(given.patches, strengths, aims, strict=True):
            state = (patch.frames, R, frozen(aim), patch.twist(given.jacobians, twists))
            wrenches.append(patch.if_near(_drawn, *state, otherwise=Force()))
        return given.efforts(wrenches, [0.0 for _ in given.loops])

    # the change y closest to the wanted velocities, with the least kinetic energy; then H y = Jᵀ λ with λ = R J w
    y = _swept(given, factors, lambda y: drawn([a + b for a, b in zip(free, y, strict=True)], wanted))
    momenta = _momenta(given, y)
    w = _swept(given, factors, lambda w: [a + b for a, b in zip(momenta, drawn(w, nothing), strict=True)])
    twists, found = given.jacobians.twists(w), []
    for patch, R, none in zip(given.patches, strengths, nothing, strict=True):
        state = (patch.frames, R, patch.twist(given.jacobians, twists))
        found.append(patch.if_near(_impulses, *state, otherwise=none))
    return found


def _swept(given: Problem, factors: SparseFactors, lack: Callable[[Scalars], Scalars]) -> list[Scalar]:
    """The x (nv) with lack(x) + Gᵀ η = 0 and G x = 0, where G are the rigid loop equations and η their impulses."""
    rigid = [equation for equation in given.loops if not _soft(equation)]

    def sweep(_: Any, now: Any) -> Any:
        x, loops = now
        total = list(lack(x))
        for equation, impulse in zip(rigid, loops, strict=True):
            for i, value in equation.row.items():
                total[i] = total[i] + value * (impulse - equation.stiffness * along(equation.row, x))
        x = [a + b for a, b in zip(x, factors.solve(total), strict=True)]
        held = [old - equation.stiffness * along(equation.row, x) for equation, old in zip(rigid, loops, strict=True)]
        return (x, held), None

    start = [0.0 for _ in given.v_free], [0.0 for _ in rigid]
    return loop(SWEEPS_WITH_LOOPS if rigid else SWEEPS, sweep, start, varies=True)[0][0]


def _momenta(given: Problem, x: Scalars) -> list[Scalar]:
    """H x, including the inertia along loop joints."""
    total = [along(row, x) for _, row in sorted(given.M.items())]
    for equation in given.loops:
        if _soft(equation):
            for i, value in equation.row.items():
                total[i] = total[i] + value * equation.stiffness * along(equation.row, x)
    return total


def _soft(equation: LoopEquation) -> bool:
    """Whether it represents inertia along a loop joint rather than a constraint."""
    return not is_zero(equation.softness)


def _stiffened(frames: Sequence[ContactFrame], strengths: Scalars) -> Dense:
    return felt_stiffness(frames, [Dense.diagonal([R] * 3) for R in strengths])


def _drawn(frames: Sequence[ContactFrame], strengths: Scalars, aims: Any, twist: Motion) -> Force:
    """The wrench of a patch's missing velocities."""
    total = Force()
    for frame, R, aim in zip(frames, strengths, aims, strict=True):
        total = total + frame.wrench([R * (a - u) for a, u in zip(aim, frame.along(twist), strict=True)])
    return total


def _impulses(frames: Sequence[ContactFrame], strengths: Scalars, twist: Motion) -> list[list[Scalar]]:
    return [[R * u for u in frame.along(twist)] for frame, R in zip(frames, strengths, strict=True)]


# --- the impulses of a step -----------------------------------------------------------------------------------------------
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
        least = NOTHING * _any(map(absolute, impulse) for of_points in assumed for impulse in of_points)
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
                twist, points = patch.twist(given.jacobians, twists), zip(patch.points, *of, strict=True)
                turned.append([_turned(point, point.frame.along(twist), *masks) for point, *masks in points])
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
    pairs = zip(tangent, point.velocity[1:], strict=True)
    against = [kinetic * select(rests > 0.5, part / size, -(u / speed)) for part, u in pairs]
    return [normal, *(select(sticks, part, rubbed) for part, rubbed in zip(tangent, against, strict=True))]


def _turned(point: ContactPoint, after: list[Scalar], inside: Scalar, rests: Scalar) -> Scalar:
    """Whether friction reversed the sliding of the point."""
    back = point.velocity[1] * after[1] + point.velocity[2] * after[2] < 0.0
    return select(both(inside > rests, back), 1.0, 0.0)


def _any(masks: Iterable[Iterable[Scalar]]) -> Scalar:
    return reduce(maximum, chain.from_iterable(masks), 0.0)


def _less(masks: list[list[Scalar]], others: list[list[Scalar]], sign: float) -> list[list[Scalar]]:
    return [[a - sign * b for a, b in zip(one, other, strict=True)] for one, other in zip(masks, others, strict=True)]
