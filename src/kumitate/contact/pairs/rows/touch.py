"""Where two solids touch: the table of pairs as one procedure."""

from __future__ import annotations

from typing import Any

from ....procedure import apply, local, procedure
from ....procedure.called import Procedure
from ....scalar import Program, trace
from ....spatial import DenseRotation, Matrix3, Transform, Vector3
from ..table import PAIRS, Page
from .boxes import box_box
from .building import KINDS
from .convex import convex_convex
from .convex.pair import plane_convex
from .fields import field_convex
from .solids import Points, Solid, put

Routine = Procedure[[Solid, Solid, float, int, Points, int], int]
#: Procedures that the table names. Each takes the solid of the first kind before the other, and gives −1 where it cannot tell.
SEARCHES: dict[str, Routine] = {
    "box_box": box_box, "convex_convex": convex_convex, "field_convex": field_convex, "plane_convex": plane_convex,
}  # fmt: skip


class _Lengths:
    """A shape as pages read it, from its row of sizes."""

    def __init__(self, size: Any):
        self.size, self.length, self.radius = [2.0 * size[k] for k in range(3)], 2.0 * size[2], size[6]


def _pose(row: Any) -> Transform:
    return Transform(DenseRotation(Matrix3.of(row[:3])), Vector3.of(row[3]))


def _program(page: Page, *, swapped: bool) -> Program:
    """The slots of a page as rows (position, normal from the first solid to the second, gap); `swapped`: A is the second."""

    def slots(size_a: Any, pose_a: Any, size_b: Any, pose_b: Any) -> list[Any]:
        a, b = (_Lengths(size_a), _pose(pose_a)), (_Lengths(size_b), _pose(pose_b))
        found = page(*b, *a) if swapped else [touch.flipped() for touch in page(*a, *b)]
        return [touch.numbers for touch in found]

    return trace(slots, {"size_a": 8, "pose_a": (4, 3), "size_b": 8, "pose_b": (4, 3)}, page.__name__)


def _listed(program: Program) -> Routine:
    """The slots within the margin, whose numbers are their features."""
    slots = program.outputs[0].shape[0]

    @procedure
    def page(a: Solid, b: Solid, margin: float, before: int, out: Points, k: int) -> int:
        rows = local(slots, 7)
        apply(program, a.solids.sizes[a.row], a.pose, a.solids.sizes[b.row], b.pose, rows)
        found = 0
        for slot in range(slots):
            if rows[slot, 6] <= margin:
                put(out, k + found, rows[slot, 0:3], rows[slot, 3:6], rows[slot, 6], slot)
                found += 1
        return found

    return page


def _of_kinds(first: int, second: int, routine: Routine, otherwise: Routine) -> Routine:
    """A routine for solids of two kinds, and the one for all others."""

    @procedure
    def chosen(a: Solid, b: Solid, margin: float, before: int, out: Points, k: int) -> int:
        if a.solids.kinds[a.row] == first and a.solids.kinds[b.row] == second:
            return routine(a, b, margin, before, out, k)
        return otherwise(a, b, margin, before, out, k)

    return chosen


def _by_table() -> Routine:
    """The routine of every pair of the table: the first that fits, and for those that are left the one for any solids."""
    routines: dict[tuple[int, int], Routine] = {}
    for (a, b), pair in PAIRS.items():
        if pair.rows and a in KINDS and b in KINDS:
            first, second = sorted((KINDS[a], KINDS[b]))
            if (first, second) not in routines:
                page = pair.rows
                made = SEARCHES[page] if isinstance(page, str) else _listed(_program(page, swapped=KINDS[a] > KINDS[b]))
                routines[first, second] = made
    whole: Routine = convex_convex
    for (first, second), routine in reversed(routines.items()):
        if routine is not convex_convex:
            whole = _of_kinds(first, second, routine, whole)
    return whole


_BY_TABLE = _by_table()


@procedure
def touch(a: Solid, b: Solid, margin: float, before: int, out: Points, k: int) -> int:
    """Writes the points at which solid a touches solid b, and gives their number, at most eight.

    Args:
        a, b: of the same `Solids`; those of a are read, so that calls hand them over once.
        margin: the largest gap of a point that is written [m]; at least 0.
        before: the feature of any point of this pair in the last step, −1 if there was none; what touches is changed only
            where this is better by 1e-6 m, so that lists of points do not flicker.
        out: where they are written, from row k on; eight rows must be free there. Where `convex_convex` finds none, an axis
            from A to B along which they are further apart than the margin is the normal of row k.
    """
    # Pairs are named in the order of the kinds, so that there is one call of each routine, which can be inlined.
    swapped = a.solids.kinds[a.row] > a.solids.kinds[b.row]
    first = Solid(a.solids, b.row if swapped else a.row, b.pose if swapped else a.pose)
    second = Solid(a.solids, a.row if swapped else b.row, a.pose if swapped else b.pose)
    found = _BY_TABLE(first, second, margin, before, out, k)
    if found < 0:
        found = convex_convex(first, second, margin, before, out, k)
    if swapped:
        out.normals[k : k + max(found, 1)] *= -1.0
    return found
