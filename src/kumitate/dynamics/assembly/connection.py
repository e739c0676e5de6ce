"""Connections, which assembly closes: joints of the tree and chords, each between two handles, and gears between joints.

A connection has its own space: the six directions of the frame J in which a joint is closed, or the single direction of a gear.
In this space it gives the motion of one side relative to the other, and the effect of its forces on the handles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...model import Tree
from ...scalar import Scalar, is_zero
from ...spatial import Dense, Force, Motion
from ..loops.multipliers import DAMPING
from .bodies import Bodies


def heavy_freedoms(armature: Sequence[Scalar]) -> list[int]:
    """The degrees of freedom with an armature; symbolic values count as nonzero."""
    return [k for k, a in enumerate(armature) if not is_zero(a)]


@dataclass(frozen=True)
class Holding:
    """The constraint forces T λ of a connection, and its compliance: Tᵀ(relative acceleration of A and B) = (… + softness) λ.

    Attributes:
        T: one column per force.
        softness: the compliance, one value per column.
        angular: whether each column is a moment.
    """

    T: Dense
    softness: tuple[Scalar, ...]
    angular: tuple[bool, ...]

    def damping(self, tree: Tree) -> list[float]:
        """The damping of Tᵀ Ψ T where it may be singular, one value per column."""
        return [DAMPING / tree.mass * (tree.size**-2 if turning else 1.0) for turning in self.angular]


@dataclass(frozen=True)
class HandleResponse:
    """The effect of forces in a connection's space at a handle: sign · block (6, size of the space)."""

    block: Dense
    sign: float

    @property
    def empty(self) -> bool:
        """Whether they have no effect."""
        return all(is_zero(x) for x in self.block.entries())


class Connection(Protocol):
    """A connection that assembly can close: a joint, a chord or a gear."""

    @property
    def handles(self) -> tuple[int, ...]:
        """The links (or the world) that it acts on."""

    @property
    def drift(self) -> Sequence[Scalar]:
        """The part of `excess` that velocities cause."""

    @property
    def holding(self) -> Holding:
        """Its constraint forces."""

    def excess(self, V: Callable[[int], Motion]) -> list[Scalar]:
        """The acceleration of A relative to B when the handles accelerate with V."""

    def mobility(self, bodies: Bodies) -> Dense:
        """Ψ: the acceleration of B relative to A per force in the connection's space."""

    def reach(self, bodies: Bodies, handle: int) -> HandleResponse:
        """The acceleration of a handle per force in the connection's space."""

    def pull(self, force: Sequence[Scalar]) -> dict[int, Force]:
        """The forces on handles that a force in the connection's space amounts to."""
