"""The impulses that give points the wanted velocities: least squares if they contradict, least norm if not unique.

The matrix J H⁻¹ Jᵀ of the points, which has at most rank 5 for two points of a body, is never formed. Its pseudo-inverse is
applied by iterated Tikhonov regularisation: factors of H + Jᵀ R J, which has the sparsity of H, with a large R, equal for all
points; each sweep leaves 1/STIFF of the error. Loops stay closed: they are a hundred times as stiff, and have multipliers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...contact.impulse.frames import ContactFrame
from ...contact.impulse.jacobians import NO_STIFFNESS, along, frozen
from ...contact.impulse.newton import felt_stiffness
from ...contact.impulse.problem import LoopEquation, Problem
from ...scalar import Scalar, Scalars, is_zero, loop
from ...spatial import Dense, Force, Motion, SparseFactors

#: The stiffness R of points, relative to that of their surroundings.
STIFF = 1e5
#: The number of sweeps; if loops prevent the wanted velocities, each sweep leaves a considerable part of the error.
SWEEPS, SWEEPS_WITH_LOOPS = 8, 20


def assumed_impulses(
    given: Problem,
    inside: Sequence[Scalars],
    wanted: Sequence[Sequence[Scalars]],
    free: Scalars,
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
    factors = given.stiffened(
        [
            patch.if_near(_stiffened, patch.frames, R, otherwise=NO_STIFFNESS)
            for patch, R in zip(given.patches, strengths, strict=True)
        ]
    )
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
        return (
            x,
            [old - equation.stiffness * along(equation.row, x) for equation, old in zip(rigid, loops, strict=True)],
        ), None

    return loop(
        SWEEPS_WITH_LOOPS if rigid else SWEEPS, sweep, ([0.0 for _ in given.v_free], [0.0 for _ in rigid]), varies=True
    )[0][0]


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
