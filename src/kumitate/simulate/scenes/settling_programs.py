"""Drives within their limits and joints within theirs, as programs that the steps of a scene call (`dynamics.settling`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ... import kinematics
from ...analysis import joint_accelerations, joint_motion
from ...contact.scenes.parts import RobotPart
from ...dynamics.settling.drives import DriveForce, drive_forces
from ...dynamics.settling.settled import Settled, pushes_of, seen, starting
from ...dynamics.settling.stops import Stop, stops_at
from ...model import Bound, Command, Mechanism, freedoms
from ...scalar import Program, Scalar, trace
from ..stepping.driven import drive_power
from .robot_programs import in_rows

__all__ = ["begun_program", "bounds_on", "pieces_of", "settled_program"]


def bounds_on(part: RobotPart, bounds: Sequence[Bound]) -> list[Bound]:
    """Those of the limits of a scene that are of a robot, with its own numbers."""
    own_q, own_v = ({int(k): at for at, k in enumerate(places)} for places in (part.q, part.v))
    return [replace(bound, q=own_q[bound.q], v=own_v[bound.v]) for bound in bounds if bound.v in own_v]


def pieces_of(mechanism: Mechanism, bounds: Sequence[Bound]) -> int:
    """How many numbers say which pieces of drives and stops hold."""
    return 2 * len(mechanism.driven) + 2 * len(bounds) + 1


def begun_program(mechanism: Mechanism, bounds: Sequence[Bound]) -> Program:
    """(h, q, v, commands) → the pieces of a step's first pass, their efforts, and the inertias that reduce these.

    These are of all velocities as in rows of six, then of the degrees of freedom of driven loops (`freedoms`). "carried",
    likewise: the velocities that rates of change over the step count from, in the axes after it.
    """

    def begun(h: Scalar, q: Any, v: Any, commands: Any) -> dict[str, Any]:
        wished, stops = _acting(mechanism, bounds, h, q, v, commands)
        now = starting(wished, stops)
        turning = kinematics.turning(mechanism.tree, v)
        carried = [rate - h * turned for rate, turned in zip(v, turning, strict=True)]
        if freedoms(mechanism) > mechanism.nv:  # a · v̇ counts from there, without the accelerations of loops at v̇ = 0
            speeds = joint_motion(mechanism, q, carried)[1][mechanism.nv :]
            own = joint_accelerations(mechanism, q, v, [0.0] * mechanism.nv)[mechanism.nv :]
            carried += [speed - h * rate for speed, rate in zip(speeds, own, strict=True)]
        return {**_written(mechanism, stops, h, now), "carried": _filled(mechanism, carried)}

    return trace(begun, _inputs(mechanism), f"begun_{mechanism.name}")


def settled_program(mechanism: Mechanism, bounds: Sequence[Bound]) -> Program:
    """(h, q, v, commands, rates, pieces) → what rates of change (nv) over a step lead to: pieces, efforts, inertias; whether
    they are others than those that the rates result from; and the work of drives and stops in the step [J].
    """

    def settled(h: Scalar, q: Any, v: Any, commands: Any, rates: Any, pieces: Any) -> dict[str, Any]:
        wished, stops = _acting(mechanism, bounds, h, q, v, commands)
        speeds = joint_motion(mechanism, q, v)[1]
        if freedoms(mechanism) > mechanism.nv:
            turned = [rate + turn for rate, turn in zip(rates, kinematics.turning(mechanism.tree, v), strict=True)]
            rates = [*rates, *joint_accelerations(mechanism, q, v, turned)[mechanism.nv :]]
        end = seen(mechanism.driven, wished, stops, h, {"rates": rates}, _read(mechanism, stops, pieces))
        work = h * drive_power(mechanism.driven, wished, speeds, rates, h)
        for stop, force in zip(stops, end.multipliers, strict=True):
            k = stop.bound.v
            work = work + h * force * stop.bound.sign * (speeds[k] + 0.5 * h * rates[k])
        return {**_written(mechanism, stops, h, end), "unsettled": end.unsettled, "work": work}

    inputs = _inputs(mechanism) | {"rates": mechanism.nv, "pieces": pieces_of(mechanism, bounds)}
    return trace(settled, inputs, f"settled_{mechanism.name}")


def _inputs(mechanism: Mechanism) -> dict[str, int | tuple[int, ...]]:
    return {"h": (), "q": mechanism.nq, "v": mechanism.nv, "commands": (max(len(mechanism.driven), 1), 3)}


def _acting(
    mechanism: Mechanism, bounds: Sequence[Bound], h: Scalar, q: Any, v: Any, commands: Any
) -> tuple[list[DriveForce], list[Stop]]:
    """The efforts of drives without their limits, and the stops, at a state."""
    asked = [Command(*commands[k]) for k in range(len(mechanism.driven))]
    place, speeds = joint_motion(mechanism, q, v)
    return drive_forces(mechanism.driven, place, speeds, asked, (), h), stops_at(mechanism, bounds, place, speeds, h)


def _read(mechanism: Mechanism, stops: Sequence[Stop], pieces: Any) -> Settled:
    drives, count = len(mechanism.driven), len(stops)
    efforts, rest = pieces[: 2 * drives], pieces[2 * drives :]
    forces = [DriveForce(efforts[k], efforts[drives + k]) for k in range(drives)]
    return Settled({}, forces, list(rest[:count]), list(rest[count : 2 * count]), 0.0, rest[2 * count])


def _written(mechanism: Mechanism, stops: Sequence[Stop], h: Scalar, now: Settled) -> dict[str, Any]:
    """Pieces as numbers, and what they push with."""
    effort: list[Scalar] = [0.0] * freedoms(mechanism)
    resisting: list[Scalar] = [0.0] * freedoms(mechanism)
    for push in pushes_of(mechanism.driven, stops, h, now):
        effort[push.index] = effort[push.index] + push.effort
        resisting[push.index] = resisting[push.index] + push.resisting
    drives = [force.effort for force in now.drives] + [force.resisting for force in now.drives]
    pieces = [*drives, *now.multipliers, *now.holds, now.passes]
    return {"pieces": pieces, "effort": _filled(mechanism, effort), "resisting": _filled(mechanism, resisting)}


def _filled(mechanism: Mechanism, values: Sequence[Scalar]) -> list[Scalar]:
    """Values of all degrees of freedom (`freedoms`), those of the tree as in rows of six."""
    return [*(value for row in in_rows(values[: mechanism.nv]) for value in row), *values[mechanism.nv :]]
