"""Where two solids touch: the table of pairs as one procedure."""

from __future__ import annotations

from functools import cache
from typing import Any

from ....procedure import apply, local, procedure
from ....procedure.called import Procedure
from ....procedure.programs import call_at
from ....scalar import Program, trace
from ....spatial import DenseRotation, Matrix3, Transform, Vector3
from ..table import PAIRS, Page
from .boxes import box_box
from .building import KINDS
from .convex import convex_convex
from .convex.pair import plane_convex
from .fields import field_convex
from .solids import CONVEX, COUNT, LACKS, Points, Solid, Solids, put

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


def _listed(program: Program, key: str) -> Routine:
    """The slots within the margin, whose numbers are their features."""
    slots = program.outputs[0].shape[0]

    def page(a: Solid, b: Solid, margin: float, before: int, out: Points, k: int) -> int:
        rows = local(slots, 7)
        apply(program, a.solids.sizes[a.row], a.pose, a.solids.sizes[b.row], b.pose, rows)
        found = 0
        for slot in range(slots):
            if rows[slot, 6] <= margin:
                put(out, k + found, rows[slot, 0:3], rows[slot, 3:6], rows[slot, 6], slot)
                found += 1
        return found

    return procedure(page, key)


@cache
def routine(first: int, second: int) -> Routine:
    """The routine of two kinds of solids, the smaller kind first: of the first pair of the table that fits."""
    for (a, b), pair in PAIRS.items():
        if pair.rows and a in KINDS and b in KINDS and {KINDS[a], KINDS[b]} == {first, second}:
            page, swapped = pair.rows, KINDS[a] > KINDS[b]
            if isinstance(page, str):
                return SEARCHES[page]
            return _listed(_program(page, swapped=swapped), f"{page.__name__} {swapped}")
    return convex_convex


def compile_routine(solids: Solids, lack: int) -> None:
    """Makes the routine that `touch` lacked; `lack`: what it gave."""
    code = LACKS - lack
    solids.routines[code] = routine(*divmod(code, COUNT)).address


def compile_routines(solids: Solids) -> None:
    """Makes all routines that solids may come to need."""
    kinds = {*solids.kinds.tolist(), CONVEX}
    for code in [COUNT * a + b for a in kinds for b in kinds if a <= b]:
        compile_routine(solids, LACKS - code)


def touching(a: Solid, b: Solid, margin: float, before: int, out: Points, k: int) -> int:
    """`touch` for one pair, which compiles what it lacks."""
    while (count := touch(a, b, margin, before, out, k)) <= LACKS:
        compile_routine(a.solids, count)
    return count


@procedure
def nothing_near(a: Solid, b: Solid, margin: float, before: int, out: Points, k: int) -> int:
    """No points, as the routines of pairs give them: to row k and on, and their number."""
    put(out, k, a.pose[3], b.pose[3], margin, before)
    return 0


@procedure
def touch(a: Solid, b: Solid, margin: float, before: int, out: Points, k: int) -> int:
    """Writes the points at which solid a touches solid b, and gives their number, at most eight.

    The routines of pairs are compiled when solids of such kinds first come near each other, and are called by address: one that
    is not there yet is named by a number below zero, which `compile_routine` takes.

    Args:
        a, b: of the same `Solids`; those of a are read, so that calls hand them over once.
        margin: the largest gap of a point that is written [m]; at least 0.
        before: the feature of any point of this pair in the last step, −1 if there was none; what touches is changed only
            where this is better by 1e-6 m, so that lists of points do not flicker.
        out: where they are written, from row k on; eight rows must be free there. Where `convex_convex` finds none, an axis
            from A to B along which they are further apart than the margin is the normal of row k.
    """
    swapped = a.solids.kinds[a.row] > a.solids.kinds[b.row]
    first = Solid(a.solids, b.row if swapped else a.row, b.pose if swapped else a.pose)
    second = Solid(a.solids, a.row if swapped else b.row, a.pose if swapped else b.pose)
    code, found, tries = COUNT * a.solids.kinds[first.row] + a.solids.kinds[second.row], -1, 0
    while found < 0 and tries < 2:
        if a.solids.routines[code] == 0:
            return LACKS - code
        found = call_at(a.solids.routines[code], nothing_near, first, second, margin, before, out, k)
        code, tries = COUNT * CONVEX + CONVEX, tries + 1  # a routine that cannot tell leaves the pair to the one for any solids
    if swapped:
        out.normals[k : k + max(found, 1)] *= -1.0
    return found
