"""Inverse kinematics of one posture or many, with further starts where the first one leads nowhere.

Searches begin again at random postures, those first at which goals are nearest their targets. The same postures are drawn for
all targets. What they reach is computed once, and one product of matrices compares it with all targets: −½ |t − r|² = t · r −
½ |r|² − ½ |t|². For a target this takes less time than a step of its search.

A search is in single precision until the target is near, then in double precision. In single precision one instruction works
on twice as many searches, and most steps are made far from the target, where their rounding does not matter. In double
precision one or two steps of Newton's method are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import inf
from typing import Any, NamedTuple

import numpy as np

from ..compile import Kernel, found_or_traced
from ..compile.stored import StoredProgram
from ..dynamics import chord_closings, constraint_rows, link_motions, loop_jacobian, projected, solve_symmetric
from ..dynamics.factored import largest
from ..errors import InputError
from ..kinematics import integrate, normalized, random_coordinates
from ..model import Mechanism, Tree
from ..model.bounds import position_limits
from ..model.mechanism import digest
from ..model.values import checked_whole
from ..scalar import Program, Scalar, both, either, loop, maximum, minimum, select, trace
from ..spatial import dot
from .goals import Goal, KeyedGoals, Posture, by_priority

# --- one step of inverse kinematics: damped least squares in the order of priorities --------------------------------------
# The damping is in proportion to the squared error (Sugihara, IEEE Trans. Robotics 27, 2011): steps are short where the
# target is far or out of reach, and those of Newton's method near a solution. A goal of lower priority moves within the null
# space of those before it (Nakamura, Hanafusa and Yoshikawa 1987). Degrees of freedom at a limit that would move beyond it
# stay where they are.

#: Damping that stays where errors vanish, so that singular postures are left in short steps.
LEAST_DAMPING = 1e-9


class Level(NamedTuple):
    """The goals of one priority: errors, their slopes (errors, nv), and weights."""

    errors: list[Scalar]
    slopes: list[list[Scalar]]
    weights: list[float]

    def squared_error(self) -> Scalar:
        """½ Σ w e²."""
        return sum((0.5 * w * e * e for w, e in zip(self.weights, self.errors, strict=True)), 0.0)


def damped_step(levels: Sequence[Level], free: Sequence[Scalar], damping: Scalar) -> list[Scalar]:
    """The displacement (nv) towards the goals; `free` is 1 for what may move (nv), `damping` per squared error."""
    n = len(free)
    move: list[Scalar] = [0.0] * n
    null: list[list[Scalar]] = [[free[i] if i == k else 0.0 for i in range(n)] for k in range(n)]
    for number, level in enumerate(levels):
        roots = [w**0.5 for w in level.weights]
        within = [[root * dot(row, column) for column in null] for root, row in zip(roots, level.slopes, strict=True)]  # J N
        left = [root * (e - dot(row, move)) for root, e, row in zip(roots, level.errors, level.slopes, strict=True)]
        product = _product(within)
        own = _solution(within, product, left, damping * level.squared_error() + LEAST_DAMPING)
        move = [a + dot(row, own) for a, row in zip(move, null, strict=True)]
        if number + 1 < len(levels):  # with more damping, later levels would take back what this one moves
            taken = [_solution(within, product, column, LEAST_DAMPING) for column in _transposed(within)]
            null = [[null[i][k] - taken[i][k] for i in range(n)] for k in range(n)]
    return move


def _solution(A: Sequence[Sequence[Scalar]], product: list[list[Scalar]], b: Sequence[Scalar], damping: Scalar) -> list[Scalar]:
    """The least squares of A x = b with damping d: Aᵀ (A Aᵀ + d)⁻¹ b = (Aᵀ A + d)⁻¹ Aᵀ b, the form with fewer unknowns."""
    H = [[entry + damping if i == j else entry for j, entry in enumerate(row)] for i, row in enumerate(product)]
    across = _transposed(A)
    if len(A) < len(across):
        y = solve_symmetric(H, list(b))
        return [dot(column, y) for column in across]
    return solve_symmetric(H, [dot(column, b) for column in across])


def _product(A: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """A Aᵀ if A has fewer rows than columns, else Aᵀ A."""
    vectors = list(A) if len(A) < len(A[0]) else _transposed(A)
    lower = [[dot(vectors[i], vectors[k]) for k in range(i + 1)] for i in range(len(vectors))]
    return [[lower[max(i, k)][min(i, k)] for k in range(len(vectors))] for i in range(len(vectors))]


def _transposed(A: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    return [list(column) for column in zip(*A, strict=True)]


def limits_of(mechanism: Mechanism) -> tuple[dict[int, float], dict[int, float]]:
    """The lowest and the highest values of coordinates that have limits, by their index in q."""
    found = list(position_limits(mechanism))
    return {i: x for i, _, x, _ in found if x > -inf}, {i: x for i, _, _, x in found if x < inf}


def free_at_limits(
    tree: Tree, q: Sequence[Scalar], first: Level, low: dict[int, float], high: dict[int, float]
) -> list[Scalar]:
    """1 for every degree of freedom, 0 for those at a limit that the first priority pulls against."""
    free: list[Scalar] = [1.0] * tree.nv
    for link in tree.links:
        for k in range(link.kind.nv if link.kind.nq == link.kind.nv else 0):
            i, column = link.q_start + k, link.v_start + k
            if i not in low and i not in high:
                continue
            pull = sum((w * row[column] * e for w, row, e in zip(first.weights, first.slopes, first.errors, strict=True)), 0.0)
            if i in low:
                free[column] = select(both(q[i] <= low[i], pull < 0.0), 0.0, free[column])
            if i in high:
                free[column] = select(both(high[i] <= q[i], pull > 0.0), 0.0, free[column])
    return free


def clipped(q: Sequence[Scalar], low: dict[int, float], high: dict[int, float]) -> list[Scalar]:
    """q with every coordinate within its limits."""
    moved = list(q)
    for i, bound in low.items():
        moved[i] = maximum(moved[i], bound)
    for i, bound in high.items():
        moved[i] = minimum(moved[i], bound)
    return moved


# --- the search's program -------------------------------------------------------------------------------------------------
#: Damping per squared error, at first and at least: among 1 … 0.001 this finds most poses of an arm of seven joints in the
#: fewest steps. It becomes `LESS` times as large after a step to a better posture, `MORE` times after one that is taken back.
DAMPING, LESS, MORE = 0.1, 0.5, 8.0
#: Errors below this may grow again, so that goals of lower priority can move [rad, m].
_SMALL = 1e-4
#: No degree of freedom moves further in a step [rad, m].
LONGEST_STEP = 1.5
#: Goals of lower priority are at rest when no degree of freedom moves further in a step [rad, m].
STILL = 1e-9
#: Where loops are closed from the open ends of the last step.
_CLOSE = 1e-3


class _Search(NamedTuple):
    """A search under way: the best posture, its largest and squared error, the damping, the last move, the number of steps."""

    q: list[Scalar]
    levels: list[Level]
    error: Scalar
    squared: Scalar
    damping: Scalar
    move: Scalar
    steps: Scalar


def search_program(
    mechanism: Mechanism, levels: Sequence[Sequence[Goal]], steps: int, limited: bool, *, rests: bool = False
) -> Program:
    """(q, tolerance, most, target_0, …) → the last q, the largest error of the first priority, and the number of steps.

    It ends after `steps`, or after `most` if that is less; or when goals of the first priority are reached, and, if it `rests`,
    nothing moves any more.
    """
    tree = mechanism.tree
    goals = [goal for level in levels for goal in level]
    low, high = limits_of(mechanism) if limited else ({}, {})

    def search(q: Any, tolerance: Scalar, most: Scalar, *targets: Any) -> dict[str, Any]:
        wanted = dict(zip(map(id, goals), targets, strict=True))

        def levels_at(q: Sequence[Scalar]) -> list[Level]:
            posture = Posture(tree, q)
            found = [level_of(level, posture, wanted) for level in levels]
            return [with_loops(found[0], tree, posture.q), *found[1:]] if tree.closed else found

        def body(k: Any, carry: _Search) -> tuple[_Search, None]:
            at, here = carry.q, carry.levels
            step = damped_step(here, free_at_limits(tree, at, here[0], low, high), carry.damping)
            longest = largest(step, 0.0)
            short = minimum(1.0, LONGEST_STEP / maximum(longest, LONGEST_STEP))
            moved = clipped(normalized(tree, integrate(tree, at, [x * short for x in step])), low, high)
            there = levels_at(moved)
            squared = there[0].squared_error()
            better = either(squared < carry.squared, squared < _SMALL * _SMALL)
            q = [select(better, a, b) for a, b in zip(moved, at, strict=True)]
            error = select(better, largest(there[0].errors, 0.0), carry.error)
            levels = [_chosen(better, a, b) for a, b in zip(there, here, strict=True)]
            damping = select(better, maximum(carry.damping * LESS, DAMPING), carry.damping * MORE)
            return _Search(q, levels, error, select(better, squared, carry.squared), damping, longest, carry.steps + 1.0), None

        def unfinished(carry: _Search) -> Scalar:
            moves = either(tolerance < carry.error, carry.move > STILL) if rests else tolerance < carry.error
            return both(moves, carry.steps < most)

        start = clipped(q, low, high)
        begin = levels_at(start)
        first = _Search(start, begin, largest(begin[0].errors, 0.0), begin[0].squared_error(), DAMPING, 1.0, 0.0)
        found, _, error, *_, count = loop(steps, body, first, while_=unfinished)[0]
        if tree.closed:
            closed, _ = projected(tree, found, [0.0] * tree.nv)
            found = [select(error < _CLOSE, a, b) for a, b in zip(normalized(tree, closed), found, strict=True)]
        return {"q": found, "error": error, "steps": count}

    sizes: dict[str, int | tuple[int, ...]] = {"q": tree.nq, "tolerance": (), "most": ()}
    sizes |= {f"target_{k}": goal.size(tree) for k, goal in enumerate(goals)}
    return trace(search, sizes, f"inverse_kinematics_{mechanism.name}")


def level_of(goals: Sequence[Goal], posture: Posture, wanted: dict[int, Any]) -> Level:
    level = Level([], [], [])
    for goal in goals:
        target = wanted[id(goal)]
        errors = goal.errors(posture, target)
        level.errors.extend(errors)
        level.slopes.extend(goal.slopes(posture, target))
        level.weights.extend([goal.weight] * len(errors))
    return level


def with_loops(level: Level, tree: Tree, q: Sequence[Scalar]) -> Level:
    """With the gaps of loops as further errors."""
    still = [0.0] * tree.nv
    motions = link_motions(tree, q, still)
    rows = constraint_rows(tree, chord_closings(tree, q, still), q, still, motions)
    rows = [row for row in rows if row.softness == 0.0 and row.holonomic]
    J = loop_jacobian(tree, motions, rows)
    return Level([*level.errors, *(-row.error for row in rows)], [*level.slopes, *J], [*level.weights, *([1.0] * len(rows))])


def _chosen(condition: Scalar, a: Level, b: Level) -> Level:
    errors = [select(condition, x, y) for x, y in zip(a.errors, b.errors, strict=True)]
    slopes = [[select(condition, x, y) for x, y in zip(*rows, strict=True)] for rows in zip(a.slopes, b.slopes, strict=True)]
    return Level(errors, slopes, a.weights)


# --- searches from many postures, and from new ones -----------------------------------------------------------------------
#: Where double precision takes over [rad, m]: single precision reaches it, and one step of Newton's method leaves about 1e-8.
NEAR = 1e-4
#: The same as part of the length of coordinates and target together: 17 roundings of single precision.
NEAR_OF_SIZE = 1e-6


class Found(NamedTuple):
    """The ends of several searches, or the best ends for several targets: posture, largest error, and number of steps."""

    q: np.ndarray
    error: np.ndarray
    steps: np.ndarray


class Search:
    """A search from each of many postures, in double precision; `lanes`: how many are worked on at a time."""

    def __init__(self, program: Program | StoredProgram, *, quick: bool = False):
        self._double = Kernel(program, quick=quick)
        self.lanes = self._double.lanes

    def __call__(self, q: np.ndarray, tolerance: float, most: float, targets: Sequence[np.ndarray]) -> Found:
        """The ends of searches from postures q (N, nq) for targets (N, size), of at most `most` steps each."""
        return _ends(self._double, q, np.full(len(q), tolerance), np.full(len(q), most), *targets)

    def finish(self, best: Found, tolerance: float, targets: Sequence[np.ndarray]) -> None:
        """Improves the best ends (N) for targets that were not reached, where more steps in double precision can."""


class TwoPrecisions(Search):
    """A search that begins in single precision. One that does not come near its target there goes no further."""

    def __init__(self, program: Program | StoredProgram):
        super().__init__(program)
        self._single = Kernel(program, np.float32)
        self.lanes = self._single.lanes

    def __call__(self, q: np.ndarray, tolerance: float, most: float, targets: Sequence[np.ndarray]) -> Found:
        size = np.sqrt(sum(np.einsum("nk,nk->n", numbers, numbers) for numbers in (q, *targets)))
        near = np.maximum(NEAR_OF_SIZE * size, max(NEAR, tolerance)).astype(np.float32)
        given = [np.asarray(numbers, np.float32) for numbers in (q, near, np.full(len(q), most), *targets)]
        found = Found(*(end.astype(float) for end in _ends(self._single, *given)))
        self._continued(found, np.flatnonzero(found.error <= near), tolerance, targets)
        return found

    def finish(self, best: Found, tolerance: float, targets: Sequence[np.ndarray]) -> None:
        self._continued(best, np.flatnonzero(~(best.error <= tolerance)), tolerance, targets)

    def _continued(self, ends: Found, rows: np.ndarray, tolerance: float, targets: Sequence[np.ndarray]) -> None:
        """Continues some of the searches in double precision."""
        if len(rows):
            q, error, steps = super().__call__(ends.q[rows], tolerance, np.inf, [x.take(rows, axis=0) for x in targets])
            ends.q[rows], ends.error[rows] = q, error
            ends.steps[rows] += steps


def _ends(kernel: Kernel, *rows: np.ndarray) -> Found:
    """The ends of searches, one for each row. With copies of too few rows the lanes are filled, which one call needs."""
    count = len(rows[0])
    if not 0 < count < kernel.lanes:
        return Found(*kernel(*rows))
    filled = np.arange(kernel.lanes) % count
    return Found(*(end[:count] for end in kernel(*(numbers.take(filled, axis=0) for numbers in rows))))


#: How many postures are drawn at least: with half or twice as many, searches of Panda take the same time within 10 %.
DRAWN = 256


class ComparedPostures:
    """Random postures (postures, nq), compared with several targets.

    `nearness` to every target (targets, postures) is larger where nearer, −∞ for those that were taken.
    """

    def __init__(self, postures: np.ndarray, nearness: np.ndarray):
        self.postures, self.nearness = postures, nearness

    def take(self, count: int) -> np.ndarray:
        """The next `count` postures (targets, count, nq) for every target, the nearest first."""
        rows, chosen = np.arange(len(self.nearness)), np.empty((len(self.nearness), count), dtype=np.intp)
        for k in range(count):
            chosen[:, k] = self.nearness.argmax(axis=1)
            self.nearness[rows, chosen[:, k]] = -np.inf
        return self.postures[chosen]

    def keep(self, rows: np.ndarray) -> None:
        """Goes on with some of the targets (a mask)."""
        self.nearness = self.nearness[rows]


def compared(
    mechanism: Mechanism, goals: Sequence[Goal], targets: Sequence[np.ndarray], postures: np.ndarray
) -> ComparedPostures:
    """Postures as starts for targets (targets, size) of goals; without a goal that can be compared they keep their order."""
    told = [(goal, target) for goal, target in zip(goals, targets, strict=True) if goal.scales(mechanism.tree)]
    if not told:
        return ComparedPostures(postures, np.zeros((len(targets[0]), len(postures)), np.float32))
    scale = np.concatenate([goal.weight**0.5 * np.array(goal.scales(mechanism.tree)) for goal, _ in told])
    reached = _reached(mechanism, KeyedGoals([[goal for goal, _ in told]]))(postures) * scale
    wanted = np.concatenate([target for _, target in told], axis=1) * scale
    nearness = wanted.astype(np.float32) @ reached.astype(np.float32).T
    nearness -= 0.5 * np.sum(reached**2, axis=1, dtype=np.float32)
    return ComparedPostures(postures, nearness)


@lru_cache(maxsize=64)
def random_postures(mechanism: Mechanism, seed: int, count: int, limits: bool) -> np.ndarray:
    """Random coordinates (at least `count`, nq), those with limits within them; kept, as drawing 256 takes milliseconds."""
    rng = np.random.default_rng(seed)
    low, high = limits_of(mechanism) if limits else ({}, {})
    bounded = sorted(low.keys() & high.keys())
    q = np.zeros((max(count, DRAWN), mechanism.nq))
    if len(bounded) < mechanism.nq:
        q[:] = [random_coordinates(mechanism.tree, rng) for _ in q]
    q[:, bounded] = rng.uniform([low[i] for i in bounded], [high[i] for i in bounded], (len(q), len(bounded)))
    q.flags.writeable = False
    return q


@lru_cache(maxsize=64)
def _reached(mechanism: Mechanism, goals: KeyedGoals) -> Kernel:
    """q → the targets that a posture reaches, side by side."""
    tree: Tree = mechanism.tree

    def reached(q: Sequence[Scalar]) -> dict[str, list[Scalar]]:
        posture = Posture(tree, q)
        return {"reached": [x for goal in goals.levels[0] for x in goal.reached(posture)]}

    return Kernel(trace(reached, {"q": tree.nq}, f"reached_{mechanism.name}"))


#: Steps of one search: a new start is then better than more steps, unless goals of lower priority come to rest slowly.
STEPS, STEPS_WITH_PRIORITIES = 25, 100
#: From new starts fewer steps are enough, as these are near the target.
STEPS_AGAIN = 16
#: Searches of one call where few targets are left.
SEARCHES = 128
#: Targets that are compared with starts at a time, for which memory is needed.
COMPARED = 16384


class Reached(NamedTuple):
    """What inverse kinematics found.

    Attributes:
        q: coordinates (..., nq): the solution, or the posture that comes nearest where there is none.
        error: the largest error of the goals of first priority there (...) [m, rad].
        solved: whether it is within the tolerance (...).
        steps: of the last search (...).
    """

    q: np.ndarray
    error: np.ndarray
    solved: np.ndarray
    steps: np.ndarray


def inverse_kinematics(
    mechanism: Mechanism,
    goals: Goal | Sequence[Goal | Sequence[Goal]],
    q0: np.ndarray,
    *,
    limits: bool = True,
    tolerance: float = 1e-8,
    restarts: int = 30,
    seed: int = 0,
    quick: bool = False,
) -> Reached:
    """See `Robot.inverse_kinematics`; quick: whether few searches are made, as of `Kernel`."""
    levels, rests = _levels(goals)
    restarts = checked_whole(mechanism.name, "restarts", restarts, 0, remedy="Give a number of searches", error=InputError)
    seed = checked_whole(mechanism.name, "seed", seed, 0, remedy="Give a whole number", error=InputError)
    targets = [goal.target(mechanism.tree) for level in levels for goal in level]
    search = _search(mechanism, KeyedGoals(levels, rests=rests), limits, quick)
    shape = np.broadcast_shapes(q0.shape[:-1], *(target.shape[:-1] for target in targets))
    q = np.broadcast_to(q0, (*shape, mechanism.nq)).reshape(-1, mechanism.nq)
    wanted = [np.broadcast_to(target, (*shape, target.shape[-1])).reshape(len(q), target.shape[-1]) for target in targets]
    best = search(q, tolerance, np.inf, wanted)
    found, error, steps = best
    open_rows = np.flatnonzero(~(error <= tolerance))
    if restarts and len(open_rows):
        postures = random_postures(mechanism, seed, restarts, limits)
        for rows in np.array_split(open_rows, -(-len(open_rows) // COMPARED)):
            its_targets = [target[rows] for target in wanted]
            starts = compared(mechanism, levels[0], its_targets[: len(levels[0])], postures)
            again = Found(found[rows], error[rows], steps[rows])
            _begin_again(search, starts, its_targets, again, tolerance, restarts, np.inf if rests else STEPS_AGAIN)
            found[rows], error[rows], steps[rows] = again
    search.finish(best, tolerance, wanted)
    return Reached(
        found.reshape(*shape, mechanism.nq), error.reshape(shape), (error <= tolerance).reshape(shape), steps.reshape(shape)
    )


def _begin_again(
    search: Search,
    starts: ComparedPostures,
    targets: Sequence[np.ndarray],
    best: Found,
    tolerance: float,
    restarts: int,
    most: float,
) -> None:
    """Searches from further starts, each target from its nearest ones, until all are found or `restarts` are made.

    Where few targets are left, each is searched from several starts at once, as many as one instruction works on.
    """
    rows = np.arange(len(best.error))
    while restarts and len(rows):
        count = min(restarts, search.lanes, max(1, SEARCHES // len(rows)))
        restarts -= count
        repeated = np.repeat(rows, count)
        begin = starts.take(count).reshape(len(repeated), -1)
        made = search(begin, tolerance, most, [target.take(repeated, axis=0) for target in targets])
        error = np.where(np.isnan(made.error), np.inf, made.error).reshape(len(rows), count)
        chosen = np.where(error <= tolerance, 0.0, error).argmin(axis=1) + count * np.arange(len(rows))  # the first one found
        better = ~(best.error[rows] <= error.ravel()[chosen])
        for kept, new in zip(best, made, strict=True):
            kept[rows[better]] = new[chosen[better]]
        missing = ~(best.error[rows] <= tolerance)
        rows = rows[missing]
        starts.keep(missing)


@lru_cache(maxsize=64)
def _search(mechanism: Mechanism, goals: KeyedGoals, limits: bool, quick: bool) -> Search:
    """The search for goals; those of lower priority rest only in double precision."""
    steps = STEPS_WITH_PRIORITIES if goals.rests else STEPS
    written_here = all(type(goal).__module__.startswith(f"{__package__}.") for level in goals.levels for goal in level)
    known = digest(mechanism) if written_here else None  # goals of others may change while their keys stay
    program = found_or_traced(
        None if known is None else f"inverse kinematics {known} {goals.key!r} {steps} {limits}",
        lambda: search_program(mechanism, goals.levels, steps, limits, rests=goals.rests),
    )
    return TwoPrecisions(program) if len(goals.levels) == 1 and not quick else Search(program, quick=quick)


def _levels(goals: Any) -> tuple[list[list[Goal]], bool]:
    """Goals by priority, and whether those of lower priority have to come to rest: as lists, not as wishes of one list."""
    levels = by_priority(goals)
    if len(levels) > 1 or len({goal.wish for goal in levels[0]}) == 1:
        return levels, len(levels) > 1
    return [[goal for goal in levels[0] if goal.wish == wish] for wish in (False, True)], False
