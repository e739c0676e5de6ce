"""What drives a step where functions compute a part of it, and how that part follows the state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..compile import Kernel
from ..kinematics import rate
from ..model import Tree
from ..scalar import Program, Scalar, TraceError, inlined, inlined_slopes, is_zero, loop, trace
from ..simulate.driving.forcing import Forcing

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


class InputColumns:
    """How the derivatives by entries of u are made of those by efforts along the joints, when they are asked for.

    Attributes:
        places: (degree of freedom, entry of u) where an entry may be an effort along a joint.
    """

    def __init__(self, forcing: Forcing, columns: int, functions: Program | None):
        """By the first `columns` entries of u; `functions`: what those that are compiled into the step compute."""
        layout, each = forcing.layout, range(forcing.mechanism.nv)
        self._nv, self._columns, self._own = len(each), columns, 0 if functions else len(each)
        self.places = [(row, column) for column in range(columns) for row in each] if functions else [(k, k) for k in each]
        driven = [[joint.v] for joint in forcing.mechanism.driven]
        for group, rows in (("wrenches", [each] * 6), ("commands", driven)) if functions is None else ():
            for place in layout.group(group).values():
                self.places += [(row, k) for k, those in enumerate(rows, place.start) for row in those]

    @cached_property
    def _kernel(self) -> Kernel:
        """(2nv · nv) by efforts along the joints, efforts at the places → (2nv, columns)."""

        def columns(by_effort: Any, efforts: Any) -> Any:
            def row(i: Any, _: None) -> tuple[None, list[Scalar]]:
                found: list[Scalar] = [0.0] * self._columns
                for (k, column), effort in zip(self.places, efforts, strict=True):
                    found[column] = found[column] + by_effort[i * self._nv + k] * effort
                return None, found

            rows = loop(2 * self._nv, row, None)[1]
            return [rows[i] for i in range(2 * self._nv)]

        return Kernel(trace(columns, {"by_effort": 2 * self._nv**2, "efforts": len(self.places)}, "input_columns"))

    def __call__(self, by_effort: np.ndarray, efforts: np.ndarray, place: slice) -> np.ndarray:
        """The columns (..., 2nv, m) of a stretch of u, of those (..., 2nv, nv), and of the efforts at the places (..., n)."""
        if place.stop <= self._own:
            return by_effort[..., place]
        return self._kernel(by_effort.reshape(*by_effort.shape[:-2], -1), efforts)[..., place]  # type: ignore[no-any-return]


def can_follow(tree: Tree, program: Program | None) -> bool:
    """Whether `driving` takes a program."""
    try:
        inlined_slopes(program, [[0.0] * array.size for array in program.inputs], []) if program else None
    except TraceError:
        return False
    return True
