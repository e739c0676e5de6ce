"""The loops of a tree at one state, factored once for all solves there: articulated bodies, the rows propagated through them, Λ.

The forces λ of the rows, their effect on the joints and the impulses that close gaps all need the factors of M and of
Λ = J M⁻¹ Jᵀ. They are handed over as objects: what two pages compute by themselves, the tracer finds to be equal only by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...model import PerLink, Tree, outward
from ...scalar import Scalar
from ...spatial import SWEEPS, Motion, NearestSolver
from ..aba import Handle, accelerations, articulated
from ..acting import Acting
from ..motion import LinkMotion, acceleration, falling, link_motions
from .chord_drives import with_chord_drives
from .constraints import Row, chord_closings, constraint_rows
from .multipliers import mobilities, row_solver
from .propagation import RowResponse, propagate_rows, with_forces

__all__ = ["ArticulatedLoops", "articulated_loops", "with_rows_through"]


@dataclass(frozen=True)
class ArticulatedLoops:
    """Everything that solves for the loops at a state share.

    Attributes:
        motions, handles: of the links; `rows`: of the loops; `reached`: their effect on the joints.
        solver: of Λ λ = wanted.
        gravity: [m/s²].
    """

    tree: Tree
    motions: PerLink[LinkMotion]
    handles: PerLink[Handle]
    rows: list[Row]
    reached: list[RowResponse]
    solver: NearestSolver
    gravity: Sequence[Scalar]

    def accelerations(self, wanted: Sequence[Scalar]) -> list[Scalar]:
        """v̇ (nv) with the forces of the rows that give them these accelerations."""
        forces = self.solver.solve([goal - reach.free for goal, reach in zip(wanted, self.reached, strict=True)])
        released = with_forces(self.handles, self.reached, forces)
        moved = accelerations(self.tree, self.motions, released, self.gravity)
        return [rate for link in self.tree.links for rate in moved[link][1]]

    def response(self, wanted: Sequence[Scalar], *, sweeps: int = SWEEPS) -> list[Scalar]:
        """M⁻¹Jᵀλ (nv) with Λλ = wanted: the smallest change in the metric of M that moves the rows by `wanted`.

        `sweeps`: of the solve, as for `NearestSolver`.
        """
        # what is left at rest, with nothing but the rows' forces
        handles = outward(self.tree, lambda link, _: _unloaded(self.handles[link]), self.handles[self.tree.links[0]])
        motions = outward(self.tree, lambda link, _: replace(self.motions[link], bias=Motion()), self.motions[self.tree.links[0]])
        released = with_forces(handles, self.reached, self.solver.solve(wanted, sweeps=sweeps))
        moved = accelerations(self.tree, motions, released, (0.0, 0.0, 0.0))
        return [rate for link in self.tree.links for rate in moved[link][1]]

    def drift(self) -> list[Scalar]:
        """J̇v (rows): the accelerations of the rows due to velocities alone."""
        still = [0.0] * self.tree.nv
        coasting = outward(
            self.tree, lambda link, A: acceleration(self.motions[link], A, link.velocities(still)), Motion()
        )  # fmt: skip

        def at(index: int) -> Motion:
            return coasting[self.tree.links[index]] if index >= 0 else Motion()

        return [sum((at(index).dot(force) for index, force in row.on.items()), row.bias) for row in self.rows]


def articulated_loops(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], tau: Sequence[Scalar], acting: Acting
) -> ArticulatedLoops:
    """The loops of a tree at a state; arguments as for `aba_with_loops`."""
    motions = link_motions(tree, q, v)
    closings = chord_closings(tree, q, v)
    pushed = with_chord_drives(tree, closings, acting)
    rows = constraint_rows(tree, closings, q, v, motions, implicit_step=acting.implicit_step)
    return with_rows_through(tree, motions, articulated(tree, motions, q, v, tau, pushed), rows, acting.gravity)


def with_rows_through(
    tree: Tree, motions: PerLink[LinkMotion], handles: PerLink[Handle], rows: list[Row], gravity: Sequence[Scalar]
) -> ArticulatedLoops:
    """The given rows propagated through articulated bodies, and Λ factored."""
    reached = propagate_rows(tree, motions, handles, rows, falling(gravity))
    return ArticulatedLoops(tree, motions, handles, rows, reached, row_solver(tree, rows, mobilities(reached)), gravity)


def _unloaded(handle: Handle) -> Handle:
    """The handle with no force on it but those still to come."""
    return replace(handle, releases=tuple(replace(release, free=0.0) for release in handle.releases))
