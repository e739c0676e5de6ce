"""Assembly of a mechanism: the nearest configuration that closes its loops, and velocities that keep them closed."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from ...errors import InputError, ModelError
from ...kinematics import difference, integrate
from ..loops import LoopEquations, LoopGap
from .approach import approached, other_starts, pseudo_inverse
from .branches import admitted

__all__ = ["CLOSED", "NEARLY", "assemble", "closed_near", "closed_state"]

#: Loops count as closed below this fraction of the mechanism's size.
CLOSED = 1e-12
#: An initial state with a smaller gap is closed silently; one with a larger gap is refused.
NEARLY = 1e-6
_TRIES = 200
#: Longer steps [rad, m] say nothing of where they lead, and are damped.
_LONGEST = 2.0
#: A damped step must reduce the gap by this fraction at least.
_LITTLE = 1e-4
#: The perturbation of a start at which loops have no equations, as a fraction of the mechanism's size.
_ASIDE = 1e-2
#: Loops with a larger gap, as a fraction of the mechanism's size, are not closed.
_LEFT = 1e-9
#: An initial velocity is refused if closing the loops changes it by more than this fraction.
_SAME = 1e-3


def assemble(loops: LoopEquations, q: Any, v: Any = None, *, free: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The configuration nearest to q that closes all loops, and the velocity nearest to v that keeps them closed.

    Nearest in the sense of least squares over the joints' coordinates (rad and m alike). It uses Gauss-Newton steps, damped
    where they do not reduce the gap; the last steps slide along the closed configurations towards q. Where these do not close
    the loops, bounded steps lead nearer first, from q and then from other postures (`approach`). Where loops have lost rank,
    the velocity is that of a branch through the configuration (`branches.admitted`).

    Args:
        loops: the mechanism's equations.
        q: approximate coordinates (nq); v: velocities (nv), zero by default.
        free: which of the velocities (nv) may change; all by default.

    Raises:
        ModelError: if the loops cannot be closed; it names the loop with the largest gap, and how near it came.
    """
    start = np.asarray(q, dtype=float)
    v = np.zeros(loops.mechanism.nv) if v is None else np.asarray(v, dtype=float)
    mask = np.ones(loops.mechanism.nv) if free is None else np.asarray(free, dtype=float)
    q = start
    if loops.names:
        q = _nearest(loops, start, _closed(loops, start, mask), mask)
        _, rate, J = loops.state(q, v)
        v = v - pseudo_inverse(J * mask, 0.0) @ rate
        v = admitted(loops, q, v).v if free is None else v
    return q, v


def closed_near(loops: LoopEquations, q: np.ndarray, free: np.ndarray | None = None) -> np.ndarray:
    """A configuration near q that closes all loops, by Gauss-Newton steps, damped where they do not reduce the gap.

    Raises:
        ModelError: if the loops cannot be closed from there.
    """
    q = _gauss_newton(loops, q, np.ones(loops.mechanism.nv) if free is None else free)
    _check_closed(loops, loops.gaps(q, np.zeros(loops.mechanism.nv)))
    return q


def _closed(loops: LoopEquations, q: np.ndarray, free: np.ndarray) -> np.ndarray:
    """A configuration that closes all loops: near q if possible, else from further away."""
    still, size = np.zeros(loops.mechanism.nv), loops.mechanism.tree.size

    def gap(at: np.ndarray) -> float:
        sizes = [item.size(size) for item in loops.gaps(at, still)]
        return max(sizes) if np.isfinite(sizes).all() else np.inf

    nearest = _gauss_newton(loops, q, free)
    for start in (q, *other_starts(loops, q, free)):
        if gap(nearest) <= _LEFT * size:
            break
        with suppress(ModelError):  # no equations there
            found = _gauss_newton(loops, approached(loops, start, free), free)
            nearest = min(nearest, found, key=gap)
    _check_closed(loops, loops.gaps(nearest, still))
    return nearest


def _gauss_newton(loops: LoopEquations, q: np.ndarray, free: np.ndarray) -> np.ndarray:
    """The end of damped Gauss-Newton steps from q, whether it is closed or not."""
    tree, damping = loops.mechanism.tree, 0.0
    try:
        error, J = loops.positions(q)
    except ModelError:  # the ends of a rod coincide: perturb in any direction
        aside = np.random.default_rng(0).normal(scale=_ASIDE * tree.size, size=tree.nv) * free
        q = np.array(integrate(tree, list(q), aside.tolist()))
        error, J = loops.positions(q)
    gap = float(np.linalg.norm(error))
    for _ in range(_TRIES):
        if gap == 0.0 or damping > 1e8:
            break
        step = -pseudo_inverse(J * free, damping) @ error
        if np.abs(step).max(initial=0.0) > _LONGEST:
            damping = max(4.0 * damping, 1e-6)
            continue
        there = np.array(integrate(tree, list(q), list(step)))
        try:
            error_there, J_there = loops.positions(there)
        except ModelError:  # a frame turned by 180°
            damping = max(4.0 * damping, 1e-3)
            continue
        gap_there = float(np.linalg.norm(error_there))
        # narrow valleys, where the equations nearly lose rank, are walked down by small steps that do what they promise
        promised = gap - float(np.linalg.norm(error + J @ (free * step)))
        if gap_there <= 0.9 * gap or (damping > 0.0 and gap - gap_there > max(0.5 * promised, _LITTLE * gap)):
            q, error, J, gap, damping = there, error_there, J_there, gap_there, 0.25 * damping if damping > 1e-6 else 0.0
        elif gap <= CLOSED * tree.size:  # as near as rounding allows, which is limited near a singular posture
            break
        else:
            damping = max(4.0 * damping, 1e-3)
    return q


def _nearest(loops: LoopEquations, start: np.ndarray, q: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Slides along the closed configurations from q until the difference from `start` is normal to them."""
    tree = loops.mechanism.tree
    error, J = loops.positions(q)
    away = np.array(difference(tree, list(start), list(q))) * free
    for _ in range(_TRIES):
        inverse = pseudo_inverse(J * free, 0.0)
        step = (inverse @ (J @ away - error) - away) * free
        if np.abs(step).max(initial=0.0) <= 1e-12 * (1.0 + np.abs(q).max(initial=0.0)):
            break
        try:
            there = closed_near(loops, np.array(integrate(tree, list(q), list(step))), free)
        except ModelError:  # the slide went beyond the end of the closed configurations
            break
        away_there = np.array(difference(tree, list(start), list(there))) * free
        if np.linalg.norm(away_there) > np.linalg.norm(away) * (1.0 + 1e-12):
            break
        q, away = there, away_there
        error, J = loops.positions(q)
    return q


def closed_state(loops: LoopEquations, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The initial state of a simulation without rounding errors: nearly closed loops are closed.

    Raises:
        InputError: if a loop is open, or opens, by more than rounding explains; it names the worst one and suggests `assemble`.
            Also if loops have lost rank and the velocity is not that of any motion through the posture; it gives the nearest.
        ModelError: if the loops have no equations there.
    """
    mechanism = loops.mechanism
    if not loops.names:
        return q, v
    size = mechanism.tree.size
    gaps = loops.gaps(q, v)
    if not np.isfinite([gap.size(size) for gap in gaps]).all():
        loops.state(q, v)  # says that there are no equations
    worst = max(gaps, key=lambda gap: gap.size(size))
    if worst.size(size) > NEARLY * size:
        raise InputError(
            f"{mechanism.name}: loop {worst.name!r} is open by {_measure(worst)} at the initial q; coordinates must close all "
            "loops. Use `robot.assemble(q)`, which gives the nearest that do"
        )
    fastest = max(gaps, key=lambda gap: gap.rate(size))
    if fastest.rate(size) > NEARLY * size * (1.0 + np.abs(v).max(initial=0.0)):
        raise InputError(
            f"{mechanism.name}: loop {fastest.name!r} opens at {fastest.speed:.3g} m/s and {fastest.turning:.3g} rad/s with "
            "the initial v; velocities must keep all loops closed. Use `robot.assemble(q, v)`, which gives the nearest that do"
        )
    if worst.size(size) <= CLOSED * size and fastest.rate(size) <= CLOSED * size and not v.any():
        return q, v
    closed_q, closed_v = assemble(loops, q, v)
    if not np.abs(closed_v - v).max(initial=0.0) <= _SAME * np.abs(v).max(initial=0.0) + NEARLY:
        owners = admitted(loops, q, v).owners or tuple(loops.names)
        lost = f"loop {owners[0]!r} loses" if len(owners) == 1 else f"loops {', '.join(map(repr, owners))} lose"
        nearest = ", ".join(f"{rate:.6g}" for rate in closed_v)
        raise InputError(
            f"{mechanism.name}: the initial v is not the velocity of any motion through the initial q, where {lost} rank, or "
            "nearly so: no acceleration would keep the loops closed. Velocities must be those of a branch; the nearest are "
            f"v = [{nearest}], which `robot.assemble(q, v)` gives"
        )
    return closed_q, closed_v


def _check_closed(loops: LoopEquations, gaps: list[LoopGap]) -> None:
    size = loops.mechanism.tree.size
    worst = max(gaps, key=lambda gap: gap.size(size), default=None)
    if worst is not None and not worst.size(size) <= _LEFT * size:
        raise ModelError(
            f"{loops.mechanism.name}: loop {worst.name!r} cannot be closed from there: {_measure(worst)} are left. Start "
            "nearer to a closed posture, or check the lengths and axes of the bodies that the loop runs through"
        )


def _measure(gap: LoopGap) -> str:
    return f"{gap.distance:.6g} m and {gap.angle:.6g} rad"
