"""An excavator that digs, lifts, swings and dumps, by valves that open with the errors of its cylinders' lengths.

All sizes are those of a typical machine. Side views are in the plane of the boom: x forward, z up, angles about −y, so that
they are positive upward.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from ...analysis import joint_motion
from ...control.paths import blend
from ...model import (
    KINDS,
    WORLD,
    Body,
    Box,
    Capsule,
    Cylinder,
    Frame,
    Geometry,
    HydraulicCylinder,
    Joint,
    Loop,
    Mechanism,
    VelocityDrive,
)
from ...records.record import Record
from ...simulate.run import simulate
from ...spatial import Transform, pose
from ..catalogue import Curves, Example, Plate, texts

#: From boom foot to arm and from arm to bucket [m]; the boom's foot on the upper structure, and the bucket's teeth on it.
BOOM_LENGTH, ARM_LENGTH, FOOT, TIP = 5.6, 2.9, (0.2, 1.7), (1.35, -0.1)
#: Of the four-bar linkage of the bucket: where the rocker is on the arm, and the link on the bucket; their lengths [m].
ROCKER_AT, LINK_AT, ROCKER, LINK = (2.5, 0.05), (0.0, 0.42), 0.6, 0.6
#: Every cylinder: the bodies at its two ends, the points there (x, z), its place to the side [m], and its areas [m²].
CYLINDERS = {
    "boom_left": ("upper", (0.75, 1.3), "boom", (2.5, 0.35), 0.35, (0.0113, 0.0075)),
    "boom_right": ("upper", (0.75, 1.3), "boom", (2.5, 0.35), -0.35, (0.0113, 0.0075)),
    "arm": ("boom", (2.9, 0.75), "arm", (-0.75, 0.25), 0.0, (0.0143, 0.0091)),
    "bucket": ("arm", (0.3, 0.65), "rocker", (ROCKER, 0.0), 0.0, (0.0095, 0.0059)),
}
#: The shortest length of each cylinder, and its stroke [m].
_REACH = {"boom_left": (1.7, 1.3), "boom_right": (1.7, 1.3), "arm": (2.0, 1.6), "bucket": (1.6, 1.25)}
#: Pressures on the pistons' and the rods' sides with the arm stretched out, at the start of `gallery.excavator` [Pa].
_PRESSURES = {"boom_left": (1.3e7, 2e6), "boom_right": (1.3e7, 2e6), "arm": (3e6, 1e7), "bucket": (5e6, 9.6e6)}
_YELLOW, _GREY, _BLACK = (0.93, 0.68, 0.10, 1.0), (0.55, 0.57, 0.60, 1.0), (0.16, 0.17, 0.19, 1.0)
_BACK = (0.0, -1.0, 0.0)


def excavator() -> Mechanism:
    """The machine on its tracks; cylinders are closed by sliding joints, each with a drive, and the bucket by its link."""
    bodies = [
        Body("tracks", 7000.0, (0.0, 0.0, 0.4), (6e3, 8e3, 1.2e4), tuple(_tracks())),
        Body("upper", 9000.0, (-0.8, 0.0, 1.5), (9e3, 1.5e4, 1.6e4), tuple(_upper())),
        Body("boom", 1700.0, (2.8, 0.0, 0.35), (250.0, 5.2e3, 5.2e3), tuple(_boom())),
        Body("arm", 950.0, (0.9, 0.0, 0.15), (80.0, 900.0, 900.0), tuple(_beam((-0.75, 0.25), (ARM_LENGTH, 0.0), 0.32, 0.3))),
        Body("bucket", 800.0, (0.6, 0.0, 0.1), (160.0, 180.0, 200.0), tuple(_bucket())),
        Body("rocker", 60.0, (0.5 * ROCKER, 0.0, 0.0), (1.0, 3.0, 3.0), tuple(_beam((0, 0), (ROCKER, 0), 0.3, 0.1))),
        Body("link", 60.0, (0.5 * LINK, 0.0, 0.0), (1.0, 3.0, 3.0), tuple(_beam((0, 0), (LINK, 0), 0.26, 0.1))),
    ]
    joints = [
        Joint("ground", KINDS["fixed"], WORLD, "tracks"),
        Joint("swing", KINDS["revolute"], "tracks", "upper", drive=VelocityDrive(kd=4e5, limit=1.5e5)),
        _hinge("boom", "upper", "boom", FOOT),
        _hinge("arm", "boom", "arm", (BOOM_LENGTH, 0.0)),
        _hinge("bucket", "arm", "bucket", (ARM_LENGTH, 0.0)),
        _hinge("rocker", "arm", "rocker", ROCKER_AT),
        _hinge("link", "rocker", "link", (ROCKER, 0.0)),
    ]
    loops = [Loop("pin", KINDS["revolute"], "link", "bucket", _point((LINK, 0.0)), _point(LINK_AT), axis=_BACK)]
    for name, (a, at_a, b, at_b, y, _) in CYLINDERS.items():
        shortest, _ = _REACH[name]
        barrel = _beam((0.0, 0.0), (shortest - 0.15, 0.0), 0.17, 0.17, color=_BLACK)
        rod = _beam((-shortest + 0.05, 0.0), (0.0, 0.0), 0.09, 0.09, color=_GREY)
        bodies.append(Body(f"{name}_barrel", 120.0, (0.5 * shortest, 0.0, 0.0), (1.0, 25.0, 25.0), tuple(barrel)))
        bodies.append(Body(f"{name}_rod", 80.0, (-0.5 * shortest, 0.0, 0.0), (0.5, 15.0, 15.0), tuple(rod)))
        joints += [_hinge(f"{name}_back", a, f"{name}_barrel", at_a, y), _hinge(f"{name}_front", b, f"{name}_rod", at_b, y)]
        slides = {"axis": (1.0, 0.0, 0.0), "damping": 2e3, "drive": _drive(name)}
        loops.append(Loop(f"{name}_cylinder", KINDS["prismatic"], f"{name}_barrel", f"{name}_rod", **slides))  # type: ignore[arg-type]
    frames = (Frame("teeth", "bucket", _point(TIP)),)
    return Mechanism("excavator", tuple(bodies), tuple(joints), tuple(loops), frames)


def posture(mechanism: Mechanism, boom: float, arm: float, bucket: float, swing: float = 0.0) -> np.ndarray:
    """The coordinates (nq) at angles of boom, arm and bucket, each relative to the body before [rad], with all loops closed.

    The rocker and the link meet where circles around the rocker's pin and the bucket's cross; cylinders lie between their ends.
    """
    turns, points = {"upper": 0.0}, {"upper": (0.0, 0.0)}
    for name, before, at, angle in (
        ("boom", "upper", FOOT, boom), ("arm", "boom", (BOOM_LENGTH, 0.0), arm), ("bucket", "arm", (ARM_LENGTH, 0.0), bucket),
    ):  # fmt: skip
        turns[name], points[name] = turns[before] + angle, _seen(points[before], turns[before], at)
    start, end = np.array(_seen(points["arm"], turns["arm"], ROCKER_AT)), _seen(points["bucket"], turns["bucket"], LINK_AT)
    x, z = np.array(end) - start
    distance = math.hypot(x, z)
    opened = math.acos((distance**2 + ROCKER**2 - LINK**2) / (2.0 * distance * ROCKER))
    turns["rocker"], points["rocker"] = math.atan2(z, x) + opened, tuple(start)
    meet = _seen(points["rocker"], turns["rocker"], (ROCKER, 0.0))
    turns["link"] = math.atan2(end[1] - meet[1], end[0] - meet[0])
    found = {"swing": swing, "boom": boom, "arm": arm, "bucket": bucket}
    found |= {"rocker": turns["rocker"] - turns["arm"], "link": turns["link"] - turns["rocker"]}
    for name, (a, at_a, b, at_b, _, _) in CYLINDERS.items():
        (x, z), (x_b, z_b) = (_seen(points[body], turns[body], at) for body, at in ((a, at_a), (b, at_b)))
        along = math.atan2(z_b - z, x_b - x)
        found |= {f"{name}_back": along - turns[a], f"{name}_front": along - turns[b]}
    return np.array([math.remainder(found[joint.name], 2.0 * math.pi) for joint in mechanism.joints if joint.kind.nv])


def _drive(name: str) -> HydraulicCylinder:
    """A cylinder with its valve, whose chambers hold each other in balance at the start."""
    A, B = CYLINDERS[name][5]
    (shortest, stroke), (pressed, drawn) = _REACH[name], _PRESSURES[name]
    valve = 1.6e-4 * A  # fully open, 100 bar over its edge move the piston at 0.5 m/s
    return HydraulicCylinder(
        piston_area=A, rod_side_area=B, stroke=stroke, dead_volume=2e-3, retracted=shortest, valve=valve, supply=3.2e7,
        leak=2e-11, piston_pressure=pressed, rod_pressure=drawn,
    )  # fmt: skip


def _point(at: tuple[float, float]) -> Transform:
    return pose((at[0], 0.0, at[1]))


def _hinge(name: str, parent: str, child: str, at: tuple[float, float], y: float = 0.0) -> Joint:
    return Joint(name, KINDS["revolute"], parent, child, pose((at[0], y, at[1])), _BACK, damping=50.0)


def _seen(origin: tuple[float, float], turn: float, at: tuple[float, float]) -> tuple[float, float]:
    """A point of a body in the plane of the boom."""
    c, s = math.cos(turn), math.sin(turn)
    return origin[0] + c * at[0] - s * at[1], origin[1] + s * at[0] + c * at[1]


def _beam(
    start: tuple[float, float],
    end: tuple[float, float],
    width: float,
    height: float,
    color: tuple[float, float, float, float] = _YELLOW,
) -> Iterator[Geometry]:
    """A bar between two points of the plane."""
    (x, z), (x_b, z_b) = start, end
    middle, turn = (0.5 * (x + x_b), 0.0, 0.5 * (z + z_b)), -math.atan2(z_b - z, x_b - x)
    yield Geometry(Box((math.hypot(x_b - x, z_b - z), width, height)), pose(middle, (0.0, turn, 0.0)), color)


def _tracks() -> Iterator[Geometry]:
    yield Geometry(Box((2.0, 1.4, 0.4)), pose((0.0, 0.0, 0.55)), _BLACK)
    for y in (-1.1, 1.1):
        yield Geometry(Box((4.2, 0.6, 0.75)), pose((0.0, y, 0.375)), _GREY)


def _upper() -> Iterator[Geometry]:
    yield Geometry(Box((3.4, 2.6, 0.9)), pose((-1.0, 0.0, 1.45)), _YELLOW)
    yield Geometry(Box((1.5, 0.95, 1.5)), pose((0.0, 0.8, 2.35)), _BLACK)
    yield Geometry(Cylinder(0.9, 0.3), pose((0.0, 0.0, 0.9)), _BLACK)


def _boom() -> Iterator[Geometry]:
    yield from _beam((0.0, 0.0), (2.7, 0.75), 0.42, 0.5)
    yield from _beam((2.7, 0.75), (BOOM_LENGTH, 0.0), 0.42, 0.42)
    yield Geometry(Capsule(0.1, 0.75), pose((2.5, 0.0, 0.35), (math.pi / 2, 0.0, 0.0)), _BLACK)


def _bucket() -> Iterator[Geometry]:
    yield from _beam((-0.1, 0.42), (0.35, 0.75), 1.1, 0.06)
    yield from _beam((0.35, 0.75), (1.0, 0.62), 1.1, 0.06)
    yield from _beam((1.0, 0.62), TIP, 1.1, 0.06)
    yield from _beam((-0.1, 0.42), (0.05, -0.1), 1.1, 0.06)


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
