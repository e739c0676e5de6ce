"""Motion with held points: accelerations, the way back onto the surfaces, and what is to be known of the points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...dynamics import Acting, Row, projected
from ...errors import InputError
from ...model import Tree
from ...scalar import Scalar
from .articulated import articulated_rows
from .newton_euler import newton_euler
from .point import HeldPoints
from .system import HeldSystem, friction_power, held_forces

__all__ = ["HELD_METHODS", "HeldDynamics", "check_method"]

#: The routes to the equations of held points, by name: articulated bodies, and the extended Newton-Euler method.
HELD_METHODS: dict[str, Callable[..., HeldSystem]] = {"rows": articulated_rows, "newton_euler": newton_euler}


def check_method(name: Any) -> None:
    """Refuses a route that there is not.

    Raises:
        InputError: with the names that there are.
    """
    if not isinstance(name, str) or name not in HELD_METHODS:
        raise InputError(f"there is no held_method {name!r}; there are {', '.join(HELD_METHODS)}")


@dataclass(frozen=True)
class HeldDynamics:
    """The held points of a mechanism, and the route to their forces.

    Attributes:
        points: of the mechanism.
        method: a name of `HELD_METHODS`.

    Raises:
        InputError: for another method.
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
        """v̇ (nv) with the points held, and the power of their friction [W].

        Args:
            tree: the mechanism's, or its base-parameter tree; q, v, tau: as of `kumitate.dynamics.aba_with_loops`.
            acting: what acts besides the drives of joints. With an implicit step the friction is implicit too; gaps decay as
                errors of loops do.
        """
        system = self.system(tree, q, v, tau, acting)
        forces = held_forces(tree, system, implicit_step=acting.implicit_step, baumgarte=acting.baumgarte)
        return system.accelerations(forces.by_row), friction_power(system.ends, forces)

    def observed(
        self, tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], tau: Sequence[Scalar], acting: Acting
    ) -> dict[str, list[Any]]:
        """What is to be known of every point, by the sliding as it is.

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

        Two Newton steps, each of which squares the error of q; what leaves the surfaces is taken out of v.
        """

        def rows(q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Row]:
            return self.points.rows(tree, q, v)

        nearer, _ = projected(tree, q, v, more=rows)
        return projected(tree, nearer, v, more=rows)

    def system(self, tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], tau: Sequence[Scalar], acting: Acting) -> HeldSystem:
        """The equations of the points' forces."""
        return HELD_METHODS[self.method](tree, self.points, q, v, tau, acting)
