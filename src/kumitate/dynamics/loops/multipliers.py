"""The forces (Lagrange multipliers) of the loops' rows that give the rows the required accelerations.

Λ = J M⁻¹ Jᵀ may be singular: loops may be redundant, and in a singular posture they lose rank. The damped
solve then leaves forces in the null space of Λ unchanged, and needs no branches in the code.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Tree
from ...scalar import Scalar
from ...spatial import SWEEPS, NearestSolver
from .constraints import Row
from .propagation import RowResponse

#: Damping of Λ, relative to the inverse of the mechanism's total mass (or of mass times length squared). Among 1e-5 … 1e-10
#: this passes singular postures most accurately: less lets rounding in the null space through, more resolves too little.
DAMPING = 1e-6


def mobilities(reached: Sequence[RowResponse]) -> list[list[Scalar]]:
    """Λ = J M⁻¹ Jᵀ (rows, rows): the accelerations of all rows per unit force of each."""
    Lambda: list[list[Scalar]] = [[0.0] * len(reached) for _ in reached]
    for i, a in enumerate(reached):
        for j, b in enumerate(reached[: i + 1]):
            common = [a.push[k] * (a.mobility[k] * b.push[k]) for k in a.push if k in b.push]
            Lambda[i][j] = Lambda[j][i] = sum(common, 0.0)
    return Lambda


def row_solver(
    tree: Tree,
    rows: Sequence[Row],
    Lambda: Sequence[Sequence[Scalar]],
    metric: Sequence[Sequence[Scalar]] | None = None,
    *,
    damping: float = DAMPING,
) -> NearestSolver:
    """Solves (Λ + softness) λ = wanted for the forces λ nearest to a start where Λ does not determine them.

    Args:
        metric: (rows, rows), the metric of "nearest"; by default that of forces, and of moments over the mechanism's size.
        damping: of Λ, as `DAMPING`.
    """
    soft = [list(line) for line in Lambda]
    for i, row in enumerate(rows):
        soft[i][i] = soft[i][i] + row.softness
    if metric is None:
        own = [tree.size**-2 if row.angular else 1.0 for row in rows]
        metric = [[size if i == j else 0.0 for j in range(len(rows))] for i, size in enumerate(own)]
    return NearestSolver(soft, [[damping / tree.mass * entry for entry in line] for line in metric])


def solved_rows(
    tree: Tree,
    rows: Sequence[Row],
    Lambda: Sequence[Sequence[Scalar]],
    wanted: Sequence[Scalar],
    metric: Sequence[Sequence[Scalar]] | None = None,
    start: Sequence[Scalar] | None = None,
    *,
    damping: float = DAMPING,
    sweeps: int = SWEEPS,
) -> list[Scalar]:
    """The forces λ of (Λ + softness) λ = wanted, nearest to `start` where Λ does not determine them.

    Args:
        metric, damping: as for `row_solver`.
        start: (rows), zero by default.
        sweeps: of the solve. Rounding in the null space grows as sweeps/damping.
    """
    return row_solver(tree, rows, Lambda, metric, damping=damping).solve(wanted, start, sweeps=sweeps)
