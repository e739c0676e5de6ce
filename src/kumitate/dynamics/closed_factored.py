"""Forward dynamics with loops from an inertia matrix: the Schur complement of the KKT system."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..model import Link, Tree, outward
from ..scalar import table
from ..spatial import Motion, dot
from .chord_drives import chord_drives
from .constraints import chord_closings, constraint_rows
from .factored import factored, solve_symmetric
from .loop_jacobian import loop_jacobian
from .motion import acceleration, falling, link_motions
from .rnea import rnea
from .row_forces import solved_rows
from .wrenches import Applied

__all__ = ["closed_factored"]

Scalar = Any


def closed_factored(
    mass_matrix: Callable[[Tree, Sequence[Scalar]], list[list[Scalar]]],
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    *,
    gravity: Sequence[Scalar],
    wrenches: Applied | None = None,
    loop_tau: Mapping[str, Sequence[Scalar]] | None = None,
) -> list[Scalar]:
    """The joint accelerations v̇ (nv) by the inertia matrix that `mass_matrix` computes; arguments as of `closed_aba`.

    [M Jᵀ; J 0] [v̇; −λ] = [tau − h; −J̇v], by Λ = J M⁻¹ Jᵀ.
    """
    if not tree.closed:
        return factored(mass_matrix, tree, q, v, tau, gravity=gravity, wrenches=wrenches)
    motions, closings = link_motions(tree, q, v), chord_closings(tree, q, v)
    pushed = chord_drives(tree, closings, loop_tau or {}, wrenches)
    still = table([0.0] * tree.nv)
    bias = rnea(tree, q, v, still, gravity=gravity, wrenches=pushed)
    M = mass_matrix(tree, q)
    free = solve_symmetric(M, [t - h for t, h in zip(tau, bias, strict=True)])

    rows = constraint_rows(tree, closings, q, v, motions)
    J = loop_jacobian(tree, motions, rows)
    responses = [solve_symmetric(M, row) for row in J]
    coasting = outward(tree, lambda link, A: acceleration(motions[link], A, link.velocities(still)), falling(gravity))

    def at(index: int) -> Motion:
        link: Link | None = tree.links[index] if index >= 0 else None
        return falling(gravity) if link is None else coasting[link]

    wanted = []
    for row, gradient in zip(rows, J, strict=True):
        drift = sum((at(index).dot(force) for index, force in row.on.items()), row.bias)  # J̇v
        wanted.append(-(drift + dot(gradient, free)))
    Lambda = [[dot(a, b) for b in responses] for a in J]
    forces = solved_rows(tree, rows, Lambda, wanted)
    total = list(free)
    for force, response in zip(forces, responses, strict=True):
        total = [rate + more * force for rate, more in zip(total, response, strict=True)]
    return total
