"""Assembly of a mechanism: the nearest configuration that closes its loops, and velocities that keep them closed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ...errors import InputError, ModelError
from ...kinematics import difference
from ..loops import LoopEquations, LoopGap
from .approach import approached, other_starts, pseudo_inverse
from .branches import admitted
from .conflicts import conflict
from .newton import CLOSED, gauss_newton

__all__ = ["CLOSED", "NEARLY", "assemble", "closed_near", "closed_state"]

#: An initial state with a smaller gap is closed silently; one with a larger gap is refused.
NEARLY = 1e-6
_TRIES = 200
#: Steps with the same inverse before a new one is computed.
_CHORDS = 20
#: How many steps towards the nearest configuration are remembered, and what of their differences is resolved.
_REMEMBERED, _RESOLVED = 6, 1e-6
#: Longer ones [rad, m] turn from step to step, so that only the last two tell where they lead.
_STRAIGHT = 0.05
#: The gap that is left on the way after long steps, as the next step closes it too, as a part of the square of a step.
_ON_THE_WAY = 1e-2
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
    q = gauss_newton(loops, q, np.ones(loops.mechanism.nv) if free is None else free)
    _check_closed(loops, loops.gaps(q, np.zeros(loops.mechanism.nv)))
    return q


def _closed(loops: LoopEquations, q: np.ndarray, free: np.ndarray) -> np.ndarray:
    """A configuration that closes all loops: near q if possible, else from further away."""
    still, size = np.zeros(loops.mechanism.nv), loops.mechanism.tree.size

    def gap(at: np.ndarray) -> float:
        sizes = [item.size(size) for item in loops.gaps(at, still)]
        return max(sizes) if np.isfinite(sizes).all() else np.inf

    nearest = gauss_newton(loops, q, free)
    for start in (q, *other_starts(loops, q, free)):
        if gap(nearest) <= _LEFT * size:
            break
        with suppress(ModelError):  # no equations there
            found = gauss_newton(loops, approached(loops, start, free), free)
            nearest = min(nearest, found, key=gap)
    _check_closed(loops, loops.gaps(nearest, still), lambda: conflict(loops, (nearest, q), free))
    return nearest


def _nearest(loops: LoopEquations, start: np.ndarray, q: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Slides along the closed configurations from q until the difference from `start` is normal to them.

    Steps on a curved surface shorten by nearly constant factors; some of them tell where they lead (D. G. Anderson, Iterative
    procedures for nonlinear integral equations, J. ACM 12, 1965, with a few steps remembered).
    """
    place = _place(loops, start, q, free)
    before: list[_Place] = []
    for _ in range(_TRIES):
        if np.abs(place.step).max(initial=0.0) <= 1e-12 * (1.0 + np.abs(place.q).max(initial=0.0)):
            break
        there = _slid(loops, place, _further(before, place) if before else place.step, free)
        found = None if there is None else _place(loops, start, there, free)
        if found is not None and np.linalg.norm(found.away) <= np.linalg.norm(place.away) * (1.0 + 1e-12):
            straight = np.abs(found.step).max(initial=0.0) < _STRAIGHT
            before, place = [*before, place][-_REMEMBERED if straight else -1 :], found
        elif not before:  # the slide went beyond the end of the closed configurations, or rounding is all that is left
            break
        else:
            before = []
    gap = float(np.abs(loops.positions(place.q)[0]).max(initial=0.0))
    return place.q if gap <= CLOSED * loops.mechanism.tree.size else closed_near(loops, place.q, free)


class _Place(NamedTuple):
    """A closed configuration on the way to the nearest one.

    Attributes:
        q: (nq); `away`: its difference from the start (nv); `step`: that makes this difference normal.
        inverse: J⁺ (nv, rows).
    """

    q: np.ndarray
    away: np.ndarray
    step: np.ndarray
    inverse: np.ndarray


def _place(loops: LoopEquations, start: np.ndarray, q: np.ndarray, free: np.ndarray) -> _Place:
    error, J = loops.positions(q)
    away = np.array(difference(loops.mechanism.tree, start.tolist(), q.tolist())) * free
    inverse = pseudo_inverse(J * free, 0.0)
    return _Place(q, away, (inverse @ (J @ away - error) - away) * free, inverse)


def _further(before: list[_Place], place: _Place) -> np.ndarray:
    """The step to where the last ones lead together."""
    bends = np.stack([place.step - other.step for other in before], axis=1)
    moves = np.stack([place.away - other.away for other in before], axis=1)
    shares = np.linalg.lstsq(bends, place.step, rcond=_RESOLVED)[0]
    return np.asarray(place.step - (moves + bends) @ shares)


def _slid(loops: LoopEquations, place: _Place, step: np.ndarray, free: np.ndarray) -> np.ndarray | None:
    """The closed configuration beside a step; None if there is none."""
    tree, last = loops.mechanism.tree, np.inf
    longest = float(np.abs(step).max(initial=0.0))
    enough = max(0.1 * CLOSED * tree.size, _ON_THE_WAY * longest**2 if longest > _STRAIGHT else 0.0)
    with suppress(ModelError):
        there = loops.stepped(place.q, step)
        for _ in range(_CHORDS):  # with J⁺ of the last place, as long as that closes the loops quickly
            error, _ = loops.positions(there)
            gap = float(np.abs(error).max(initial=0.0))
            if gap <= enough:
                return there
            if gap > 0.7 * last:
                break
            there, last = loops.stepped(there, free * (place.inverse @ -error)), gap
        return closed_near(loops, there, free)
    return None


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


def _check_closed(loops: LoopEquations, gaps: list[LoopGap], why: Callable[[], str] = str) -> None:
    size = loops.mechanism.tree.size
    worst = max(gaps, key=lambda gap: gap.size(size), default=None)
    if worst is not None and not worst.size(size) <= _LEFT * size:
        raise ModelError(
            f"{loops.mechanism.name}: loop {worst.name!r} cannot be closed from there: {_measure(worst)} are left. Start "
            f"nearer to a closed posture, or check the lengths and axes of the bodies that the loop runs through{why()}"
        )


def _measure(gap: LoopGap) -> str:
    return f"{gap.distance:.6g} m and {gap.angle:.6g} rad"
