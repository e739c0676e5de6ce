"""The columns of the derivatives of a step that one linear system gives: solved for, and carried to the end of the step.

The code is a loop over the columns, so that it is short, however many there are. A pass takes three of them: by a coordinate,
by its velocity and by an effort along it. So every entry of the factors is read once for three products.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...dynamics.derivatives.slopes import Matrix
from ...model import Tree
from ...scalar import Program, Scalar, call, is_zero, trace
from ...spatial import dot
from .effort_columns import SparseColumn, effort_columns, entries_of
from .stretches import Stretch, loops_over, related, stretches_of
from .two_rounds import ColumnSolver, TwoRounds, filled, size_of

__all__ = ["JointEnd", "step_columns"]


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
