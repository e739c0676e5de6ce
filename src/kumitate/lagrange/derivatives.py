"""The derivatives of a tree's energies in Lagrange's equations, as programs of the state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..model import Tree
from ..scalar import Program, Scalar, directional, gradient, trace
from .energies import tree_kinetic, tree_potential
from .substitution import at


@dataclass(frozen=True)
class EnergyDerivatives:
    """Programs of the exact derivatives of T(q, v) and U(q), taken on their graphs; each is called with the state.

    Attributes:
        kinetic: ∂T/∂v = M v; `rising`: its rate along (q̇, v̇); `leaning`: ∂T/∂q.
        potential: ∂U/∂q.
        numbers: their further inputs: the mechanism's constants, if these are not built in.
    """

    kinetic: Program
    rising: Program
    leaning: Program
    potential: Program
    numbers: tuple[Scalar, ...] = ()

    def momentum(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        """∂T/∂v (nv); for a unit vector v it is a column of M, as T is quadratic in v."""
        return at(self.kinetic, q, v, *self._given)

    def momentum_rate(
        self, q: Sequence[Scalar], v: Sequence[Scalar], qdot: Sequence[Scalar]
    ) -> tuple[list[Scalar], list[Scalar]]:
        """∂T/∂v (nv), and its rate at v̇ = 0."""
        along = [[0.0] * len(given) for given in self._given]
        both = at(self.rising, q, v, *self._given, qdot, [0.0] * len(v), *along)
        return both[: len(v)], both[len(v) :]

    def slope(self, q: Sequence[Scalar], v: Sequence[Scalar], gravity: Sequence[Scalar]) -> list[Scalar]:
        """∂(U − T)/∂q (nq)."""
        of_U, of_T = at(self.potential, q, gravity, *self._given), at(self.leaning, q, v, *self._given)
        return [u - t for u, t in zip(of_U, of_T, strict=True)]

    @property
    def _given(self) -> list[list[Scalar]]:
        return [list(self.numbers)] if self.numbers else []


def energy_derivatives(tree: Tree, made: Callable[[Sequence[Scalar]], Tree] | None = None, count: int = 0) -> EnergyDerivatives:
    """The derivatives of a tree's energies.

    Args:
        tree: of the mechanism.
        made: makes a similar tree from `count` constants, which are then given at every call, as `numbers`; without it the
            constants are those of the tree.
    """
    known = made is None
    more: dict[str, int | tuple[int, ...]] = {} if known else {"numbers": count}
    sizes: dict[str, int | tuple[int, ...]] = {"q": tree.nq, "v": tree.nv, **more}

    def own(numbers: Sequence[Sequence[Scalar]]) -> Tree:
        return tree if made is None else made(numbers[0])

    kinetic = trace(lambda q, v, *numbers: tree_kinetic(own(numbers), q, v), sizes, "kinetic")
    potential = trace(
        lambda q, g, *numbers: tree_potential(own(numbers), q, g), {"q": tree.nq, "gravity": 3, **more}, "potential"
    )
    momentum = gradient(kinetic, "v")
    return EnergyDerivatives(momentum, directional(momentum), gradient(kinetic, "q"), gradient(potential, "q"))
