"""The drives of joints in a step: the efforts that they have in it, each within its limit, and the motion that results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...analysis import joint_accelerations, joint_motion
from ...dynamics.settling.drives import DriveForce, drive_forces, effort_along, state_rates
from ...dynamics.settling.settled import settled
from ...dynamics.settling.stops import JointPush
from ...model import Driven, freedoms
from ...scalar import Hole, Program, Scalar, call, trace
from .forcing import Forcing


def moved_by(motion: Program, forcing: Forcing, h: Scalar, q: Any, v: Any, u: Any) -> Callable[[Sequence[JointPush]], Any]:
    """The motion, "acceleration" and "power", by further efforts at joints; and "resisting", by what these resist it.

    "resisting" has one value for every degree of freedom (`freedoms`), as "rates", the accelerations of all of them.
    """
    m, size = forcing.mechanism, freedoms(forcing.mechanism)

    def moved(pushes: Sequence[JointPush]) -> dict[str, Any]:
        tau: list[Scalar] = [*(u[k] for k in range(m.nv)), *[0.0] * (size - m.nv)]
        resisting: list[Scalar] = [0.0] * size
        for push in pushes:
            tau[push.index] = tau[push.index] + push.effort
            resisting[push.index] = resisting[push.index] + push.resisting
        found = call(motion, h, q, v, u, tau, resisting)
        return {**found, "rates": joint_accelerations(m, q, v, found["acceleration"]), "resisting": resisting}

    return moved


def driven_dynamics(motion: Program, forcing: Forcing, *, implicit: bool) -> Program:
    """(h, q, v, u) → v̇ and the power of all efforts, those of drives included; and what else `motion` gives.

    Where drives have states of their own, "states" are the rates of these, means over a step that is implicit.

    Args:
        motion: (h, q, v, u, tau, resisting) → v̇ and the power of all else.
        implicit: whether a step h is implicit in the drives; they are evaluated at the state itself otherwise.
    """
    m = forcing.mechanism

    def dynamics(h: Scalar, q: Any, v: Any, u: Any) -> dict[str, Any]:
        step: Scalar = h if implicit else 0.0
        moved = moved_by(motion, forcing, h, q, v, u)
        place, speeds = joint_motion(m, q, v)
        parts = forcing.layout.unpack(u)
        wished = drive_forces(m.driven, place, speeds, parts.commands, parts.states, step)

        def solve(pushes: Sequence[JointPush]) -> dict[str, Any]:
            found = moved(pushes)
            return {name: found[name] for name in ("rates", *(array.name for array in motion.outputs))}

        if implicit:
            found = settled(m.driven, wished, [], step, solve).found
        else:
            efforts = [effort_along(joint, wish, 0.0) for joint, wish in zip(m.driven, wished, strict=True)]
            found = solve([JointPush(joint.v, effort, 0.0) for joint, effort in zip(m.driven, efforts, strict=True)])
        rates = found.pop("rates")
        power = drive_power(m.driven, wished, speeds, rates, step)
        own = state_rates(m.driven, place, speeds, parts.commands, parts.states, rates, step)
        return {**found, "power": found["power"] + power, **({"states": own} if own else {})}

    return trace(dynamics, {"h": (), "q": m.nq, "v": m.nv, "u": forcing.layout.size}, f"driven_{motion.name}")


def drive_power(
    driven: Sequence[Driven], wished: Sequence[DriveForce], v: Sequence[Scalar], rates: Sequence[Scalar], h: Scalar
) -> Scalar:
    """The power of drives in a step h from velocities v that change at `rates` [W]: of what acts, at the mean velocity.

    Times the step it is the kinetic energy that they add, however stiff they are.
    """
    total: Scalar = 0.0
    for joint, wish in zip(driven, wished, strict=True):
        k = joint.v
        total = total + effort_along(joint, wish, rates[k]) * (v[k] + 0.5 * h * rates[k])
    return total


def efforts_program(forcing: Forcing, reactions: Program | None) -> Program:
    """(h, q, v, u) → the efforts at the joints at a state: of a controller, of drives, and of prescribed motions.

    One for every degree of freedom (`freedoms`), those of loop joints by their drives.

    `reactions`: (h, q, v, u) → those of joints with prescribed motions, which follow from the motion of all; None without.
    """
    m = forcing.mechanism

    def efforts(h: Any, q: Any, v: Any, u: Any) -> list[Scalar]:
        parts = forcing.layout.unpack(u)
        wished = drive_forces(m.driven, *joint_motion(m, q, v), parts.commands, parts.states, 0.0)
        total = [*(u[k] for k in range(m.nv)), *[0.0] * (freedoms(m) - m.nv)]
        for joint, wish in zip(m.driven, wished, strict=True):
            total[joint.v] = total[joint.v] + effort_along(joint, wish, 0.0)
        if reactions is not None:
            for k, effort in zip(forcing.fixed, call(reactions, h, q, v, u), strict=True):
                total[k] = total[k] + effort
        return total

    return trace(efforts, {"h": (), "q": m.nq, "v": m.nv, "u": forcing.layout.size}, f"efforts_{m.name}")


def acting_program(functions: Hole, name: str) -> Program:
    """(t, q, v, u) → u with the values of compiled functions, which fill a hole; `name`: of the mechanism."""
    sizes: dict[str, int | tuple[int, ...]] = {array.name: array.shape for array in functions.inputs}
    return trace(lambda *given: call(functions, *given), sizes, f"efforts_{name}")
