"""Assembly of many states at once: for each the nearest one that closes all loops, in machine code."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import compress
from typing import Any

import numpy as np

from ...compile import Kernel
from ...dynamics import Row, chord_closings, constraint_rows, link_motions, loop_jacobian
from ...kinematics import difference, integrate
from ...model import Tree
from ...scalar import Program, Scalar, absolute, is_zero, loop, maximum, select, trace
from ...spatial import NearestSolver
from ..loops import LoopEquations
from .assemble import admitted_rows, assemble
from .newton import CLOSED

#: The largest number of passes, and the step [rad, m] that ends them: what it leaves open is of the order of its square.
_PASSES, _LITTLE = 100, 1e-8
#: Damping of J Jᵀ, for redundant rows, relative to one or, for displacements, the square of the mechanism's size.
_DAMPING = 1e-9
#: Postures whose coordinates moved further than this are those that `assemble` itself finds [rad, m].
_FAR = 1.0


def assemble_rows(loops: LoopEquations, q: np.ndarray, v: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The nearest q (N, nq) that close all loops, and the v (N, nv) nearest to given ones that keep them closed.

    As `assemble`, to which the rows are left that are far from closed or whose loops lose rank.

    Raises:
        ModelError: as `assemble`.
    """
    q = np.array(q, dtype=float)
    v = np.zeros((len(q), loops.mechanism.nv)) if v is None else np.array(v, dtype=float)
    if not loops.names or not len(q):
        return q, v
    found_q, found_v, moved, step = _nearest(loops)(q, v)
    gaps = loops.gaps_of_rows(found_q, found_v)
    size = loops.mechanism.tree.size
    left = np.maximum(gaps[..., 0], gaps[..., 1] * size).max(axis=1), np.maximum(gaps[..., 2], gaps[..., 3] * size).max(axis=1)
    fastest = np.abs(v).max(axis=1)
    done = (left[0] <= CLOSED * size) & (left[1] <= CLOSED * size * (1.0 + fastest)) & (step <= _LITTLE) & (moved <= _FAR)
    moving = np.flatnonzero(done & (fastest > 0.0))
    if len(moving):
        done[moving] &= admitted_rows(loops, found_q[moving], found_v[moving])
    for k in np.flatnonzero(~done):
        found_q[k], found_v[k] = assemble(loops, q[k], v[k])
    return found_q, found_v


@lru_cache(maxsize=16)
def _nearest(loops: LoopEquations) -> Kernel:
    return Kernel(loops.stored("nearest", lambda: _program(loops)))


def _program(loops: LoopEquations) -> Program:
    """(start, v) → q, v, the largest coordinate of what leads from the start to q, and the last step."""
    tree, holonomic = loops.mechanism.tree, loops.holonomic.tolist()

    def toward(q: Any, away: Sequence[Scalar]) -> list[Scalar]:
        """From q (nq) to the point of the linearised loops that is nearest to where `away` (nv) leads from, less that way."""
        rows, J = _rows(tree, q)
        rows, J = list(compress(rows, holonomic)), list(compress(J, holonomic))
        return _lifted(tree, rows, J, [a - row.error for a, row in zip(_times(J, away), rows, strict=True)])

    def nearest(start: Any, v: Any) -> dict[str, Any]:
        def nearer(_: Any, now: Any) -> tuple[Any, None]:
            """A step to the nearest point of the linearised loops; with the one before, to where both lead (D. G. Anderson)."""
            q, before, was, again, _ = now
            away = difference(tree, start, q)
            closed = toward(q, away)
            step = [c - a for c, a in zip(closed, away, strict=True)]
            bend = [s - b for s, b in zip(step, before, strict=True)]
            share = _dot(bend, step) / maximum(_dot(bend, bend), 1e-300)
            share = select(again > 0.5, maximum(-3.0, select(share < 0.9, share, 0.9)), 0.0)
            moves = [s - share * (a - w + b) for s, a, w, b in zip(step, away, was, bend, strict=True)]
            return (integrate(tree, q, moves), step, away, 1.0, _largest(step)), None

        still: list[Scalar] = [0.0] * tree.nv
        begin = (list(start), still, still, 0.0, 1.0)
        (q, _, away, _, step), _ = loop(_PASSES, nearer, begin, while_=lambda now: now[4] > _LITTLE, varies=True)
        q = integrate(tree, q, toward(q, still))  # steps that go further than one leads leave loops open
        rows, J = _rows(tree, q)
        change = _lifted(tree, rows, J, [-rate for rate in _times(J, v)])
        return {"q": q, "v": [a + b for a, b in zip(v, change, strict=True)], "moved": _largest(away), "step": step}

    return trace(nearest, {"start": tree.nq, "v": tree.nv}, f"nearest_{loops.mechanism.name}")


def _rows(tree: Tree, q: Any) -> tuple[list[Row], list[list[Scalar]]]:
    still = [0.0] * tree.nv
    motions = link_motions(tree, q, still)
    rows = constraint_rows(tree, chord_closings(tree, q, still), q, still, motions)
    rows = [row for row in rows if is_zero(row.softness)]
    return rows, loop_jacobian(tree, motions, rows)


def _lifted(tree: Tree, rows: Sequence[Row], J: Sequence[Sequence[Scalar]], wanted: Sequence[Scalar]) -> list[Scalar]:
    """J⁺ (nv, rows) times what is wanted."""
    square = [[_dot(a, b) for b in J] for a in J]
    own = [_DAMPING * (1.0 if row.angular else tree.size**2) for row in rows]
    damping = [[size if i == j else 0.0 for j in range(len(own))] for i, size in enumerate(own)]
    forces = NearestSolver(square, damping).solve(wanted)
    return [_dot([line[k] for line in J], forces) for k in range(tree.nv)]


def _times(J: Sequence[Sequence[Scalar]], x: Sequence[Scalar]) -> list[Scalar]:
    return [_dot(line, x) for line in J]


def _dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True) if not (is_zero(x) or is_zero(y))), 0.0)


def _largest(values: Sequence[Scalar]) -> Scalar:
    found: Scalar = 0.0
    for value in values:
        found = maximum(found, absolute(value))
    return found
