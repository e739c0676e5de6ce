"""Which loops contradict one another, where they cannot all be closed, and which of their equations.

They are those that cannot be closed by themselves. If all can, those are left out one by one without which the rest still
cannot be closed together; what remains is a set of which every loop is needed (the deletion filter of J. W. Chinneck, E. W.
Dravnieks, Locating minimal infeasible constraint sets in linear programs, ORSA J. Computing 3, 1991). At the posture nearest to
closing them, the errors e fulfil Jᵀe = 0: no motion of the joints reduces them, and the equations with an error are those that
contradict one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice
from typing import Any

import numpy as np

from ...dynamics import Row
from ...errors import ModelError
from ...kinematics import random_coordinates
from ...model import Loop
from ...model.joints import KINDS
from ..loops import LoopEquations
from .approach import approached, other_starts
from .newton import CLOSED, gauss_newton

#: Equations with a smaller part of the largest error do not take part in a contradiction; nor do loops that close this well.
_PART, _CLOSED = 1e-2, 1e3 * CLOSED
#: Starts from which a part of the loops is tried.
_STARTS = 10


class _SomeRows(LoopEquations):
    """A part of the equations of a mechanism's loops that restrict positions."""

    def __init__(self, whole: LoopEquations, kept: np.ndarray):
        super().__init__(whole.mechanism)
        self._whole, self._kept = whole, kept

    def positions(self, q: Any) -> tuple[np.ndarray, np.ndarray]:
        error, J = self._whole.positions(q)
        return error[self._kept], J[self._kept]

    @cached_property
    def blocks(self) -> np.ndarray:
        return self._whole.blocks[self._kept]

    def stepped(self, q: np.ndarray, dv: np.ndarray) -> np.ndarray:
        return self._whole.stepped(q, dv)


def _holonomic(loops: LoopEquations, q: Any, v: Any) -> list[Row]:
    return [row for row in loops.rows(q, v) if row.holonomic]


def conflict(loops: LoopEquations, starts: Sequence[np.ndarray], free: np.ndarray) -> str:
    """What to say of loops that cannot be closed, as further sentences of a message.

    Args:
        loops: of which no closed posture was found; free: which velocities (nv) may change.
        starts: postures (nq) to search from: the nearest that was found, and where the search for it began.
    """
    anywhere = random_coordinates(loops.mechanism.tree, np.random.default_rng(0))
    rows = _holonomic(loops, anywhere, np.zeros(loops.mechanism.nv))
    owners = np.array(loops.names)[loops.blocks]
    alone = {name: _left(loops, starts, free, owners == name) for name in dict.fromkeys(owners.tolist())}
    sets = [([name], left) for name, left in alone.items() if left is not None]
    if not sets:
        names = _needed(loops, starts, free, owners)
        sets = [(names, left)] if (left := _left(loops, starts, free, np.isin(owners, names))) is not None else []
    if not sets:
        return ""
    said = [f"{_named(names)} ({_against(loops, rows, np.isin(owners, names), left)})" for names, left in sets]
    remedy = _as_points(loops, starts, free, {name for names, _ in sets for name in names})
    return f". No posture was found that closes {'; nor '.join(said)}{remedy}"


def _as_points(loops: LoopEquations, starts: Sequence[np.ndarray], free: np.ndarray, names: set[str]) -> str:
    """A remedy, if it is one: loops that ask for a point only."""
    mechanism, fixed = loops.mechanism, [loop.name for loop in loops.mechanism.loops if loop.kind.name == "fixed"]
    tried: list[set[str]] = []
    for which, said in ((names & set(fixed), "these"), (set(fixed), "all of kind fixed (6d)")):
        if which and which not in tried:
            tried.append(which)
            points = tuple(
                Loop(loop.name, KINDS["spherical"], loop.body_a, loop.body_b, loop.pose_a, loop.pose_b)
                if loop.name in which
                else loop
                for loop in mechanism.loops
            )
            if _left(LoopEquations(replace(mechanism, loops=points)), starts, free) is None:
                return f". All loops close if {said} are points (spherical, or 3d in YAML)"
    return ""


def _needed(loops: LoopEquations, starts: Sequence[np.ndarray], free: np.ndarray, owners: np.ndarray) -> list[str]:
    """Loops that cannot be closed together, though without any one of them."""
    needed = list(dict.fromkeys(owners.tolist()))
    for name in tuple(needed):
        rest = [other for other in needed if other != name]
        if rest and _left(loops, starts, free, np.isin(owners, rest)) is not None:
            needed = rest
    return needed


def _named(names: list[str]) -> str:
    return f"{names[0]!r} by itself" if len(names) == 1 else f"{', '.join(map(repr, names))} together"


def _against(loops: LoopEquations, rows: list[Row], kept: np.ndarray, left: np.ndarray) -> str:
    """How near the equations come, and which they are [m; rad]."""
    error = np.where(kept, np.abs(loops.positions(left)[0]), 0.0)
    against = [loops.label(row) for row, part in zip(rows, error, strict=True) if part > _PART * error.max()]
    if len({label.partition(": ")[0] for label in against}) == 1:
        against = [label.partition(": ")[2] for label in against]
    return f"no joint closes the last {float(np.linalg.norm(error)):.3g} of {', '.join(against)}"


def _left(
    loops: LoopEquations, starts: Sequence[np.ndarray], free: np.ndarray, kept: np.ndarray | None = None
) -> np.ndarray | None:
    """The posture nearest to closing a part of the rows, or all; None if they were closed."""
    part = loops if kept is None else _SomeRows(loops, kept)
    nearest, least = starts[0], np.inf
    for start in islice(chain(starts, other_starts(loops, starts[-1], free)), _STARTS):
        try:
            found = gauss_newton(part, approached(part, start, free), free)
            gap = float(np.linalg.norm(part.positions(found)[0]))
        except ModelError:  # no equations there
            continue
        if gap <= _CLOSED * max(1.0, loops.mechanism.tree.size):
            return None
        nearest, least = (found, gap) if gap < least else (nearest, least)
    return nearest
