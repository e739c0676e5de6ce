"""Which impulses give points the velocities wanted of them: least squares where those contradict, least norm where open.

The points' matrix J H⁻¹ Jᵀ, of rank 5 at most for two points of a body, is never formed: its pseudo-inverse comes from factors
of H + Jᵀ R J, with the sparsity of H, R being large and alike for all points, by sweeps that each leave 1/STIFF of the error
(Tikhonov's method, iterated). Loops stay closed in all of it: they are held a hundred times as stiffly, and by multipliers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...scalar import Scalar, is_zero, loop
from ...spatial import Dense, Force, Motion, SparseFactors
from .contact_points import ContactFrame
from .jacobians import NO_STIFFNESS, along, frozen
from .newton import felt_stiffness
from .problem import LoopEquation, Problem

__all__ = ["assumed_impulses"]

#: How much stiffer points are held than their surroundings are.
STIFF = 1e5
#: How often what is missing is solved for; with loops that stand against what is wanted, each leaves a good part of the error.
SWEEPS, SWEEPS_WITH_LOOPS = 8, 20


def assumed_impulses(
    given: Problem,
    inside: Sequence[Sequence[Scalar]],
    wanted: Sequence[Sequence[Sequence[Scalar]]],
    free: Sequence[Scalar],
) -> list[list[list[Scalar]]]:
    """Impulses (normal, tangent, tangent) of all points [N·s] that change the velocities of those inside to the wanted ones.

    Of all that miss them by the least sum of squares, the impulses with the least sum of squares.

    Args:
        inside: 1 for every point that may push, else 0; wanted: velocities along the points' axes [m/s]; both per patch.
        free: velocities (nv) without these impulses, the loops closed.
    """
    most = STIFF / min(patch.size for patch in given.patches)
    strengths = [tuple(most * one for one in of_points) for of_points in inside]
    factors = given.stiffened(
        [
            patch.if_near(_stiffened, patch.frames, R, otherwise=NO_STIFFNESS)
            for patch, R in zip(given.patches, strengths, strict=True)
        ]
    )
    nothing = [[[0.0, 0.0, 0.0] for _ in patch.points] for patch in given.patches]

    def drawn(v: Sequence[Scalar], aims: Sequence[Sequence[Sequence[Scalar]]]) -> list[Scalar]:
        """Jᵀ R (aims − J v)."""
        twists = given.jacobians.twists(v)
        wrenches = []
        for patch, R, aim in zip(given.patches, strengths, aims, strict=True):
            state = (patch.frames, R, frozen(aim), patch.twist(given.jacobians, twists))
            wrenches.append(patch.if_near(_drawn, *state, otherwise=Force()))
        return given.efforts(wrenches, [0.0 for _ in given.loops])

    # the change that comes nearest to the wanted velocities, with the least kinetic energy; then H y = Jᵀ λ with λ = R J w
    y = _swept(given, factors, lambda y: drawn([a + b for a, b in zip(free, y, strict=True)], wanted))
    momenta = _momenta(given, y)
    w = _swept(given, factors, lambda w: [a + b for a, b in zip(momenta, drawn(w, nothing), strict=True)])
    twists, found = given.jacobians.twists(w), []
    for patch, R, none in zip(given.patches, strengths, nothing, strict=True):
        state = (patch.frames, R, patch.twist(given.jacobians, twists))
        found.append(patch.if_near(_impulses, *state, otherwise=none))
    return found


def _swept(given: Problem, factors: SparseFactors, lack: Callable[[Sequence[Scalar]], Sequence[Scalar]]) -> list[Scalar]:
    """x (nv) with lack(x) + Gᵀ η = 0 and G x = 0 for the rigid equations G of loops, whatever their impulses η."""
    rigid = [equation for equation in given.loops if not _soft(equation)]

    def sweep(_: Any, now: Any) -> Any:
        x, loops = now
        total = list(lack(x))
        for equation, impulse in zip(rigid, loops, strict=True):
            for i, value in equation.row.items():
                total[i] = total[i] + value * (impulse - equation.stiffness * along(equation.row, x))
        x = [a + b for a, b in zip(x, factors.solve(total), strict=True)]
        return (
            x,
            [old - equation.stiffness * along(equation.row, x) for equation, old in zip(rigid, loops, strict=True)],
        ), None

    return loop(
        SWEEPS_WITH_LOOPS if rigid else SWEEPS, sweep, ([0.0 for _ in given.v_free], [0.0 for _ in rigid]), varies=True
    )[0][0]


def _momenta(given: Problem, x: Sequence[Scalar]) -> list[Scalar]:
    """H x, what stands for inertia along loop joints included."""
    total = [along(row, x) for _, row in sorted(given.M.items())]
    for equation in given.loops:
        if _soft(equation):
            for i, value in equation.row.items():
                total[i] = total[i] + value * equation.stiffness * along(equation.row, x)
    return total


def _soft(equation: LoopEquation) -> bool:
    """Whether it stands for inertia along a loop joint, and holds nothing."""
    return not is_zero(equation.softness)


def _stiffened(frames: Sequence[ContactFrame], strengths: Sequence[Scalar]) -> Dense:
    return felt_stiffness(frames, [Dense.diagonal([R] * 3) for R in strengths])


def _drawn(frames: Sequence[ContactFrame], strengths: Sequence[Scalar], aims: Any, twist: Motion) -> Force:
    """The wrench of what a patch's velocities lack."""
    total = Force()
    for frame, R, aim in zip(frames, strengths, aims, strict=True):
        total = total + frame.wrench([R * (a - u) for a, u in zip(aim, frame.along(twist), strict=True)])
    return total


def _impulses(frames: Sequence[ContactFrame], strengths: Sequence[Scalar], twist: Motion) -> list[list[Scalar]]:
    return [[R * u for u in frame.along(twist)] for frame, R in zip(frames, strengths, strict=True)]
