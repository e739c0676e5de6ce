"""The columns of the derivatives of a step that one linear system gives: solved for, and carried to the end of the step.

The code is a loop over the columns, so that it is short, however many there are. A pass takes three of them: by a coordinate,
by its velocity and by an effort along it. So every entry of the factors is read once for three products.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ...contact.impulse.jacobians import Pattern, along
from ...dynamics.derivatives.slopes import Matrix
from ...model import Tree
from ...scalar import Program, Scalar, Stack, call, is_zero, loop, table, trace
from ...spatial import Elimination, SparseFactors, dot


class JointEnd(NamedTuple):
    """How a step ends at a joint whose coordinates are not those of a vector space, of k degrees of freedom.

    Attributes:
        own: its motion at the end by each coordinate of the tree (k, nv), while the velocities stay.
        moved: its motion at the end by that in the step (k, k).
        carried: its velocities in the axes after the step by those before (k, k).
    """

    own: Sequence[Sequence[Scalar]]
    moved: Sequence[Sequence[Scalar]]
    carried: Sequence[Sequence[Scalar]]


def step_columns(
    tree: Tree, system: TwoRounds, ends: Mapping[int, JointEnd], h: Scalar, efforts: Sequence[SparseColumn]
) -> tuple[Matrix, Matrix]:
    """A (2nv, 2nv) and B (2nv, nv and more) of a step h.

    Args:
        ends: by the index of the link; other joints end where they moved to.
        efforts: for the columns of B behind those of efforts along the joints, such efforts in their place.
    """
    sparse = [[x for row in matrix.values() for x in row.values()] for matrix in (system.H, system.over)]
    given = [*sparse, h, system.by_q, system.by_v, system.by_q_over, entries_of(efforts)]
    found = call(_program(tree, system, ends, efforts), *given, *(part for end in ends.values() for part in end))
    return found["A"], found["B"]


def _program(tree: Tree, system: TwoRounds, known: Mapping[int, JointEnd], efforts: Sequence[SparseColumn]) -> Program:
    """(entries of H and E, h, the other parts of the system, entries of the efforts, ends) → A and B."""
    n = tree.nv
    stretches = stretches_of(related(tree))

    def columns(H: Any, E: Any, h: Any, by_q: Any, by_v: Any, by_q_over: Any, entries: Any, *parts: Any) -> dict[str, Any]:
        solver = ColumnSolver.of(stretches, filled(system.H, H), filled(system.over, E), h, (by_q, by_v, by_q_over))
        given = {index: JointEnd(*parts[3 * k : 3 * k + 3]) for k, index in enumerate(known)}
        ends = {index: _without_zeros(end, known[index]) for index, end in given.items()}
        own = list(solver.unit)
        for link in (tree.links[index] for index in ends):
            own[link.v_start : link.v_start + link.kind.nv] = ends[link.index].own

        def three(stretch: Stretch, k: Any) -> list[list[Scalar]]:
            first, second, third = (_at_end(tree, ends, h, x) for x in solver.three(stretch.rows, k))
            return [[x + row[k] for x, row in zip(first, own, strict=False)] + first[n:], second, third]

        found = loops_over(stretches, three)
        kept = [stack[k] for each, stack in found for k in range(each.stop - each.start)]
        others = list(effort_columns(efforts, found, 2, entries))
        A = [[kept[k][part][i] for part in (0, 1) for k in range(n)] for i in range(2 * n)]
        B = [[*(kept[k][2][i] for k in range(n)), *(column[i] for column in others)] for i in range(2 * n)]
        return {"A": A, "B": B}

    sizes: dict[str, int | tuple[int, ...]] = {"H": size_of(system.H), "E": size_of(system.over), "h": ()}
    sizes |= dict.fromkeys(("by_q", "by_v", "by_q_over"), (n, n))
    sizes["entries"] = len(entries_of(efforts))
    for index in known:
        k = tree.links[index].kind.nv
        sizes |= {f"own_{index}": (k, n), f"moved_{index}": (k, k), f"carried_{index}": (k, k)}
    return trace(columns, sizes, f"columns_{n}")


def _without_zeros(end: JointEnd, known: JointEnd) -> JointEnd:
    """The same with zeros where they are known."""

    def sparse(given: Any, of: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        return [[0.0 if is_zero(x) else row[k] for k, x in enumerate(at)] for row, at in zip(given, of, strict=True)]

    return JointEnd(end.own, sparse(end.moved, known.moved), sparse(end.carried, known.carried))


def _at_end(tree: Tree, ends: Mapping[int, JointEnd], h: Scalar, x: Sequence[Scalar]) -> list[Scalar]:
    """The motion and the velocities after a step, with changes x of the velocities."""
    moved: list[Scalar] = []
    after: list[Scalar] = []
    for link in tree.links:
        own = link.velocities(x)
        steps = [h * rate for rate in own]
        end = ends.get(link.index)
        moved += steps if end is None else [dot(row, steps) for row in end.moved]
        after += own if end is None else [dot(row, own) for row in end.carried]
    return [*moved, *after]


# --- Columns of B that are sums of those of efforts along the joints: of wrenches, and of what drives are commanded ---

#: The efforts along the joints, by degree of freedom, that one effort or input stands for.
SparseColumn = dict[int, Scalar]


class _Group(NamedTuple):
    """Neighbouring columns with equally many entries, of which each next column has its own `stride` rows further down.

    Attributes:
        rows: of the entries of the first column; width: the number of columns.
        start: the place of the first entry among those of all columns.
    """

    rows: list[int]
    stride: int
    width: int
    start: int


def entries_of(columns: Sequence[SparseColumn]) -> list[Scalar]:
    """The entries of all columns, one after the other."""
    return [entry for column in columns for entry in column.values()]


def effort_columns(columns: Sequence[SparseColumn], along: Kept, part: int, entries: Any) -> Iterator[list[Scalar]]:
    """The columns of B, in a loop over neighbours that are alike.

    Args:
        columns: of which the places of the entries are read; entries: as of `entries_of`.
        along: what loops have kept, of which `part` is the column of an effort along a joint.
    """
    height = len(along[0][1][0][part])
    for group in _groups(columns, [each.start for each, _ in along[1:]]):

        def column(k: Any, _: Any, group: _Group = group) -> tuple[None, list[Scalar]]:
            rows, stride, _, start = group
            weights = [entries[k * len(rows) + (start + j)] for j in range(len(rows))]
            parts = [stack[k * stride + at][part] for stack, at in (kept_at(along, row) for row in rows)]
            return None, [sum((w * each[i] for w, each in zip(weights, parts, strict=True)), 0.0) for i in range(height)]

        _, found = loop(group.width, column, None)
        yield from (found[k] for k in range(group.width))


def _groups(columns: Sequence[SparseColumn], borders: Sequence[int]) -> Iterator[_Group]:
    """The columns in groups as large as can be, in which no entry passes from one loop's columns to those of the next."""
    start, k = 0, 0
    while k < len(columns):
        rows, count, stride = list(columns[k]), 1, 0
        if _next(columns[k], columns[k + 1 : k + 2], 1, borders):
            stride = 1
        while _next(columns[k], columns[k + count : k + count + 1], stride * count, borders):
            count += 1
        yield _Group(rows, stride, count, start)
        start, k = start + count * len(rows), k + count


def _next(first: SparseColumn, column: Sequence[SparseColumn], down: int, borders: Sequence[int]) -> bool:
    """Whether a column, if there is one, has the entries of the first so many rows further down, before the next border."""
    moved = [row + down for row in first]
    return [list(each) for each in column] == [moved] and not any(
        row < border <= end for row, end in zip(first, moved, strict=True) for border in borders
    )


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


#: What the loops over stretches have kept.
Kept = Sequence[tuple[Stretch, Stack]]


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


def loops_over(stretches: Sequence[Stretch], body: Callable[[Stretch, Any], Any]) -> Kept:
    """A loop over the columns of each stretch, and what `body(stretch, column)` gives."""

    def over(stretch: Stretch) -> Stack:
        return loop(stretch.stop - stretch.start, lambda k, _: (None, body(stretch, k + stretch.start)), None)[1]

    return [(stretch, over(stretch)) for stretch in stretches]


def kept_at(kept: Kept, column: int) -> tuple[Stack, int]:
    """The loop that has kept a column, and its pass."""
    return next((stack, column - stretch.start) for stretch, stack in kept if column < stretch.stop)


# --- Two rounds of a linear system at once, for many columns, by the factors H = L U --------------------------------
# With y = L⁻¹ r and T = L⁻¹ E U⁻¹, x₁ = U⁻¹ y and H x = r + s − E x₁ give
#
#     x = U⁻¹ (y + L⁻¹ s − T y).
#
# For the joints of a tree L, U and T have the sparsity of its inertia matrix, so that T y takes half the work of a third
# system.


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


@dataclass(frozen=True)
class ColumnSolver:
    """The solution by three columns at a time: of a coordinate, of its velocity, and of an effort along it.

    Attributes:
        factors: L and U; `between`: T.
        h: the step, which is r of an effort; `right`: r by the coordinates and by the velocities, s by the coordinates.
        unit: for each row, a table of the unit vector's entries.
    """

    factors: SparseFactors
    between: Pattern
    h: Scalar
    right: Sequence[Any]
    unit: Sequence[Any]

    @classmethod
    def of(cls, stretches: Sequence[Stretch], H: Pattern, E: Pattern, h: Scalar, right: Sequence[Any]) -> ColumnSolver:
        """The factors are computed here; T in loops over the stretches."""
        factors, n = SparseFactors.of(H), len(H)
        lower = [step.column for step in factors.steps]
        upper = [{j: value * step.inverse for j, value in step.row.items()} for step in factors.steps]
        dense = [[E[i].get(k, 0.0) for k in range(n)] for i in range(n)]
        pivots = [step.pivot for step in factors.steps]
        program = _forward_program(n, pivots, [list(column) for column in lower], stretches)
        left = call(program, _entries(lower), dense)
        both = call(program, _entries(upper), list(zip(*left, strict=True)))
        inverse = {step.pivot: step.inverse for step in factors.steps}
        between = {i: {k: both[k][i] * inverse[k] for k in row} for i, row in _places(factors, E).items()}
        return cls(factors, between, h, right, [table([1.0 if i == k else 0.0 for k in range(n)]) for i in range(n)])

    def three(self, rows: Collection[int], k: Any) -> Iterable[Sequence[Scalar]]:
        """The changes of the velocities, by column k of a stretch whose right sides have entries in these rows."""
        by_q, by_v, by_q_over = self.right
        n = range(len(self.unit))
        right: Any = [_triple(by_q[i][k], by_v[i][k], self.h * self.unit[i][k]) if i in rows else _triple() for i in n]
        more: Any = [_triple(by_q_over[i][k]) if i in rows else _triple() for i in n]
        once, over = self.factors.forward(right), self.factors.forward(more)
        both: Any = [once[i] + over[i] - along(self.between[i], once) for i in n]
        return zip(*self.factors.backward(both), strict=True)


def _forward_program(n: int, pivots: Sequence[int], places: Sequence[Sequence[int]], stretches: Sequence[Stretch]) -> Program:
    """(entries of L, a matrix) → L⁻¹ times the matrix, both with zeros outside the rows of each stretch of columns.

    Args:
        pivots: in the order of the elimination; places: the rows of the entries of L in each column.
    """

    def forward(entries: Any, matrix: Any) -> list[list[Scalar]]:
        left = iter(range(len(entries)))
        steps = (
            Elimination(p, 1.0, {i: entries[next(left)] for i in rows}, {}) for p, rows in zip(pivots, places, strict=True)
        )
        L = SparseFactors(steps)

        def column(stretch: Stretch, k: Any) -> list[Scalar]:
            return L.forward([matrix[i][k] if i in stretch.rows else 0.0 for i in range(n)])

        found = [stack[k] for each, stack in loops_over(stretches, column) for k in range(each.stop - each.start)]
        return [[column[i] for column in found] for i in range(n)]

    sizes: dict[str, int | tuple[int, ...]] = {"entries": sum(map(len, places)), "matrix": (n, n)}
    return trace(forward, sizes, f"forward_{n}")


def _places(factors: SparseFactors, E: Pattern) -> dict[int, list[int]]:
    """Where L⁻¹ E U⁻¹ has entries, row by row."""
    found = {i: set(row) for i, row in E.items()}
    for step in factors.steps:
        for i in step.column:
            found[i] |= found[step.pivot]
    for step in factors.steps:
        for row in found.values():
            if step.pivot in row:
                row |= step.row.keys()
    return {i: sorted(row) for i, row in found.items()}


def _entries(columns: Sequence[dict[int, Scalar]]) -> list[Scalar]:
    return [entry for column in columns for entry in column.values()]


def _triple(*entries: Scalar) -> Any:
    """Three numbers that are computed with together; those left out are zero."""
    return np.array([*entries, *(0.0,) * (3 - len(entries))], dtype=object)


def filled(pattern: Pattern, entries: Sequence[Scalar]) -> Pattern:
    """A sparse matrix with other entries, row by row."""
    places = iter(range(size_of(pattern)))
    return {i: {j: entries[next(places)] for j in row} for i, row in pattern.items()}


def size_of(pattern: Pattern) -> int:
    """The number of entries of a sparse matrix."""
    return sum(map(len, pattern.values()))
