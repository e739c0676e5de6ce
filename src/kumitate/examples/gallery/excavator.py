"""An excavator that digs, lifts, swings and dumps, by valves that open with the errors of its cylinders' lengths."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from ...analysis import joint_motion
from ...control.paths import blend
from ...model import Mechanism
from ...records.record import Record
from ...simulate.run import simulate
from ..catalogue import Curves, Example, Plate, texts
from ..machines.excavator import ARM_LENGTH, BOOM_LENGTH, CYLINDERS, FOOT, TIP, excavator, posture

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
    lengths = np.array([_lengths(machine, posture(machine, *angles)) for _, *angles in PATH])
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


def _lengths(machine: Mechanism, q: np.ndarray) -> list[float]:
    """Of the cylinders."""
    return [float(x) for x in joint_motion(machine, q.tolist(), [0.0] * machine.nv)[0][machine.nq + 1 :]]


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

    def wrench(t: Any, q: Any, v: Any) -> Any:
        turn, angle, rate = q[at[0]], 0.0, 0.0
        (x, z), u, w = FOOT, 0.0, 0.0
        for k, (along, up) in zip(at[1:], ((BOOM_LENGTH, 0.0), (ARM_LENGTH, 0.0), TIP), strict=True):
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
