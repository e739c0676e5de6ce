"""Motion with held points: accelerations, projection onto the surfaces, and the observed quantities of the points.

Their forces are found by articulated bodies: their rows and those of loops, propagated inwards through ABA, O(n) for each.
Neither M nor J is formed, and the mechanism may have loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...dynamics import Acting, Row, chord_closings, constraint_rows, link_motions, projected
from ...dynamics.aba import accelerations, articulated
from ...dynamics.loops.chord_forces import with_chord_drives
from ...dynamics.loops.multipliers import mobilities, propagate_rows, solved_rows, with_forces
from ...dynamics.motion import falling
from ...errors import InputError
from ...model import Tree
from ...renamed import offers
from ...scalar import Scalar
from ...spatial import dot
from .point import HeldPoints
from .system import HeldSystem, friction_power, held_forces

__all__ = ["HELD_METHODS", "HeldDynamics", "check_method"]


def articulated_rows(
    tree: Tree,
    points: HeldPoints,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    acting: Acting,
) -> HeldSystem:
    """The equations of the held points with the loops closed; arguments as for `kumitate.dynamics.aba_with_loops`."""
    motions, closings = link_motions(tree, q, v), chord_closings(tree, q, v)
    ends = points.ends(tree, q, v, motions)
    loops = constraint_rows(tree, closings, q, v, motions, implicit_step=acting.implicit_step, resisting=acting.loop_resisting)
    pushed = with_chord_drives(tree, closings, acting)
    handles = articulated(tree, motions, q, v, tau, pushed)
    held = [row for end in ends for row in end.rows]
    reached = propagate_rows(tree, motions, handles, [*loops, *held], falling(acting.gravity))
    mobility, count = mobilities(reached), len(loops)
    own = [row[:count] for row in mobility[:count]]
    coupling = [row[:count] for row in mobility[count:]]  # of the loops' rows and the held rows

    def answer(wanted: Sequence[Scalar]) -> list[Scalar]:
        return solved_rows(tree, loops, own, wanted) if loops else []

    alpha = acting.baumgarte
    decay = [alpha * (2.0 * row.rate + alpha * row.error) for row in loops]
    # the loops' forces with those of the held points zero,
    at_rest = answer([-(reach.free + more) for reach, more in zip(reached, decay, strict=False)])
    answers = [answer([-x for x in row]) for row in coupling]  # and their change per unit force of each held row
    Lambda = [
        [mobility[count + i][count + j] + dot(coupling[i], answers[j]) for j in range(len(held))] for i in range(len(held))
    ]
    free = [reach.free + dot(row, at_rest) for reach, row in zip(reached[count:], coupling, strict=True)]

    def moved(forces: Sequence[Scalar]) -> list[Scalar]:
        loop_forces = [f + dot((a[k] for a in answers), forces) for k, f in enumerate(at_rest)]
        released = with_forces(handles, reached, [*loop_forces, *forces])
        found = accelerations(tree, motions, released, acting.gravity)
        return [rate for link in tree.links for rate in found[link][1]]

    return HeldSystem(ends, Lambda, free, moved)


#: The methods for the equations of held points, by name: articulated bodies, and the extended Newton-Euler method.
HELD_METHODS: dict[str, Callable[..., HeldSystem]] = {"rows": articulated_rows}


def check_method(name: Any) -> None:
    """Refuses an unknown method by an InputError that lists the known ones."""
    if not isinstance(name, str) or not offers(HELD_METHODS, name):
        raise InputError(f"there is no held_method {name!r}; there are {', '.join(HELD_METHODS)}")


@dataclass(frozen=True)
class HeldDynamics:
    """The held points of a mechanism, and the method that computes their forces.

    Attributes:
        points: the held points of the mechanism.
        method: a name in `HELD_METHODS`.

    Raises:
        InputError: for an unknown method.
    """

    points: HeldPoints
    method: str = "rows"

    def __post_init__(self) -> None:
        check_method(self.method)

    def accelerations(
        self,
        tree: Tree,
        q: Sequence[Scalar],
        v: Sequence[Scalar],
        tau: Sequence[Scalar],
        acting: Acting,
    ) -> tuple[list[Scalar], Scalar]:
        """v̇ (nv) with the held points, and the power of their friction [W].

        Args:
            tree: of the mechanism, or its base-parameter tree; q, v, tau: as for `kumitate.dynamics.aba_with_loops`.
            acting: everything that acts apart from the drives of joints. With an implicit step the friction is implicit too;
                gaps decay at the same rate as loop errors.
        """
        system = self.system(tree, q, v, tau, acting)
        forces = held_forces(tree, system, implicit_step=acting.implicit_step, baumgarte=acting.baumgarte)
        return system.accelerations(forces.by_row), friction_power(system.ends, forces)

    def observed(
        self, tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], tau: Sequence[Scalar], acting: Acting
    ) -> dict[str, list[Any]]:
        """The observed quantities of every point, with friction by its current sliding velocity.

        Returns:
            "normal": f_n [N]; "friction": (3) along the surface [N]; "gap": from the surface [m], "opening": its rate [m/s];
            "position": (3) [m]; "velocity": (3) [m/s]. Vectors are in the axes of the world.
        """
        system = self.system(tree, q, v, tau, acting)
        forces = held_forces(tree, system)
        found: dict[str, list[Any]] = {key: [] for key in ("normal", "friction", "gap", "opening", "position", "velocity")}
        for end, f_n, (x, y) in zip(system.ends, forces.normal, forces.friction, strict=True):
            friction = end.axes[1] * x + end.axes[2] * y
            values = (f_n, list(friction), end.gap, end.rows[0].rate, list(end.r), list(end.rate))
            for key, value in zip(found, values, strict=True):
                found[key].append(value)
        return found

    def projected(self, tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        """q and v with the points on their surfaces and the loops closed, in the metric of the mass matrix.

        Two Newton steps for q, with quadratic convergence; the velocity component away from the surfaces is removed from v.
        """

        def rows(q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Row]:
            return self.points.rows(tree, q, v)

        nearer, _ = projected(tree, q, v, more=rows)
        return projected(tree, nearer, v, more=rows)

    def system(self, tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], tau: Sequence[Scalar], acting: Acting) -> HeldSystem:
        """The equations of the points' forces."""
        return HELD_METHODS[self.method](tree, self.points, q, v, tau, acting)
