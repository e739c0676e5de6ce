"""Assembly of a mechanism: the nearest configuration that closes its loops, and velocities that keep them closed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from itertools import chain, combinations_with_replacement, compress, islice
from typing import Any

import numpy as np

from ...compile import Kernel
from ...dynamics import Row
from ...dynamics.factored import largest
from ...errors import InputError, ModelError
from ...kinematics import difference, integrate, random_coordinates
from ...model import KINDS, Loop, Tree
from ...scalar import Scalar, Scalars, loop, maximum, select
from ...spatial import Dense, NearestSolver, dot
from ..loops import LoopEquations, rigid_rows
from .newton import CLOSED, LEFT_OPEN, approached, check_closed, gauss_newton, measure, nearest, other_starts, pseudo_inverse

#: Singular values below this fraction of the largest are directions that the loops do not constrain.
_RANK = 1e-9
#: The step of the finite differences of the loops' rates [rad, m], and the largest error by rounding and curvature, as a
#: fraction of the step and of the squared velocities.
_AWAY, _NOISE, _FLOOR = 1e-4, 1e-6, 1e-7
_TRIES = 200


def admitted(loops: LoopEquations, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """The velocity nearest to v (nv), for which J v = 0, that also keeps loops closed to second order, zero if none is found;
    and the loops and couplings that do not admit v.
    """
    J = loops.state(q, v).J
    if not J.size or not v.any():
        return v, ()
    U, s, Vt = np.linalg.svd(J)
    rank = int((s > _RANK * s[0]).sum())
    unheld, free = U[:, rank:], Vt[rank:].T
    if not unheld.shape[1]:
        return v, ()
    bend = _rate_of_rates(loops, q, v)
    outside = unheld @ (unheld.T @ bend)
    noise = _NOISE * float(np.linalg.norm(bend)) + _FLOOR * float(v @ v) * max(1.0, loops.mechanism.tree.size)
    if np.linalg.norm(outside) <= noise:
        return v, ()
    rows = loops.rows(q, v)
    owners = dict.fromkeys(row.owner for row, part in zip(rows, outside, strict=True) if abs(part) > noise)
    return _nearest(_forms(loops, q, free, unheld), free, v), tuple(owners)


def admitted_rows(loops: LoopEquations, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(N) whether the loops admit velocities (N, nv) that do not vanish, at states (N, nq) with J v = 0."""
    J = loops.jacobians(q, v)
    values, vectors = np.linalg.eigh(J @ J.swapaxes(1, 2))
    unheld = values <= _RANK * values[:, -1:]  # of J Jᵀ, so that small singular values count as lost from 3e-5 on
    if not unheld.any():
        return np.ones(len(q), dtype=bool)
    fastest = np.abs(v).max(axis=1)
    move = (_AWAY / fastest)[:, None] * v
    ahead, back = (loops.rates(loops.moved(q, side * move), v) for side in (1.0, -1.0))
    bend = (ahead - back) * (fastest / (2.0 * _AWAY))[:, None]
    along = np.where(unheld, np.einsum("nij,ni->nj", vectors, bend), 0.0)
    noise = _NOISE * np.linalg.norm(bend, axis=1) + _FLOOR * (v * v).sum(axis=1) * max(1.0, loops.mechanism.tree.size)
    return np.asarray(np.linalg.norm(along, axis=1) <= noise)


def _rate_of_rates(loops: LoopEquations, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """J̇ v (rows): the derivative of the loops' rates at constant v, by central differences."""
    tree, time = loops.mechanism.tree, _AWAY / float(np.abs(v).max())
    ahead, back = (loops.state(integrate(tree, q.tolist(), (side * time * v).tolist()), v).rate for side in (1.0, -1.0))
    return (ahead - back) / (2.0 * time)


def _forms(loops: LoopEquations, q: np.ndarray, free: np.ndarray, unheld: np.ndarray) -> np.ndarray:
    """(m, k, k): nᵀ J̇ v for every n as quadratic forms in y, where v = free y, from their values at sums of two directions."""
    k = free.shape[1]
    forms = np.zeros((unheld.shape[1], k, k))
    alone = [unheld.T @ _rate_of_rates(loops, q, free[:, i]) for i in range(k)]
    for i, j in combinations_with_replacement(range(k), 2):
        both = alone[i] if i == j else unheld.T @ _rate_of_rates(loops, q, free[:, i] + free[:, j])
        forms[:, i, j] = forms[:, j, i] = both if i == j else 0.5 * (both - alone[i] - alone[j])
    return forms


def _nearest(forms: np.ndarray, free: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The nearest v at which all forms are zero, by steps to the nearest zero of their linearisation."""
    wished = free.T @ v
    y = wished.copy()
    for _ in range(_TRIES):
        slopes = 2.0 * forms @ y
        values = np.einsum("mij,i,j->m", forms, y, y)
        # nearest to the given velocity among those with values + slopes (next − y) = 0
        gap = values + slopes @ (wished - y)
        following = wished - np.linalg.pinv(slopes, rcond=1e-6) @ gap
        if np.abs(following - y).max() <= 1e-12 * np.abs(wished).max():
            break
        y = following
    left = np.abs(np.einsum("mij,i,j->m", forms, y, y)).max()
    return free @ y if left <= _NOISE * np.abs(forms).max() * float(wished @ wished) else np.zeros_like(v)


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


def conflict(loops: LoopEquations, starts: Sequence[np.ndarray], free: np.ndarray) -> str:
    """What to say of loops that cannot be closed, as further sentences of a message.

    Args:
        loops: of which no closed posture was found; free: which velocities (nv) may change.
        starts: postures (nq) to search from: the nearest that was found, and where the search for it began.
    """
    anywhere = random_coordinates(loops.mechanism.tree, np.random.default_rng(0))
    rows = [row for row in loops.rows(anywhere, np.zeros(loops.mechanism.nv)) if row.holonomic]
    owners = np.array(loops.names)[loops.blocks]
    tried = [([name], _left(loops, starts, free, owners == name)) for name in dict.fromkeys(owners.tolist())]
    if all(left is None for _, left in tried):
        names = _needed(loops, starts, free, owners)
        tried = [(names, _left(loops, starts, free, np.isin(owners, names)))]
    sets = [(names, left) for names, left in tried if left is not None]
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
    the loops, bounded steps lead nearer first, from q and then from other postures (`approached`). Where loops have lost rank,
    the velocity is that of a branch through the configuration (`admitted`).

    Args:
        loops: the mechanism's equations.
        q: approximate coordinates (nq); v: velocities (nv), zero by default.
        free: which of the velocities (nv) may change; all by default.

    Raises:
        ModelError: if the loops cannot be closed; it names the loop with the largest gap, and how near it came.
    """
    start = q = np.asarray(q, dtype=float)
    v = np.zeros(loops.mechanism.nv) if v is None else np.asarray(v, dtype=float)
    mask = np.ones(loops.mechanism.nv) if free is None else np.asarray(free, dtype=float)
    if loops.names:
        q = nearest(loops, start, _closed(loops, start, mask), mask)
        _, rate, J = loops.state(q, v)
        v = v - pseudo_inverse(J * mask, 0.0) @ rate
        v = admitted(loops, q, v)[0] if free is None else v
    return q, v


def _closed(loops: LoopEquations, q: np.ndarray, free: np.ndarray) -> np.ndarray:
    """A configuration that closes all loops: near q if possible, else from further away."""
    still, size = np.zeros(loops.mechanism.nv), loops.mechanism.tree.size

    def gap(at: np.ndarray) -> float:
        sizes = [item.size(size) for item in loops.gaps(at, still)]
        return max(sizes) if np.isfinite(sizes).all() else np.inf

    def led_near(start: np.ndarray) -> np.ndarray:
        return gauss_newton(loops, approached(loops, start, free), free)

    best = gauss_newton(loops, q, free, _FEW)
    # narrow valleys are walked to their ends only where bounded steps fail
    near = (partial(led_near, q), partial(gauss_newton, loops, q, free))
    for end in chain(near, (partial(led_near, start) for start in other_starts(loops, q, free))):
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
    shut = worst.size(size) <= CLOSED * size and fastest.rate(size) <= CLOSED * size
    if shut and not v.any():
        return q, v
    closed_q, closed_v = assemble(loops, q, v)
    if not np.abs(closed_v - v).max(initial=0.0) <= _SAME * np.abs(v).max(initial=0.0) + NEARLY:
        owners = admitted(loops, q, v)[1] or tuple(loops.names)
        lost = f"loop {owners[0]!r} loses" if len(owners) == 1 else f"loops {', '.join(map(repr, owners))} lose"
        nearest = ", ".join(f"{rate:.6g}" for rate in closed_v)
        raise InputError(
            f"{mechanism.name}: the initial v is not the velocity of any motion through the initial q, where {lost} rank, or "
            "nearly so: no acceleration would keep the loops closed. Velocities must be those of a branch; the nearest are "
            f"v = [{nearest}], which `robot.assemble(q, v)` gives"
        )
    return (q, v) if shut else (closed_q, closed_v)  # LAPACK's last bits depend on where arrays lie


# --- many rows at once ----------------------------------------------------------------------------------------------------
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
    found_q, found_v, moved, step = _nearest_rows(loops)(q, v)
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
def _nearest_rows(loops: LoopEquations) -> Kernel:
    """(start, v) → q, v, the largest coordinate of what leads from the start to q, and the last step."""
    tree, still, holonomic = loops.mechanism.tree, [0.0] * loops.mechanism.nv, loops.holonomic.tolist()

    def toward(q: Any, away: Scalars) -> list[Scalar]:
        """From q (nq) to the point of the linearised loops that is nearest to where `away` (nv) leads from, less that way."""
        rows, J = rigid_rows(tree, q, still)
        rows, J = list(compress(rows, holonomic)), list(compress(J, holonomic))
        along = [dot(line, away) for line in J]
        return _lifted(tree, rows, J, [a - row.error for a, row in zip(along, rows, strict=True)])

    def nearest(start: Any, v: Any) -> dict[str, Any]:
        def nearer(_: Any, now: Any) -> tuple[Any, None]:
            """A step to the nearest point of the linearised loops; with the one before, to where both lead (D. G. Anderson)."""
            q, before, was, again, _ = now
            away = difference(tree, start, q)
            closed = toward(q, away)
            step = [c - a for c, a in zip(closed, away, strict=True)]
            bend = [s - b for s, b in zip(step, before, strict=True)]
            share = dot(bend, step) / maximum(dot(bend, bend), 1e-300)
            share = select(again > 0.5, maximum(-3.0, select(share < 0.9, share, 0.9)), 0.0)
            moves = [s - share * (a - w + b) for s, a, w, b in zip(step, away, was, bend, strict=True)]
            return (integrate(tree, q, moves), step, away, 1.0, largest(step, 0.0)), None

        begin = (list(start), still, still, 0.0, 1.0)
        (q, _, away, _, step), _ = loop(_PASSES, nearer, begin, while_=lambda now: now[4] > _LITTLE, varies=True)
        q = integrate(tree, q, toward(q, still))  # steps that go further than one leads leave loops open
        rows, J = rigid_rows(tree, q, still)
        rates = [dot(line, v) for line in J]
        change = _lifted(tree, rows, J, [-rate for rate in rates])
        return {"q": q, "v": [a + b for a, b in zip(v, change, strict=True)], "moved": largest(away, 0.0), "step": step}

    return loops.kernel("nearest", nearest, start=tree.nq, v=tree.nv)


def _lifted(tree: Tree, rows: Sequence[Row], J: Sequence[Scalars], wanted: Scalars) -> list[Scalar]:
    """J⁺ (nv, rows) times what is wanted."""
    square = [[dot(a, b) for b in J] for a in J]
    damping = Dense.diagonal([_DAMPING * (1.0 if row.angular else tree.size**2) for row in rows])
    forces = NearestSolver(square, damping.rows).solve(wanted)
    return [dot([line[k] for line in J], forces) for k in range(tree.nv)]
