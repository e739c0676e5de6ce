"""The loops of a tree at one state, factored once for all solves there: articulated bodies, the rows propagated through them, Λ.

The forces λ of the rows, their effect on the joints and the impulses that close gaps all need the factors of M and of
Λ = J M⁻¹ Jᵀ. They are handed over as objects: what two pages compute by themselves, the tracer finds to be equal only by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...model import Link, PerLink, Tree, outward
from ...scalar import Scalar
from ...spatial import Motion, NearestSolver, Release
from ..aba import Handle, accelerated, articulated
from ..acting import Acting
from ..motion import LinkMotion, acceleration, falling, link_motions
from .chord_drives import with_chord_drives
from .constraints import Row, chord_closings, constraint_rows
from .multipliers import mobilities, row_solver
from .propagation import RowResponse, propagate_rows, with_forces

__all__ = ["ArticulatedLoops", "articulated_loops", "with_rows_through"]

#: The releases of every link's joint.
Releases = Callable[[Link], list[Release]]


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
        return self.accelerations_and_responses(wanted)[0]

    def response(self, wanted: Sequence[Scalar]) -> list[Scalar]:
        """M⁻¹Jᵀλ (nv) with Λλ = wanted: the smallest change in the metric of M that moves the rows by `wanted`."""
        return self._moved([with_forces(self.handles, self.reached, self.solver.solve(wanted), alone=True)])[0]

    def accelerations_and_responses(self, wanted: Sequence[Scalar], *changes: Sequence[Scalar]) -> list[list[Scalar]]:
        """`accelerations`, then the `response` to each of `changes`, less the share that the damping has in Λ."""
        alone = [self.solver.solve(change, sweeps=0) for change in changes]
        forces = self.solver.solve([goal - reach.free for goal, reach in zip(wanted, self.reached, strict=True)])
        loaded = with_forces(self.handles, self.reached, forces)
        return self._moved([with_forces(self.handles, self.reached, forces, alone=True) for forces in alone], loaded)

    def _moved(self, alone: Sequence[Releases], loaded: Releases | None = None) -> list[list[Scalar]]:
        """The rates of the joints for each of these releases: of those that are loaded, then of those at rest.

        Side by side in one traversal: each is a chain of operations that wait for one another, and the processor has time to spare.
        """
        every = [*([] if loaded is None else [loaded]), *alone]
        at_rest = [released is not loaded for released in every]

        def move(link: Link, parents: list[tuple[Motion, list[Scalar]]]) -> list[tuple[Motion, list[Scalar]]]:
            motion, found = self.motions[link], []
            for released, resting, (parent, _) in zip(every, at_rest, parents, strict=True):
                locked = parent.to_child(motion.X_PL)
                found.append(accelerated(motion, released(link), locked if resting else locked + motion.bias))
            return found

        roots: list[tuple[Motion, list[Scalar]]] = [
            (Motion() if resting else falling(self.gravity), []) for resting in at_rest
        ]
        moved = outward(self.tree, move, roots)
        return [[rate for link in self.tree.links for rate in moved[link][k][1]] for k in range(len(every))]

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

