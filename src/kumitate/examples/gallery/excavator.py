"""An excavator that digs, lifts, swings and dumps, by valves that open with the errors of its cylinders' lengths.

All sizes are those of a typical machine. Points are in the plane of the boom: x forward, z up, angles about −y, so that they
are positive upward.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ...analysis import joint_motion
from ...control.paths import blend
from ...model import Mechanism
from ...model.read.json import read_json
from ...records.record import Record
from ...simulate.run import simulate
from ..catalogue import Curves, Example, Plate, texts

#: The cylinders; each has a joint at its back, one at its front, and a loop that closes it.
CYLINDERS = ("boom_left", "boom_right", "arm", "bucket")


def excavator() -> Mechanism:
    """The machine on its tracks; cylinders are closed by sliding joints, each with a drive, and the bucket by its link.

    The chambers of each cylinder hold each other in balance with the arm stretched out; 100 bar over the edge of a valve that
    is fully open move its piston at 0.5 m/s.
    """
    return replace(read_json(Path(__file__).with_name("excavator.json")), source=None)


def _points(mechanism: Mechanism) -> dict[str, tuple[float, float]]:
    """Where joints and frames are on their bodies (x, z) [m]; "pin": on the bucket, "link_end": the same on the link."""
    (pin,) = (loop for loop in mechanism.loops if loop.name == "pin")
    poses = {joint.name: joint.pose for joint in mechanism.joints} | {frame.name: frame.pose for frame in mechanism.frames}
    poses |= {"pin": pin.pose_b, "link_end": pin.pose_a}
    return {name: (float(place.translation.x), float(place.translation.z)) for name, place in poses.items()}


def posture(mechanism: Mechanism, boom: float, arm: float, bucket: float, swing: float = 0.0) -> np.ndarray:
    """The coordinates (nq) at angles of boom, arm and bucket, each relative to the body before [rad], with all loops closed.

    The rocker and the link meet where circles around the rocker's pin and the bucket's cross; cylinders lie between their ends.
    """
    at, turns, places = _points(mechanism), {"upper": 0.0}, {"upper": (0.0, 0.0)}
    for name, before, angle in (("boom", "upper", boom), ("arm", "boom", arm), ("bucket", "arm", bucket)):
        turns[name], places[name] = turns[before] + angle, _seen(places[before], turns[before], at[name])
    start, end = (np.array(_seen(places[body], turns[body], at[on])) for body, on in (("arm", "rocker"), ("bucket", "pin")))
    (x, z), rocker, link = end - start, at["link"][0], at["link_end"][0]
    distance = math.hypot(x, z)
    opened = math.acos((distance**2 + rocker**2 - link**2) / (2.0 * distance * rocker))
    turns["rocker"], places["rocker"] = math.atan2(z, x) + opened, tuple(start)
    meet = _seen(places["rocker"], turns["rocker"], at["link"])
    turns["link"] = math.atan2(end[1] - meet[1], end[0] - meet[0])
    found = {"swing": swing, "boom": boom, "arm": arm, "bucket": bucket}
    found |= {"rocker": turns["rocker"] - turns["arm"], "link": turns["link"] - turns["rocker"]}
    parents = {joint.name: joint.parent for joint in mechanism.joints}
    for back, front in ((f"{name}_back", f"{name}_front") for name in CYLINDERS):
        (x, z), (x_b, z_b) = (_seen(places[parents[end]], turns[parents[end]], at[end]) for end in (back, front))
        along = math.atan2(z_b - z, x_b - x)
        found |= {end: along - turns[parents[end]] for end in (back, front)}
    return np.array([math.remainder(found[joint.name], 2.0 * math.pi) for joint in mechanism.joints if joint.kind.nv])


def _seen(origin: tuple[float, float], turn: float, at: tuple[float, float]) -> tuple[float, float]:
    """A point of a body in the plane of the boom."""
    c, s = math.cos(turn), math.sin(turn)
    return origin[0] + c * at[0] - s * at[1], origin[1] + s * at[0] + c * at[1]


# --- the motion -----------------------------------------------------------------------------------------------------------
#: Times [s], and angles of boom, arm, bucket and swing then [rad].
PATH = (
    (0.0, 0.55, -1.00, -0.20, 0.0), (1.0, 0.55, -1.00, -0.20, 0.0), (2.5, 0.25, -0.95, -0.55, 0.0),
    (4.5, 0.30, -1.50, -0.90, 0.0), (6.0, 0.36, -1.80, -1.60, 0.0), (7.5, 0.85, -1.75, -1.75, 0.25),
    (9.5, 0.85, -1.30, -1.60, 1.05), (11.0, 0.85, -1.10, -0.20, 1.4), (11.5, 0.85, -1.10, -0.20, 1.4),
)  # fmt: skip
#: The valves open fully at this error of length [m], and so far for this speed [m/s]; the ground resists with this force per
#: depth of the teeth [N/m].
FULLY, FASTEST, GROUND = 0.2, 0.65, 6e4


def run() -> Record:
    """Eleven and a half seconds: into the ground, through it, up, round to the side, and empty."""
    machine = excavator()
    still, postures = [0.0] * machine.nv, [posture(machine, *angles).tolist() for _, *angles in PATH]
    lengths = np.array(
        [joint_motion(machine, q, still)[0][machine.nq + 1 :] for q in postures], dtype=float
    )  # of the cylinders
    times, swing = [row[0] for row in PATH], np.array([row[4:] for row in PATH])

    def opening(t: Any, q: Any, v: Any, loop_q: Any) -> Any:
        now, ahead = _between(times, lengths, t), _between(times, lengths, t + 0.05)
        valves = [
            (wanted - length) / FULLY + (then - wanted) / (0.05 * FASTEST)
            for wanted, then, length in zip(now, ahead, loop_q[1:], strict=True)
        ]
        turned, turning = (_between(times, swing, t + late)[0] for late in (0.0, 0.05))
        return np.array([(turning - turned) / 0.05 + 3.0 * (turned - q[0]), *valves])

    wrenches = {"teeth": _resistance(machine)}
    start = posture(machine, *PATH[0][1:])
    return simulate(
        machine, start, duration=PATH[-1][0], step=1e-3, integrator="semi_implicit_euler", inputs={"target": opening},
        wrenches=wrenches,
    )  # fmt: skip


def _between(times: list[float], values: np.ndarray, t: Any) -> list[Any]:
    """Values that go smoothly from one row to the next."""
    parts = [blend(t, a, b) for a, b in pairwise(times)]
    return [
        float(column[0]) + sum(part * float(change) for part, change in zip(parts, np.diff(column), strict=True))
        for column in values.T
    ]


def _resistance(machine: Mechanism) -> Any:
    """[n; f] of the ground on the teeth: against their motion, in proportion to their depth below z = 0."""
    at = [machine.q_names.index(name) for name in ("swing", "boom", "arm", "bucket")]
    foot, *arms = (_points(machine)[name] for name in ("boom", "arm", "bucket", "teeth"))

    def wrench(t: Any, q: Any, v: Any) -> Any:
        turn, angle, rate = q[at[0]], 0.0, 0.0
        (x, z), u, w = foot, 0.0, 0.0
        for k, (along, up) in zip(at[1:], arms, strict=True):
            angle, rate = angle + q[k], rate + v[k]
            c, s = np.cos(angle), np.sin(angle)
            dx, dz = c * along - s * up, s * along + c * up
            x, z, u, w = x + dx, z + dz, u - rate * dz, w + rate * dx
        depth = np.maximum(-z, 0.0)
        size = GROUND * depth / np.sqrt(u * u + w * w + 0.05**2)
        return np.array([0.0, 0.0, 0.0, -size * u * np.cos(turn), -size * u * np.sin(turn), -size * w])

    return wrench


def plates(result: Record) -> Mapping[str, Plate]:
    """What the cylinders do, and the pressures of the arm's."""
    names = tuple(name for name in CYLINDERS if name != "boom_right")
    length, force = (
        np.column_stack([part(result.loops[f"{name}_cylinder"]) for name in names])
        for part in (lambda record: record.q[:, 0], lambda record: record.tau[:, 0] / 1e3)
    )
    pressure = np.column_stack([result.drive_states[f"arm_cylinder.{side}_pressure"] / 1e5 for side in ("piston", "rod")])
    parts = (
        Curves("Length of the cylinders", "m", names, length),
        Curves("Force of the cylinders", "kN", names, force),
        Curves("Pressures of the arm's cylinder", "bar", ("piston side", "rod side"), pressure),
    )
    caption = (
        "Cylinders of the excavator: from 2.4 to 5 s the bucket goes through the ground. Each chamber's pressure is a state of "
        "the drive; valves let oil through with the root of the pressure difference."
    )
    return {"cylinders": Plate(parts, caption)}


EXAMPLE = Example(**texts("excavator"), run=run, plates=plates)
