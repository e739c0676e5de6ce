"""The search for one posture as a program: steps until the goals of the first priority are fulfilled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..dynamics import chord_closings, constraint_rows, link_motions, loop_jacobian, projected
from ..kinematics import integrate, normalized
from ..model import Mechanism, Tree
from ..scalar import Program, Scalar, absolute, both, either, loop, maximum, minimum, select, trace
from .contract import Goal, Posture
from .step import Level, clipped, damped_step, free_at_limits, limits_of

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
            found = [_level(level, posture, wanted) for level in levels]
            return [_with_loops(found[0], tree, posture.q), *found[1:]] if tree.closed else found

        def body(k: Any, carry: _Search) -> tuple[_Search, None]:
            at, here = carry.q, carry.levels
            step = damped_step(here, free_at_limits(tree, at, here[0], low, high), carry.damping)
            largest = _largest(step)
            short = minimum(1.0, LONGEST_STEP / maximum(largest, LONGEST_STEP))
            moved = clipped(normalized(tree, integrate(tree, at, [x * short for x in step])), low, high)
            there = levels_at(moved)
            squared = there[0].squared_error()
            better = either(squared < carry.squared, squared < NEAR * NEAR)
            q = [select(better, a, b) for a, b in zip(moved, at, strict=True)]
            error = select(better, _largest(there[0].errors), carry.error)
            levels = [_chosen(better, a, b) for a, b in zip(there, here, strict=True)]
            damping = select(better, maximum(carry.damping * LESS, DAMPING), carry.damping * MORE)
            return _Search(q, levels, error, select(better, squared, carry.squared), damping, largest, carry.steps + 1.0), None

        def unfinished(carry: _Search) -> Scalar:
            moves = either(tolerance < carry.error, carry.move > STILL) if rests else tolerance < carry.error
            return both(moves, carry.steps < most)

        start = clipped(q, low, high)
        begin = levels_at(start)
        first = _Search(start, begin, _largest(begin[0].errors), begin[0].squared_error(), DAMPING, 1.0, 0.0)
        found, _, error, *_, count = loop(steps, body, first, while_=unfinished)[0]
        if tree.closed:
            closed, _ = projected(tree, found, [0.0] * tree.nv)
            found = [select(error < _CLOSE, a, b) for a, b in zip(normalized(tree, closed), found, strict=True)]
        return {"q": found, "error": error, "steps": count}

    sizes: dict[str, int | tuple[int, ...]] = {"q": tree.nq, "tolerance": (), "most": ()}
    sizes |= {f"target_{k}": goal.size(tree) for k, goal in enumerate(goals)}
    return trace(search, sizes, f"inverse_kinematics_{mechanism.name}")


def _level(goals: Sequence[Goal], posture: Posture, wanted: dict[int, Any]) -> Level:
    level = Level([], [], [])
    for goal in goals:
        target = wanted[id(goal)]
        errors = goal.errors(posture, target)
        level.errors.extend(errors)
        level.slopes.extend(goal.slopes(posture, target))
        level.weights.extend([goal.weight] * len(errors))
    return level


def _with_loops(level: Level, tree: Tree, q: Sequence[Scalar]) -> Level:
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


def _largest(values: Sequence[Scalar]) -> Scalar:
    found: Scalar = 0.0
    for value in values:
        found = maximum(found, absolute(value))
    return found
