"""Closed loops by Gauss-Newton steps, by bounded steps from far away, and the closed configuration nearest to a given one.

Gauss-Newton steps need a start near enough. Far from it, the error of a frame's orientation grows without bound towards a half
turn, and full steps lead nowhere. So the error of each loop is limited in each step, which then goes along a continuation: the
target of the step is a posture with a part of the gap, damped where the gaps do not fall (S. Buss, J. Kim, Selectively damped
least squares for inverse kinematics, J. Graphics Tools 10, 2005, section 5).

The nearest closed configuration minimises |a|²/2 under c(q) = 0, where a is the difference from the start. Its conditions are
a + Jᵀλ = 0 and c = 0 (J. Nocedal, S. Wright, Numerical Optimization, 2006, sections 12.1 and 18.1). With an orthonormal basis Z
of the null space of J, a step along Z by -Zᵀa solves them where the closed configurations are flat. Where they are curved, the
curvature ZᵀD(a + Jᵀλ)Z decides how far each direction leads: this is Newton's step, measured by differences along Z.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from ...errors import ModelError
from ...model.bounds import position_limits
from ..loops import LoopEquations, LoopGap

#: The largest error of a loop that a step is to close [rad, m], and the largest step of a joint.
_PART, _STEP = 0.3, 0.5
#: Loops with smaller errors are left to Gauss-Newton steps.
_NEAR = 0.02
_APPROACHES = 150
#: Singular values below this fraction of the largest are directions that redundant or singular loops do not constrain.
RANK = 1e-9
#: How far other starts are from the given one [rad, m]: a few nearby, then all over the limits of the joints.
_SPREADS = (0.1, 0.3, 0.3, 1.0, 1.0, 1.0)
_ANYWHERE = 24


def approached(loops: LoopEquations, q: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Coordinates with smaller gaps, by bounded steps of the free velocities (nv) from q."""
    blocks, damping = loops.blocks, 1e-3
    q, error, J = _begun(loops, q, free, _SPREADS[0])  # a frame may be turned by 180°
    sizes = _sizes(error, blocks)
    for _ in range(_APPROACHES):
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


def _begun(loops: LoopEquations, q: np.ndarray, free: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, the errors there and their Jacobian; beside q where loops have no equations: any direction is as good."""
    with suppress(ModelError):
        return q, *loops.positions(q)
    q = loops.stepped(q, np.random.default_rng(0).normal(scale=scale, size=len(free)) * free)
    return q, *loops.positions(q)


def other_starts(loops: LoopEquations, q: np.ndarray, free: np.ndarray) -> Iterator[np.ndarray]:
    """Other postures to start from, with repeatable random numbers: near q, then anywhere within the limits of the joints."""
    mechanism, rng = loops.mechanism, np.random.default_rng(0)
    low, high = (np.full(mechanism.nv, sign * np.pi) for sign in (-1.0, 1.0))
    for at_q, at_v, lower, upper in position_limits(mechanism):
        if lower < upper:  # files write 0 to 0 for limits that nobody knows
            low[at_v] = max(-np.pi, lower - q[at_q])
            high[at_v] = max(min(np.pi, upper - q[at_q]), low[at_v])
    for spread in (*_SPREADS, *(None,) * _ANYWHERE):
        move = rng.uniform(low, high) if spread is None else np.clip(rng.normal(scale=spread, size=mechanism.nv), low, high)
        yield loops.stepped(q, move * free)


def pseudo_inverse(J: np.ndarray, damping: float) -> np.ndarray:
    """The damped J⁺; without damping, directions with zero singular values are ignored."""
    if not J.any():  # no joint moves the loops
        return np.zeros(J.shape[::-1])
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    kept = s > RANK * s[0] if damping == 0.0 else s >= 0.0
    gains = np.where(kept, s / np.where(kept, s * s + damping * s[0] ** 2, 1.0), 0.0)
    return (Vt.T * gains) @ U.T


def _sizes(error: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """The size of each loop's error: twice the tangent of half an angle counts as the angle."""
    return np.sqrt(np.bincount(blocks, error * error))


def _merit(sizes: np.ndarray) -> float:
    """Bounded in each loop, so that one far away does not outweigh all others."""
    return float((np.arctan(0.5 * sizes) ** 2).sum())


#: Loops count as closed below this fraction of the mechanism's size.
CLOSED = 1e-12
#: Loops with a larger gap, as a fraction of the mechanism's size, are not closed.
LEFT_OPEN = 1e-9
_TRIES = 200
#: Longer steps [rad, m] say nothing of where they lead, and are damped; damped ones must reduce the gap by this fraction.
_LONGEST, _LITTLE = 2.0, 1e-4
#: The perturbation of a start at which loops have no equations, as a fraction of the mechanism's size.
_ASIDE = 1e-2


def gauss_newton(loops: LoopEquations, q: np.ndarray, free: np.ndarray, tries: int = _TRIES) -> np.ndarray:
    """The end of damped Gauss-Newton steps from q, whether it is closed or not."""
    tree, damping = loops.mechanism.tree, 0.0
    q, error, J = _begun(loops, q, free, _ASIDE * tree.size)  # the ends of a rod may coincide
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


_SLIDES = 100
#: Steps that do not shrink to this part show that the closed configurations are curved.
_SHRINKS = 0.1
#: The largest step along curved configurations [rad, m], the smallest curvature that counts, and the length of differences.
_LONGEST_SLIDE, _FLAT, _DIFFERENCE = 0.5, 1e-3, 1e-7
#: The shortest part of a step that is tried where the whole one leads further away.
_SHORTEST = 1e-2
#: Steps with the same inverse before a new one is computed.
_CHORDS = 20
#: The gap that is left on the way after steps longer than the second [rad, m], as a part of the square of the step.
_ON_THE_WAY, _LONG = 1e-2, 0.05


def nearest(loops: LoopEquations, start: np.ndarray, q: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Slides along the closed configurations from q until the difference from `start` is normal to them."""
    place, last, curved, part = _place(loops, start, q, free), np.inf, False, 1.0
    for _ in range(_SLIDES):
        left = float(np.abs(place.step).max(initial=0.0))
        if left <= CLOSED * (1.0 + np.abs(place.q).max(initial=0.0)) or part < _SHORTEST:
            break
        curved = curved or left > _SHRINKS * last
        step = _newton_step(loops, start, place) if curved and place.along.size else place.step
        there = _slid(loops, place, part * step, free)
        found = None if there is None else _place(loops, start, there, free)
        if found is not None and found.far <= place.far * (1.0 + 1e-12):
            place, last, part = found, left, 1.0
        else:  # the step led away, or beyond the end of the closed configurations
            part *= 0.25
    gap = float(np.abs(loops.positions(place.q)[0]).max(initial=0.0))
    return place.q if gap <= CLOSED * loops.mechanism.tree.size else closed_near(loops, place.q, free)


class _Place(NamedTuple):
    """A closed configuration on the way to the nearest one.

    Attributes:
        q: (nq); `away`: its difference from the start (nv); `far`: the size of this, when what is left of the gap is closed.
        step: (nv) to where the difference would be normal, were all things flat.
        inverse: J⁺ (nv, rows); `along`: the orthonormal basis Z of the null space of J (nv, k), as columns.
    """

    q: np.ndarray
    away: np.ndarray
    far: float
    step: np.ndarray
    inverse: np.ndarray
    along: np.ndarray


def _place(loops: LoopEquations, start: np.ndarray, q: np.ndarray, free: np.ndarray) -> _Place:
    error, J = loops.positions(q)
    moving = np.flatnonzero(free)
    away = loops.difference(start, q) * free
    U, s, Vt = np.linalg.svd(J[:, moving])
    rank = int((s > RANK * s.max(initial=0.0)).sum())
    turns = np.zeros((len(away), len(moving)))
    turns[moving] = Vt.T
    inverse, along = (turns[:, :rank] / s[:rank]) @ U[:, :rank].T, turns[:, rank:]
    closes = -inverse @ error
    far = float(np.linalg.norm(away + closes))
    return _Place(q, away, far, closes - along @ (along.T @ away), inverse, along)


def _newton_step(loops: LoopEquations, start: np.ndarray, place: _Place) -> np.ndarray:
    """The step of Newton's method, downhill also where the curvature is negative."""
    forces = -place.away @ place.inverse

    def pull(q: np.ndarray) -> np.ndarray:
        """a + Jᵀλ (nv)."""
        return loops.difference(start, q) + forces @ loops.positions(q)[1]

    here = pull(place.q)
    bends = [pull(loops.stepped(place.q, _DIFFERENCE * line)) - here for line in place.along.T]
    curvature = np.array(bends) @ place.along / _DIFFERENCE
    sizes, axes = np.linalg.eigh(0.5 * (curvature + curvature.T))
    axes = place.along @ axes
    slide = axes @ (place.away @ axes / np.maximum(np.abs(sizes), _FLAT))
    slide *= min(1.0, _LONGEST_SLIDE / max(np.abs(slide).max(initial=0.0), 1e-300))
    return np.asarray(place.step + place.along @ (place.along.T @ place.away) - slide)


def _slid(loops: LoopEquations, place: _Place, step: np.ndarray, free: np.ndarray) -> np.ndarray | None:
    """The closed configuration beside a step; None if there is none."""
    tree, last = loops.mechanism.tree, np.inf
    longest = float(np.abs(step).max(initial=0.0))
    enough = max(0.1 * CLOSED * tree.size, _ON_THE_WAY * longest**2 if longest > _LONG else 0.0)
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
