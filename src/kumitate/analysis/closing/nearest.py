"""The closed configuration nearest to a given one: a slide along the closed ones until the difference is normal to them.

The nearest closed configuration minimises |a|²/2 under c(q) = 0, where a is the difference from the start. Its conditions are
a + Jᵀλ = 0 and c = 0 (J. Nocedal, S. Wright, Numerical Optimization, 2006, sections 12.1 and 18.1). With an orthonormal basis Z
of the null space of J, a step along Z by -Zᵀa solves them where the closed configurations are flat. Where they are curved, the
curvature ZᵀD(a + Jᵀλ)Z decides how far each direction leads: this is Newton's step, measured by differences along Z.
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import numpy as np

from ...errors import ModelError
from ..loops import LoopEquations
from .approach import RANK
from .newton import CLOSED, closed_near

_TRIES = 100
#: Steps that do not shrink to this part show that the closed configurations are curved.
_SHRINKS = 0.1
#: The largest step along curved configurations [rad, m], the smallest curvature that counts, and the length of differences.
_LONGEST, _FLAT, _DIFFERENCE = 0.5, 1e-3, 1e-7
#: The shortest part of a step that is tried where the whole one leads further away.
_SHORTEST = 1e-2
#: Steps with the same inverse before a new one is computed.
_CHORDS = 20
#: The gap that is left on the way after steps longer than the second [rad, m], as a part of the square of the step.
_ON_THE_WAY, _LONG = 1e-2, 0.05


def nearest(loops: LoopEquations, start: np.ndarray, q: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Slides along the closed configurations from q until the difference from `start` is normal to them."""
    place, last, curved, part = _place(loops, start, q, free), np.inf, False, 1.0
    for _ in range(_TRIES):
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
    slide *= min(1.0, _LONGEST / max(np.abs(slide).max(initial=0.0), 1e-300))
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
