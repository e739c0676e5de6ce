"""What assembling closes: the joints of the tree and the chords, each between two handles, and the gears between joints.

A connection has a space of its own: the six directions of the frame J where a joint is closed, or the one along which a gear
turns. There it says how one side moves beyond the other, and what forces in it do to the handles.
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

__all__ = ["Connection", "HandleResponse", "Holding", "heavy_freedoms"]


def heavy_freedoms(armature: Sequence[Scalar]) -> list[int]:
    """Which freedoms have an armature; what is not known yet counts."""
    return [k for k, a in enumerate(armature) if not is_zero(a)]


@dataclass(frozen=True)
class Holding:
    """The forces T λ that a connection holds by, and how much it yields to each: Tᵀ(what A does beyond B) = (… + softness) λ.

    Attributes:
        T: one column a force.
        softness: one value a column.
        angular: whether a column is a moment.
    """

    T: Dense
    softness: tuple[Scalar, ...]
    angular: tuple[bool, ...]

    def damping(self, tree: Tree) -> list[float]:
        """What Tᵀ Ψ T is damped by where it may be singular, one value a column."""
        return [DAMPING / tree.mass * (tree.size**-2 if turning else 1.0) for turning in self.angular]


@dataclass(frozen=True)
class HandleResponse:
    """What forces in a connection's space do at a handle: sign · block (6, size of the space)."""

    block: Dense
    sign: float

    @property
    def empty(self) -> bool:
        """Whether they do nothing."""
        return all(is_zero(x) for x in self.block.entries())


class Connection(Protocol):
    """What can be closed."""

    @property
    def handles(self) -> tuple[int, ...]:
        """The links (or the world) that it acts on."""

    @property
    def drift(self) -> Sequence[Scalar]:
        """What velocities add to `excess`."""

    @property
    def holding(self) -> Holding:
        """What it holds by."""

    def excess(self, V: Callable[[int], Motion]) -> list[Scalar]:
        """How A moves beyond B, when handles move with V."""

    def mobility(self, bodies: Bodies) -> Dense:
        """Ψ: how B moves beyond A by forces in the connection's space."""

    def reach(self, bodies: Bodies, handle: int) -> HandleResponse:
        """How a handle moves by forces in the connection's space."""

    def pull(self, force: Sequence[Scalar]) -> dict[int, Force]:
        """What a force in the connection's space does to handles."""
