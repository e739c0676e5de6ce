"""The drives of joints in a step: the efforts that they have in it, each within its limit, and the motion that results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...dynamics.drives import DriveForce, changed, drive_forces, effort_along, limited, limits_act, spread
from ...model import Driven
from ...scalar import Program, Scalar, call, loop, select, trace
from .forcing import Forcing
from .parts import parts_of

__all__ = ["drive_power", "driven_dynamics", "efforts_program", "moved_by", "settled"]

#: How often the drives that are at their limits are found again; a pass is made only where some have changed.
PASSES = 3


@dataclass(frozen=True)
class _Settling:
    """A motion, the drives' efforts that it results from, and 1 if some of these are not what it leads to, else 0."""

    found: dict[str, Any]
    forces: list[DriveForce]
    unsettled: Scalar


def settled(
    driven: Sequence[Driven],
    wished: Sequence[DriveForce],
    found: dict[str, Any],
    forces: Sequence[DriveForce],
    solve: Callable[[Sequence[DriveForce]], dict[str, Any]],
    rates: Callable[[dict[str, Any]], Sequence[Scalar]],
) -> tuple[dict[str, Any], list[DriveForce]]:
    """The motion in which every drive's effort is within its limit: a Newton iteration on efforts that are linear in pieces.

    Args:
        driven: the joints with drives; `wished`: their efforts without limits.
        found: the motion with `forces`, a guess of the efforts; `solve` gives that with others.
        rates: the accelerations (nv) of a motion.

    Returns:
        the motion, and the efforts that act in it.
    """
    if not limits_act(driven):
        return found, list(forces)

    def seen(found: dict[str, Any], forces: Sequence[DriveForce]) -> _Settling:
        moved = rates(found)
        true = [limited(joint, wish, moved[joint.v]) for joint, wish in zip(driven, wished, strict=True)]
        return _Settling(found, true, select(changed(forces, true), 1.0, 0.0))

    def again(_: Any, now: _Settling) -> tuple[_Settling, None]:
        return seen(solve(now.forces), now.forces), None

    end, _ = loop(PASSES, again, seen(found, forces), while_=lambda now: now.unsettled > 0.5, varies=True)
    return end.found, end.forces


def moved_by(motion: Program, forcing: Forcing, h: Scalar, q: Any, v: Any, u: Any) -> Callable[[Sequence[DriveForce]], Any]:
    """The motion, "acceleration" and "power", by the efforts of drives."""
    driven, nv = forcing.mechanism.driven, forcing.mechanism.nv

    def moved(forces: Sequence[DriveForce]) -> dict[str, Any]:
        pushed = spread(driven, [force.effort for force in forces], nv)
        tau = [u[k] + push for k, push in enumerate(pushed)]
        return call(motion, h, q, v, u, tau, spread(driven, [force.resisting for force in forces], nv))  # type: ignore[no-any-return]

    return moved


def driven_dynamics(motion: Program, forcing: Forcing, *, implicit: bool) -> Program:
    """(h, q, v, u) → v̇, the power of all efforts, and "effort" and "resisting" of each drive.

    Args:
        motion: (h, q, v, u, tau, resisting) → v̇ and the power of all else.
        implicit: whether a step h is implicit in the drives; they are evaluated at the state itself otherwise.
    """
    m = forcing.mechanism

    def dynamics(h: Scalar, q: Any, v: Any, u: Any) -> dict[str, Any]:
        step: Scalar = h if implicit else 0.0
        moved = moved_by(motion, forcing, h, q, v, u)
        wished = drive_forces(m.driven, q, v, parts_of(forcing, u).commands, step)
        if implicit:
            found, forces = settled(m.driven, wished, moved(wished), wished, moved, lambda found: found["acceleration"])
        else:
            forces = [DriveForce(effort_along(joint, wish, 0.0), 0.0) for joint, wish in zip(m.driven, wished, strict=True)]
            found = moved(forces)
        after = [rate + step * a for rate, a in zip(v, found["acceleration"], strict=True)]
        return {
            "acceleration": found["acceleration"],
            "power": found["power"] + drive_power(m.driven, wished, v, after, found["acceleration"]),
            "effort": [force.effort for force in forces],
            "resisting": [force.resisting for force in forces],
        }

    return trace(dynamics, {"h": (), "q": m.nq, "v": m.nv, "u": forcing.size}, f"dynamics_{m.name}")


def drive_power(
    driven: Sequence[Driven],
    wished: Sequence[DriveForce],
    v: Sequence[Scalar],
    after: Sequence[Scalar],
    acceleration: Sequence[Scalar],
) -> Scalar:
    """The power of drives in a step from velocities v to `after` [W]: of the efforts that act, at the mean velocity.

    Times the step it is the kinetic energy that they add, however stiff they are.
    """
    total: Scalar = 0.0
    for joint, wish in zip(driven, wished, strict=True):
        k = joint.v
        total = total + effort_along(joint, wish, acceleration[k]) * (0.5 * (v[k] + after[k]))
    return total


def efforts_program(forcing: Forcing) -> Program:
    """(q, v, u) → the efforts at the joints (nv) at a state, those of a controller and of drives."""
    m = forcing.mechanism

    def efforts(q: Any, v: Any, u: Any) -> list[Scalar]:
        wished = drive_forces(m.driven, q, v, parts_of(forcing, u).commands, 0.0)
        drives = [effort_along(joint, wish, 0.0) for joint, wish in zip(m.driven, wished, strict=True)]
        return [u[k] + drive for k, drive in enumerate(spread(m.driven, drives, m.nv))]

    return trace(efforts, {"q": m.nq, "v": m.nv, "u": forcing.size}, f"efforts_{m.name}")
