"""The forces (Lagrange multipliers) of the loops' rows that give the rows the required accelerations.

Λ = J M⁻¹ Jᵀ may be singular: loops may be redundant, and in a singular posture they lose rank. The damped
solve then leaves forces in the null space of Λ unchanged, and needs no branches in the code.

The effect of the loops' rows on the joints of the tree.

Every row is propagated inwards through the articulated bodies of ABA. This computes L⁻¹Jᵀ of M = L D Lᵀ, and hence Λ = J M⁻¹ Jᵀ
and the rows' free accelerations, without forming J or M.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...model import Link, PerLink, Tree, inward
from ...scalar import Scalar, Scalars
from ...spatial import Force, Motion, NearestSolver, Release
from ..aba import Handle
from ..motion import LinkMotion
from .constraints import Row


@dataclass(frozen=True)
class RowResponse:
    """The effect of a row's unit force on the joints between it and the world.

    Attributes:
        push: w, the force along each of these joints, by index in v, with every joint further in locked (a row of L⁻¹Jᵀ).
        mobility: D⁻¹ of these joints.
        free: the row's acceleration with all rows' forces zero.
    """

    push: dict[int, Scalar]
    mobility: dict[int, Scalar]
    free: Scalar


def propagate_rows(
    tree: Tree, motions: PerLink[LinkMotion], handles: PerLink[Handle], rows: Sequence[Row], root: Motion
) -> list[RowResponse]:
    """Propagates every row inwards; `root` is the acceleration of the world."""
    found = [RowResponse({}, {}, row.bias) for row in rows]
    free = [row.bias for row in rows]

    def carry(link: Link, children: list[dict[int, Force]]) -> dict[int, Force]:
        motion, handle = motions[link], handles[link]
        felt: dict[int, Force] = {}
        for k, row in enumerate(rows):
            own = [row.on[link.index]] if link.index in row.on else []
            forces = own + [child[k] for child in children if k in child]
            along = [row.along.get(link.v_start + i, 0.0) for i in range(len(motion.S))]
            if not forces and not any(along):
                continue
            force = sum(forces[1:], forces[0]) if forces else Force()
            for i, (S, release) in enumerate(zip(motion.S, handle.releases, strict=True)):
                push = S.dot(force) + along[i]
                found[k].push[link.v_start + i], found[k].mobility[link.v_start + i] = push, release.mobility
                free[k] = free[k] + push * release.free
                force = force - release.gain * push
            free[k] = free[k] + motion.bias.dot(force)
            felt[k] = force.to_parent(motion.X_PL)
        return felt

    carried = inward(tree, carry)
    for k, row in enumerate(rows):
        at_world = [row.on[-1]] if -1 in row.on else []
        at_world += [carried[link][k] for link in tree.children(-1) if k in carried[link]]
        for force in at_world:
            free[k] = free[k] + root.dot(force)
    return [replace(reach, free=acceleration) for reach, acceleration in zip(found, free, strict=True)]


def with_forces(
    handles: PerLink[Handle], reached: Sequence[RowResponse], forces: Scalars, *, alone: bool = False
) -> Callable[[Link], list[Release]]:
    """The releases of every link's joint, with the rows' forces included; with `alone`, with nothing else acting."""

    def released(link: Link) -> list[Release]:
        releases = []
        for i, release in enumerate(handles[link].releases):
            k = link.v_start + i
            push = sum((reach.push[k] * force for reach, force in zip(reached, forces, strict=True) if k in reach.push), 0.0)
            releases.append(replace(release, free=(0.0 if alone else release.free) + release.mobility * push))
        return releases

    return released


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
    Lambda: Sequence[Scalars],
    metric: Sequence[Scalars] | None = None,
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
    Lambda: Sequence[Scalars],
    wanted: Scalars,
    *,
    damping: float = DAMPING,
) -> list[Scalar]:
    """The forces λ of (Λ + softness) λ = wanted, the smallest where Λ does not determine them; damping as for `row_solver`."""
    return row_solver(tree, rows, Lambda, damping=damping).solve(wanted)
