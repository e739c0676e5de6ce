"""Gauss-Newton steps towards closed loops, damped where they do not reduce the gap."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...errors import ModelError
from ..loops import LoopEquations, LoopGap
from .approach import pseudo_inverse

#: Loops count as closed below this fraction of the mechanism's size.
CLOSED = 1e-12
#: Loops with a larger gap, as a fraction of the mechanism's size, are not closed.
LEFT_OPEN = 1e-9
_TRIES = 200
#: Longer steps [rad, m] say nothing of where they lead, and are damped.
_LONGEST = 2.0
#: A damped step must reduce the gap by this fraction at least.
_LITTLE = 1e-4
#: The perturbation of a start at which loops have no equations, as a fraction of the mechanism's size.
_ASIDE = 1e-2


def gauss_newton(loops: LoopEquations, q: np.ndarray, free: np.ndarray, tries: int = _TRIES) -> np.ndarray:
    """The end of damped Gauss-Newton steps from q, whether it is closed or not."""
    tree, damping = loops.mechanism.tree, 0.0
    try:
        error, J = loops.positions(q)
    except ModelError:  # the ends of a rod coincide: perturb in any direction
        aside = np.random.default_rng(0).normal(scale=_ASIDE * tree.size, size=tree.nv) * free
        q = loops.stepped(q, aside)
        error, J = loops.positions(q)
    gap = float(np.linalg.norm(error))
    for _ in range(tries):
        if gap == 0.0 or damping > 1e8:
            break
        step = -pseudo_inverse(J * free, damping) @ error
        if np.abs(step).max(initial=0.0) > _LONGEST:
            damping = max(4.0 * damping, 1e-6)
            continue
        there = loops.stepped(q, step)
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


def closed_near(loops: LoopEquations, q: np.ndarray, free: np.ndarray | None = None) -> np.ndarray:
    """A configuration near q that closes all loops, by Gauss-Newton steps, damped where they do not reduce the gap.

    Raises:
        ModelError: if the loops cannot be closed from there.
    """
    q = gauss_newton(loops, q, np.ones(loops.mechanism.nv) if free is None else free)
    check_closed(loops, q)
    return q


def check_closed(loops: LoopEquations, q: np.ndarray, why: Callable[[], str] = str) -> None:
    """Refuses a posture with open loops.

    Raises:
        ModelError: if a loop is open; it names the worst one and how near it came, and ends with what `why` says.
    """
    size = loops.mechanism.tree.size
    worst = max(loops.gaps(q, np.zeros(loops.mechanism.nv)), key=lambda gap: gap.size(size), default=None)
    if worst is not None and not worst.size(size) <= LEFT_OPEN * size:
        raise ModelError(
            f"{loops.mechanism.name}: loop {worst.name!r} cannot be closed from there: {measure(worst)} are left. Start "
            f"nearer to a closed posture, or check the lengths and axes of the bodies that the loop runs through{why()}"
        )


def measure(gap: LoopGap) -> str:
    """A gap in words."""
    return f"{gap.distance:.6g} m and {gap.angle:.6g} rad"
