"""The step of the velocities where they may jump: the dynamics without contact, then the impulses of contact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import kinematics
from ...dynamics.drives import DriveForce, drive_forces, spread
from ...scalar import Program, Scalar, call, trace
from .driven import drive_power, moved_by, settled
from .forcing import Forcing
from .parts import applied_power, parts_of

__all__ = ["jump_program"]


def jump_program(forcing: Forcing, dynamics: Program, impacts: Program, motion: Program | None = None) -> Program:
    """(h, q, v, u) → what `impacts` gives for a step h of the `dynamics`, and the power of all efforts in the step.

    Drives keep their limits in the motion that contact leads to; `motion` is then the dynamics with other efforts of drives.
    """
    m = forcing.mechanism

    def jump(h: Scalar, q: Any, v: Any, u: Any) -> dict[str, Any]:
        # contact acts in the axes before the step: if a free body's axes turned meanwhile, its speed would grow
        turning = kinematics.turning(m.tree, v)

        def touched(acceleration: Sequence[Scalar], *resisting: Sequence[Scalar]) -> dict[str, Any]:
            v_free = [rate + h * (a - b) for rate, a, b in zip(v, acceleration, turning, strict=True)]
            return call(impacts, h, q, v, v_free, *resisting)  # type: ignore[no-any-return]

        def rates(found: dict[str, Any]) -> list[Scalar]:
            return [(after - before) / h + turn for after, before, turn in zip(found["v"], v, turning, strict=True)]

        free, parts = call(dynamics, h, q, v, u), parts_of(forcing, u)
        power: Scalar = 0.0
        if motion is None:
            found = touched(free["acceleration"])
        else:
            wished = drive_forces(m.driven, q, v, parts.commands, h)
            forces = [DriveForce(*pair) for pair in zip(free["effort"], free["resisting"], strict=True)]
            moved = moved_by(motion, forcing, h, q, v, u)

            def resisted(forces: Sequence[DriveForce], acceleration: Sequence[Scalar]) -> dict[str, Any]:
                return touched(acceleration, spread(m.driven, [force.resisting for force in forces], m.nv))

            first = resisted(forces, free["acceleration"])
            found, _ = settled(
                m.driven, wished, first, forces, lambda forces: resisted(forces, moved(forces)["acceleration"]), rates
            )
            power = drive_power(m.driven, wished, v, found["v"], rates(found))
        mean = [0.5 * (a + b) for a, b in zip(v, found["v"], strict=True)]
        return {**found, "power": power + applied_power(m, q, mean, parts)}

    return trace(jump, {"h": (), "q": m.nq, "v": m.nv, "u": forcing.size}, f"jump_{m.name}")
