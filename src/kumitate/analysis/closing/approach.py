"""Approach of closed loops from a far posture: bounded steps towards them, from the posture itself, and then from others.

Gauss-Newton steps need a start near enough. Far from it, the error of a frame's orientation grows without bound towards a half
turn, and full steps lead nowhere. So the error of each loop is limited in each step, which then goes along a continuation: the
target of the step is a posture with a part of the gap, damped where the gaps do not fall (S. Buss, J. Kim, Selectively damped
least squares for inverse kinematics, J. Graphics Tools 10, 2005, section 5).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...errors import ModelError
from ..loops import LoopEquations

#: The largest error of a loop that a step is to close [rad, m], and the largest step of a joint.
_PART, _STEP = 0.3, 0.5
#: Loops with smaller errors are left to Gauss-Newton steps.
_NEAR = 0.02
_TRIES = 150
#: Singular values below this fraction of the largest are directions that redundant or singular loops do not constrain.
RANK = 1e-9
#: How far other starts are from the given one [rad, m]: a few nearby, then all over the limits of the joints.
_SPREADS = (0.1, 0.3, 0.3, 1.0, 1.0, 1.0)
_ANYWHERE = 24


def approached(loops: LoopEquations, q: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Coordinates with smaller gaps, by bounded steps of the free velocities (nv) from q."""
    tree, damping = loops.mechanism.tree, 1e-3
    blocks = loops.blocks
    try:
        error, J = loops.positions(q)
    except ModelError:  # a frame turned by 180°: any direction is as good
        aside = np.random.default_rng(0).normal(scale=_SPREADS[0], size=tree.nv) * free
        q = loops.stepped(q, aside)
        error, J = loops.positions(q)
    sizes = _sizes(error, blocks)
    for _ in range(_TRIES):
        if sizes.max(initial=0.0) < _NEAR or damping > 1e6:
            break
        wanted = error * np.minimum(1.0, _PART / np.maximum(sizes, 1e-300))[blocks]
        step = -pseudo_inverse(J * free, damping) @ wanted
        step *= min(1.0, _STEP / max(np.abs(step).max(initial=0.0), 1e-300))
        there = loops.stepped(q, step)
        try:
            error_there, J_there = loops.positions(there)
        except ModelError:  # a frame turned by 180°, where the error has no direction
            damping *= 4.0
            continue
        sizes_there = _sizes(error_there, blocks)
        if _merit(sizes_there) < _merit(sizes):
            q, error, J, sizes, damping = there, error_there, J_there, sizes_there, max(0.25 * damping, 1e-6)
        else:
            damping *= 4.0
    return q


def other_starts(loops: LoopEquations, q: np.ndarray, free: np.ndarray) -> Iterator[np.ndarray]:
    """Other postures to start from, with repeatable random numbers: near q, then anywhere within the limits of the joints."""
    mechanism, rng = loops.mechanism, np.random.default_rng(0)
    low, high = (np.full(mechanism.nv, sign * np.pi) for sign in (-1.0, 1.0))
    at_q = at_v = 0
    for joint in mechanism.joints:
        for k, limit in enumerate(joint.limits if joint.kind.nq == joint.kind.nv else ()):
            lower, upper = (-np.inf if limit.lower is None else limit.lower), (np.inf if limit.upper is None else limit.upper)
            if lower < upper:  # files write 0 to 0 for limits that nobody knows
                low[at_v + k] = max(-np.pi, lower - q[at_q + k])
                high[at_v + k] = max(min(np.pi, upper - q[at_q + k]), low[at_v + k])
        at_q, at_v = at_q + joint.kind.nq, at_v + joint.kind.nv
    for spread in (*_SPREADS, *(None,) * _ANYWHERE):
        move = rng.uniform(low, high) if spread is None else np.clip(rng.normal(scale=spread, size=mechanism.nv), low, high)
        yield loops.stepped(q, move * free)


def pseudo_inverse(J: np.ndarray, damping: float) -> np.ndarray:
    """The damped J⁺; without damping, directions with zero singular values are ignored."""
    if not J.size:
        return np.zeros(J.shape[::-1])
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    if s[0] == 0.0:  # no joint moves the loops
        return np.zeros(J.shape[::-1])
    kept = s > RANK * s[0] if damping == 0.0 else s >= 0.0
    gains = np.where(kept, s / np.where(kept, s * s + damping * s[0] ** 2, 1.0), 0.0)
    return (Vt.T * gains) @ U.T


def _sizes(error: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """The size of each loop's error: twice the tangent of half an angle counts as the angle."""
    return np.sqrt(np.bincount(blocks, error * error))


def _merit(sizes: np.ndarray) -> float:
    """Bounded in each loop, so that one far away does not outweigh all others."""
    return float((np.arctan(0.5 * sizes) ** 2).sum())
