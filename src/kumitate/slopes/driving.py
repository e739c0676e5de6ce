"""What drives a step where functions compute a part of it, and how that part follows the state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..kinematics import rate
from ..model import Tree
from ..scalar import Program, Scalar, TraceError, inlined, inlined_slopes, is_zero

#: The entries of a column of a matrix that are not zero, by row.
SparseColumn = dict[int, Scalar]


class DrivingSlopes(NamedTuple):
    """All entries of u at a state, those that functions compute included.

    Attributes:
        u: the entries.
        slopes: of each entry that a function computes, by its place in u: how it changes with (q, v, u), by column.
    """

    u: list[Scalar]
    slopes: Mapping[int, SparseColumn]

    def chained(self, columns: Sequence[SparseColumn], n: int) -> list[SparseColumn]:
        """The columns by q, v and u (2n and more) that columns by the entries of u alone amount to."""
        found: list[SparseColumn] = [{} for _ in range(2 * n)]
        found += [{} if k in self.slopes else dict(column) for k, column in enumerate(columns)]
        for k, slopes in self.slopes.items():
            for at, slope in slopes.items():
                for i, x in columns[k].items():
                    found[at][i] = found[at].get(i, 0.0) + x * slope
        return found


def driving(tree: Tree, program: Program | None, t: Scalar, q: Any, v: Any, u: Any) -> DrivingSlopes:
    """What drives a step from a state: u, with what the program of its functions puts in its place.

    Raises:
        TraceError: for functions with loops or calls of programs in them.
    """
    if program is None:
        return DrivingSlopes(list(u), {})
    still: list[Any] = [[0.0], [0.0] * len(q), [0.0] * len(v), [0.0] * len(u)]
    units = np.eye(tree.nv).tolist()
    ways = [[still[0], rate(tree, q, unit), *still[2:]] for unit in units]
    ways += [[*still[:2], unit, still[3]] for unit in units]
    ways += [[*still[:3], unit] for unit in np.eye(len(u)).tolist()]
    given = ([t], list(q), list(v), list(u))
    values, changes = inlined(program, given), inlined_slopes(program, given, ways)
    computed = [k for k, (value, before) in enumerate(zip(values, u, strict=True)) if value is not before]
    slopes = {k: {at: row[k] for at, row in enumerate(changes) if not is_zero(row[k])} for k in computed}
    return DrivingSlopes(values, slopes)


def can_follow(tree: Tree, program: Program | None) -> bool:
    """Whether `driving` takes a program."""
    try:
        inlined_slopes(program, [[0.0] * array.size for array in program.inputs], []) if program else None
    except TraceError:
        return False
    return True
