"""The columns of the derivatives of a step that one linear system gives: solved for, and carried to the end of the step.

The code is a loop over the columns, so that it is short, however many there are. A pass takes three of them: by a coordinate,
by its velocity and by an effort along it. So every entry of the factors is read once for three products.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ...contact.impulse.jacobians import Pattern, along
from ...dynamics.derivatives.slopes import Matrix
from ...model import Tree
from ...scalar import Scalar, Stack, call, flatten, loop, table, trace
from ...spatial import Dense, SparseFactors, dot

#: The efforts along the joints, by degree of freedom, that one effort or input stands for.
SparseColumn = dict[int, Scalar]


class StepEnd(NamedTuple):
    """How a step ends (nv, nv).

    Attributes:
        own: the motion at the end by the coordinates, while the velocities stay.
        moved: the motion at the end by that in the step.
        carried: the velocities in the axes after the step by those before.
    """

    own: Dense
    moved: Dense
    carried: Dense


def step_columns(tree: Tree, system: TwoRounds, end: StepEnd, h: Scalar, efforts: Sequence[SparseColumn]) -> Matrix:
    """The derivatives of a step h by q, v and u (2nv, 3nv and more).

    Args:
        efforts: for the columns behind those of efforts along the joints, such efforts in their place.
    """
    n, stretches = tree.nv, stretches_of(related(tree))
    leaves, build = flatten((system.H, system.over, end.moved, end.carried, h, list(efforts)))

    def columns(numbers: Any, own: Any, *right: Any) -> list[list[Scalar]]:
        given = iter(range(len(numbers)))
        H, over, moved, carried, step, sums = build([x if isinstance(x, float) else numbers[next(given)] for x in leaves])
        rounds, factors = TwoRounds(H, over, *right), SparseFactors.of(H)
        unit = [table(row) for row in np.eye(n).tolist()]

        def three(stretch: Stretch, k: Any) -> list[list[Scalar]]:
            """The columns by a coordinate, by its velocity and by an effort along it."""
            changes = rounds.three(factors, step, unit, stretch.rows, k)
            moves = [[dot(row, [step * part for part in x]) for row in moved.rows] for x in changes]
            moves[0] = [part + row[k] for part, row in zip(moves[0], own, strict=True)]
            return [[*move, *(dot(row, x) for row in carried.rows)] for move, x in zip(moves, changes, strict=True)]

        found = [stack[k] for each, stack in loops_over(stretches, three) for k in range(each.stop - each.start)]
        by_state = [[column[part][i] for part in (0, 1, 2) for column in found] for i in range(2 * n)]
        by_others = [[sum((x * found[k][2][i] for k, x in one.items()), 0.0) for one in sums] for i in range(2 * n)]
        return [[*row, *others] for row, others in zip(by_state, by_others, strict=True)]

    rows = {"own": end.own.rows, "by_q": system.by_q, "by_v": system.by_v, "by_q_over": system.by_q_over}
    symbols = [x for x in leaves if not isinstance(x, float)]
    program = trace(columns, {"numbers": len(symbols), **dict.fromkeys(rows, (n, n))}, f"columns_{n}")
    return call(program, symbols, *rows.values())  # type: ignore[no-any-return]


# --- Stretches of neighbouring columns of a linear system that reach the same rows, each long enough for a loop of its own
# What acts on a joint is felt by the joints that carry it and by those that it carries: the columns of one limb leave the rows
# of other limbs zero.

#: Shorter stretches are joined with a neighbour: loops of up to eight passes are written pass by pass.
_FEWEST = 9


class Stretch(NamedTuple):
    """The columns from `start` up to `stop`, and the rows that one of them reaches."""

    start: int
    stop: int
    rows: frozenset[int]

    def joined(self, other: Stretch) -> Stretch:
        """With the stretch behind this one."""
        return Stretch(self.start, other.stop, self.rows | other.rows)


def stretches_of(reached: Sequence[frozenset[int]]) -> list[Stretch]:
    """The stretches of columns that reach these rows each, their own included."""
    found: list[Stretch] = []
    for k, rows in enumerate(reached):
        if found and found[-1].rows == rows:
            found[-1] = found[-1]._replace(stop=k + 1)
        else:
            found.append(Stretch(k, k + 1, rows))
    while len(found) > 1 and min(stretch.stop - stretch.start for stretch in found) < _FEWEST:
        short = min(range(len(found)), key=lambda k: found[k].stop - found[k].start)
        pairs = [k for k in (short - 1, short) if 0 <= k < len(found) - 1]
        first = min(pairs, key=lambda k: len(found[k].rows | found[k + 1].rows))
        found[first : first + 2] = [found[first].joined(found[first + 1])]
    return found


def related(tree: Tree) -> list[frozenset[int]]:
    """For each degree of freedom those of the joints that carry its own, of those that it carries, and of its own."""
    own = [range(link.v_start, link.v_start + link.kind.nv) for link in tree.links]
    found: list[set[int]] = [set() for _ in range(tree.nv)]
    for link in tree.links:
        for other in tree.ancestors(link.index):
            for i, k in product(own[link.index], own[other.index]):
                found[i].add(k)
                found[k].add(i)
    return [frozenset(rows) for rows in found]


def loops_over(stretches: Sequence[Stretch], body: Callable[[Stretch, Any], Any]) -> list[tuple[Stretch, Stack]]:
    """A loop over the columns of each stretch, and what `body(stretch, column)` gives."""

    def over(stretch: Stretch) -> Stack:
        return loop(stretch.stop - stretch.start, lambda k, _: (None, body(stretch, k + stretch.start)), None)[1]

    return [(stretch, over(stretch)) for stretch in stretches]


# --- Two rounds of a linear system at once, for many columns -----------------------------------------------------------


class TwoRounds(NamedTuple):
    """H x₁ = r and H x = r + s − E x₁, for the changes x (nv) of the velocities after a step.

    Attributes:
        H, over: the matrix H of the system, and E, what is carried over to the second round.
        by_q, by_v: r by the coordinates and by the velocities (nv, nv); by an effort it is the length of the step.
        by_q_over: s by the coordinates (nv, nv).
    """

    H: Pattern
    over: Pattern
    by_q: Matrix
    by_v: Matrix
    by_q_over: Matrix

    def three(
        self, factors: SparseFactors, h: Scalar, unit: Sequence[Any], rows: Collection[int], k: Any
    ) -> list[list[Scalar]]:
        """x by the k-th coordinate, by its velocity and by an effort along it, computed side by side.

        Args:
            factors: of H; h: the step; unit: for each row, a table of the unit vector's entries.
            rows: that may have entries.
        """
        n, still = range(len(unit)), np.array([0.0] * 3, dtype=object)
        r: Any = [np.array([self.by_q[i][k], self.by_v[i][k], h * unit[i][k]], dtype=object) if i in rows else still for i in n]
        s = [np.array([self.by_q_over[i][k], 0.0, 0.0], dtype=object) if i in rows else still for i in n]
        first = factors.solve(r)
        second: Any = factors.solve([r[i] + s[i] - along(self.over[i], first) for i in n])
        return [list(x) for x in zip(*second, strict=True)]
