"""The search for one posture as a program: steps until the goals of the first priority are fulfilled."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple

from ..dynamics import chord_closings, constraint_rows, link_motions, loop_jacobian, projected, solve_symmetric
from ..dynamics.factored import largest
from ..kinematics import integrate, normalized
from ..model import Mechanism, Tree
from ..model.bounds import position_limits
from ..scalar import Program, Scalar, both, either, loop, maximum, minimum, select, trace
from ..spatial import dot
from .goals import Goal, Posture

# --- one step of inverse kinematics: damped least squares in the order of priorities --------------------------------------
# The damping is in proportion to the squared error (Sugihara, IEEE Trans. Robotics 27, 2011): steps are short where the
# target is far or out of reach, and those of Newton's method near a solution. A goal of lower priority moves within the null
# space of those before it (Nakamura, Hanafusa and Yoshikawa 1987). Degrees of freedom at a limit that would move beyond it
# stay where they are.
#
# The limits of coordinates, and the degrees of freedom that are held at them.

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
    """The displacement (nv) towards the goals; `free` is 1 for freedoms that may move (nv), `damping` per squared error."""
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
NEAR = 1e-4
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
            better = either(squared < carry.squared, squared < NEAR * NEAR)
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
