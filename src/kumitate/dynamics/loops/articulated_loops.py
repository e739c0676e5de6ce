"""The loops of a tree at one state, factored once for all solves there: articulated bodies, rows propagated through them, Λ.

The forces λ of the rows, their effect on the joints and the impulses that close gaps all need the factors of M and of
Λ = J M⁻¹ Jᵀ. They are handed over as objects: what two pages compute on their own, the tracer finds to be equal only by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...model import Link, PerLink, Tree, outward
from ...scalar import Scalar, Scalars
from ...spatial import Motion, NearestSolver, Release
from ..aba import Handle, aba, accelerated, articulated
from ..acting import Acting
from ..motion import LinkMotion, falling, link_motions
from .chord_forces import with_chord_drives
from .constraints import (
    Row,
    RowResponse,
    chord_closings,
    constraint_rows,
    mobilities,
    propagate_rows,
    row_drifts,
    row_solver,
    with_forces,
)


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
    rows: Sequence[Row]
    reached: list[RowResponse]
    solver: NearestSolver
    gravity: Scalars

    def accelerations(self, wanted: Scalars) -> list[Scalar]:
        """v̇ (nv) with the forces of the rows that give them these accelerations."""
        return self.accelerations_and_responses(wanted)[0]

    def response(self, wanted: Scalars) -> list[Scalar]:
        """M⁻¹Jᵀλ (nv) with Λλ = wanted: the smallest change in the metric of M that moves the rows by `wanted`."""
        return self._moved([self._answer(self.solver.solve(wanted), alone=True)])[0]

    def accelerations_and_responses(self, wanted: Scalars, *changes: Scalars) -> list[list[Scalar]]:
        """`accelerations`, then the `response` to each of `changes`, less the share that the damping has in Λ."""
        alone = [self._answer(self.solver.solve(change, sweeps=0), alone=True) for change in changes]
        return self._moved([self._answer(self.forces(wanted)), *alone])

    def forces(self, wanted: Scalars) -> list[Scalar]:
        """The forces λ of the rows that give them these accelerations."""
        return self.solver.solve([goal - reach.free for goal, reach in zip(wanted, self.reached, strict=True)])

    def _answer(self, forces: Scalars, *, alone: bool = False) -> _Answer:
        released = with_forces(self.handles, self.reached, forces, alone=alone)
        return _Answer(released, Motion() if alone else falling(self.gravity), alone)

    def _moved(self, answers: Sequence[_Answer]) -> list[list[Scalar]]:
        """What the joints do in each of the answers.

        Side by side in one traversal: each is a chain of operations that wait for one another; a processor has room for two.
        """

        def move(link: Link, parents: list[tuple[Motion, list[Scalar]]]) -> list[tuple[Motion, list[Scalar]]]:
            motion, found = self.motions[link], []
            for answer, (parent, _) in zip(answers, parents, strict=True):
                locked = parent.to_child(motion.X_PL) + (Motion() if answer.alone else motion.bias)
                found.append(accelerated(motion, answer.releases(link), locked))
            return found

        start: list[tuple[Motion, list[Scalar]]] = [(answer.root, []) for answer in answers]
        moved = outward(self.tree, move, start)
        return [[rate for link in self.tree.links for rate in moved[link][k][1]] for k in range(len(answers))]

    def drift(self) -> list[Scalar]:
        """J̇v (rows): the accelerations of the rows due to velocities alone."""
        return row_drifts(self.tree, self.motions, self.rows)


def articulated_loops(tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting) -> ArticulatedLoops:
    """The loops of a tree at a state; arguments as for `aba_with_loops`."""
    motions = link_motions(tree, q, v)
    closings = chord_closings(tree, q, v)
    pushed = with_chord_drives(tree, closings, acting)
    rows = constraint_rows(tree, closings, q, v, motions, implicit_step=acting.implicit_step, resisting=acting.loop_resisting)
    return with_rows_through(tree, motions, articulated(tree, motions, q, v, tau, pushed), rows, acting.gravity)


def with_rows_through(
    tree: Tree, motions: PerLink[LinkMotion], handles: PerLink[Handle], rows: Sequence[Row], gravity: Scalars
) -> ArticulatedLoops:
    """The given rows propagated through articulated bodies, and Λ factored."""
    reached = propagate_rows(tree, motions, handles, rows, falling(gravity))
    return ArticulatedLoops(tree, motions, handles, rows, reached, row_solver(tree, rows, mobilities(reached)), gravity)


class _Answer(NamedTuple):
    """The releases of every link's joint, the acceleration of the world, and whether nothing acts but the rows' forces."""

    releases: Callable[[Link], list[Release]]
    root: Motion
    alone: bool


def aba_with_loops(tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting) -> list[Scalar]:
    """The joint accelerations v̇ of a tree with its chords and gears; arguments as for `aba`."""
    if not tree.closed:
        return aba(tree, q, v, tau, acting)
    loops, decay = articulated_loops(tree, q, v, tau, acting), acting.baumgarte
    return loops.accelerations([-decay * (2.0 * row.rate + decay * row.error) for row in loops.rows])
