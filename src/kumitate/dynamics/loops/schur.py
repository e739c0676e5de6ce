"""The equations of the loops' forces from an inertia matrix: the Schur complement of the KKT system.

[M Jᵀ; J 0] [v̇; −λ] = [tau − h; −J̇v] is Λ λ = −J̇v − J M⁻¹(tau − h) with Λ = J M⁻¹ Jᵀ.

Forward dynamics with loops from an inertia matrix, an alternative to `aba_with_loops`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...model import Closing, Tree
from ...scalar import Scalar, Scalars, table
from ...spatial import dot
from ..acting import Acting
from ..factored import factored, solve_symmetric
from ..motion import link_motions
from ..rnea import rnea
from .chord_forces import with_chord_drives
from .constraints import Row, chord_closings, constraint_rows, loop_jacobian, row_drifts, solved_rows


@dataclass(frozen=True)
class LoopSystem:
    """The equations Λ λ = −(drift + pull) at one state.

    Attributes:
        rows: of the chords and gears; `Lambda`: (rows, rows), their accelerations per unit force of each.
        drift: J̇v, the rows' accelerations due to velocities; `pull`: those due to the drives and all other forces.
        free: v̇ (nv) without the rows' forces; `responses`: v̇ per unit force of each row.
    """

    rows: list[Row]
    Lambda: list[list[Scalar]]
    drift: list[Scalar]
    pull: list[Scalar]
    free: list[Scalar]
    responses: list[list[Scalar]]

    def accelerations(self, forces: Scalars) -> list[Scalar]:
        """v̇ (nv) with these forces of the rows."""
        total = list(self.free)
        for force, response in zip(forces, self.responses, strict=True):
            total = [rate + more * force for rate, more in zip(total, response, strict=True)]
        return total

    def solved(self, tree: Tree) -> list[Scalar]:
        """v̇ (nv) with the forces that keep the rows from accelerating."""
        wanted = [-(a + b) for a, b in zip(self.drift, self.pull, strict=True)]
        return self.accelerations(solved_rows(tree, self.rows, self.Lambda, wanted))


def with_rows(
    tree: Tree, q: Scalars, v: Scalars, closings: Sequence[Closing], M: list[list[Scalar]], push: Scalars
) -> LoopSystem:
    """The equations that the rows of chords and gears add to M v̇ = push, whichever method computed M and push.

    Args:
        tree: with its state q (nq), v (nv); `closings`: of its chords at that state.
        M: (nv, nv); `push`: (nv), tau − h, including the drives of the chords.
    """
    motions = link_motions(tree, q, v)
    free = solve_symmetric(M, push)
    rows = constraint_rows(tree, closings, q, v, motions)
    J = loop_jacobian(tree, motions, rows)
    responses = [solve_symmetric(M, gradient) for gradient in J]
    drift = row_drifts(tree, motions, rows)
    Lambda = [[dot(gradient, response) for response in responses] for gradient in J]
    return LoopSystem(rows, Lambda, drift, [dot(gradient, free) for gradient in J], free, responses)


def factored_with_loops(
    mass_matrix: Callable[[Tree, Scalars], list[list[Scalar]]], tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting
) -> list[Scalar]:
    """The joint accelerations v̇ (nv) from the inertia matrix that `mass_matrix` computes; the rest as for `aba_with_loops`."""
    if not tree.closed:
        return factored(mass_matrix, tree, q, v, tau, acting)
    closings = chord_closings(tree, q, v)
    pushed = with_chord_drives(tree, closings, acting.at_an_instant("factored_with_loops"))
    bias = rnea(tree, q, v, table([0.0] * tree.nv), gravity=pushed.gravity, wrenches=pushed.wrenches)
    push = [t - h for t, h in zip(tau, bias, strict=True)]
    return with_rows(tree, q, v, closings, mass_matrix(tree, q), push).solved(tree)
