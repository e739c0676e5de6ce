"""The free turning of a rigid body in a step, of order two in its gyroscopic torque: the traced page of dynamics."""

from __future__ import annotations

from typing import Any

from ...dynamics.settling.free_turning import turn_of
from ...procedure import Shaped, apply, procedure
from ...scalar import Scalar, trace
from ...spatial import Symmetric3, Vector3

__all__ = ["turned_freely"]


def _turned(step: Scalar, inertia: Any, twist: Any) -> list[Scalar]:
    omega = Vector3.of(twist[:3])
    return list(omega + turn_of(Symmetric3.of(inertia), omega, step, 0.5 * step))


_TURNED = trace(_turned, {"step": (), "inertia": (3, 3), "twist": 6}, name="turned_freely")


@procedure
def turned_freely(step: float, inertia: Shaped[3, 3], twist: Shaped[6], after: Shaped[3]) -> None:
    """The angular velocity after a step from that of `twist` without torque, in the axes of the body at its start."""
    apply(_TURNED, step, inertia, twist, after)
