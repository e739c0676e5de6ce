"""A gear as a connection: one force along degrees of freedom of several joints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...scalar import Scalar
from ...spatial import Dense, Force, Motion
from .bodies import Bodies
from .connection import HandleResponse, Holding
from .joint_connection import JointConnection


@dataclass(frozen=True)
class GearConnection:
    """A linear relation between joint velocities.

    `units`: the forces on handles per unit force of the gear; `given`: the part of its acceleration that velocities cause."""

    units: Mapping[int, Force]
    given: Scalar

    @classmethod
    def of(cls, joints: Sequence[tuple[JointConnection, int, Scalar]]) -> GearConnection:
        """From terms (joint, index of the degree of freedom, coefficient)."""
        units: dict[int, Force] = {}
        given: Scalar = 0.0
        for joint, k, ratio in joints:
            T = joint.T_a[k] * ratio
            given = given + joint.bias.dot(T)
            for handle, force in joint.pull(list(T)).items():
                units[handle] = units[handle] + force if handle in units else force
        return cls(units, given)

    @property
    def handles(self) -> tuple[int, ...]:
        return tuple(self.units)

    @property
    def drift(self) -> list[Scalar]:
        return [self.given]

    @property
    def holding(self) -> Holding:
        return Holding(Dense.of([[1.0]]), (0.0,), (True,))

    def excess(self, V: Callable[[int], Motion]) -> list[Scalar]:
        return [sum((V(handle).dot(unit) * -1.0 for handle, unit in self.units.items()), 0.0)]

    def mobility(self, bodies: Bodies) -> Dense:
        return Dense.of([[sum((bodies.response(h, self.units).dot(unit) for h, unit in self.units.items()), 0.0)]])

    def reach(self, bodies: Bodies, handle: int) -> HandleResponse:
        return HandleResponse(Dense.column(bodies.response(handle, self.units)), 1.0)

    def pull(self, force: Sequence[Scalar]) -> dict[int, Force]:
        return {handle: unit * force[0] for handle, unit in self.units.items()}
