"""The energies of a tree for Lagrange's equations, and their derivatives as programs of the state.

The masses of a base-parameter tree may be zero where its first moments are not, so there may not be a center of mass. Programs
are inlined, evaluated over numbers or symbols of another trace, where known values simplify them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..kinematics import link_poses, link_twists
from ..model import Tree
from ..scalar import Program, Scalar, Scalars, directional, gradient, inlined, is_zero, trace


def tree_kinetic(tree: Tree, q: Scalars, v: Scalars) -> Scalar:
    """T = ½ Σ V·I V of the links [J], without the armatures of the drives."""
    twists = link_twists(tree, q, v)
    return 0.5 * sum((twists[link].dot(link.inertia.times(twists[link])) for link in tree.links), 0.0)


def tree_potential(tree: Tree, q: Scalars, gravity: Scalars) -> Scalar:
    """U = −Σ g·(m p + R h) of the links' masses m, origins p and first moments h, and ½ k (q − rest)² of springs [J]."""
    poses = link_poses(tree, q)
    energy: Scalar = 0.0
    for link in tree.links:
        place = poses[link].rotation.rotate(link.inertia.first_moment) + poses[link].translation * link.inertia.mass
        energy = energy - sum((g * x for g, x in zip(gravity, place, strict=True)), 0.0)
        if all(is_zero(stiffness) for stiffness in link.stiffness):
            continue  # joints with quaternions do not have springs
        for stiffness, rest, x in zip(link.stiffness, link.rest, link.coordinates(q), strict=True):
            energy = energy + 0.5 * stiffness * (x - rest) * (x - rest)
    return energy


def applied_power(tree: Tree, q: Scalars, v: Scalars, forces: Sequence[Scalars]) -> Scalar:
    """The power [W] of a force [n; f] on each link, in the link's frame and about its origin: linear in v."""
    twists = link_twists(tree, q, v)
    power: Scalar = 0.0
    for link, force in zip(tree.links, forces, strict=True):
        power = power + sum((x * f for x, f in zip(twists[link], force, strict=True)), 0.0)
    return power


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

    def momentum(self, q: Scalars, v: Scalars) -> list[Scalar]:
        """∂T/∂v (nv); for a unit vector v it is a column of M, as T is quadratic in v."""
        return inlined(self.kinetic, (q, v, *self._given))

    def momentum_rate(self, q: Scalars, v: Scalars, qdot: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        """∂T/∂v (nv), and its rate at v̇ = 0."""
        along = [[0.0] * len(given) for given in self._given]
        both = inlined(self.rising, (q, v, *self._given, qdot, [0.0] * len(v), *along))
        return both[: len(v)], both[len(v) :]

    def slope(self, q: Scalars, v: Scalars, gravity: Scalars) -> list[Scalar]:
        """∂(U − T)/∂q (nq)."""
        of_U, of_T = inlined(self.potential, (q, gravity, *self._given)), inlined(self.leaning, (q, v, *self._given))
        return [u - t for u, t in zip(of_U, of_T, strict=True)]

    @property
    def _given(self) -> list[list[Scalar]]:
        return [list(self.numbers)] if self.numbers else []


def energy_derivatives(tree: Tree, made: Callable[[Scalars], Tree] | None = None, count: int = 0) -> EnergyDerivatives:
    """The derivatives of a tree's energies.

    Args:
        tree: of the mechanism.
        made: makes a similar tree from `count` constants, which are then given at every call, as `numbers`; without it the
            constants are those of the tree.
    """
    known = made is None
    more: dict[str, int | tuple[int, ...]] = {} if known else {"numbers": count}
    sizes: dict[str, int | tuple[int, ...]] = {"q": tree.nq, "v": tree.nv, **more}

    def own(numbers: Sequence[Scalars]) -> Tree:
        return tree if made is None else made(numbers[0])

    kinetic = trace(lambda q, v, *numbers: tree_kinetic(own(numbers), q, v), sizes, "kinetic")
    potential = trace(
        lambda q, g, *numbers: tree_potential(own(numbers), q, g), {"q": tree.nq, "gravity": 3, **more}, "potential"
    )
    momentum = gradient(kinetic, "v")
    return EnergyDerivatives(momentum, directional(momentum), gradient(kinetic, "q"), gradient(potential, "q"))
