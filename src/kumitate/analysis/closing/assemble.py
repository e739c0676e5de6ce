"""Assembly of a mechanism: the nearest configuration that closes its loops, and velocities that keep them closed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from ...errors import InputError, ModelError
from ..loops import LoopEquations
from .approach import approached, other_starts, pseudo_inverse
from .branches import admitted
from .conflicts import conflict
from .nearest import nearest
from .newton import CLOSED, LEFT_OPEN, check_closed, gauss_newton, measure

#: An initial state with a smaller gap is closed silently; one with a larger gap is refused.
NEARLY = 1e-6
#: So many Gauss-Newton steps are made before bounded ones are tried.
_FEW = 50
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
        q = nearest(loops, start, _closed(loops, start, mask), mask)
        _, rate, J = loops.state(q, v)
        v = v - pseudo_inverse(J * mask, 0.0) @ rate
        v = admitted(loops, q, v).v if free is None else v
    return q, v


def _closed(loops: LoopEquations, q: np.ndarray, free: np.ndarray) -> np.ndarray:
    """A configuration that closes all loops: near q if possible, else from further away."""
    still, size = np.zeros(loops.mechanism.nv), loops.mechanism.tree.size

    def gap(at: np.ndarray) -> float:
        sizes = [item.size(size) for item in loops.gaps(at, still)]
        return max(sizes) if np.isfinite(sizes).all() else np.inf

    def led_near(start: np.ndarray) -> np.ndarray:
        return gauss_newton(loops, approached(loops, start, free), free)

    def ends() -> Iterator[Callable[[], np.ndarray]]:
        """Where further ways lead; narrow valleys are walked to their ends only where bounded steps fail."""
        yield partial(led_near, q)
        yield partial(gauss_newton, loops, q, free)
        for start in other_starts(loops, q, free):
            yield partial(led_near, start)

    best = gauss_newton(loops, q, free, _FEW)
    for end in ends():
        if gap(best) <= LEFT_OPEN * size:
            break
        with suppress(ModelError):  # no equations there
            best = min(best, end(), key=gap)
    check_closed(loops, best, lambda: conflict(loops, (best, q), free))
    return best


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
            f"{mechanism.name}: loop {worst.name!r} is open by {measure(worst)} at the initial q; coordinates must close all "
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
