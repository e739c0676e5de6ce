"""Runs of the small humanoid of paper S, and quantities read from them (S 4, figures 4 to 6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from kumitate.compile import Kernel
from kumitate.contact.scene import Contact
from kumitate.control import pulse, push
from kumitate.examples.catalogue import Curves, Plate
from kumitate.kinematics import link_poses, place_pose
from kumitate.model import Mechanism
from kumitate.model.samples import hoap1
from kumitate.records.record import Record
from kumitate.scalar import arctan2, sqrt, trace
from kumitate.simulate.run import simulate

from .humanoid import FEET, SOLE, STANCE, Plan, Servos, standing

__all__ = ["Flight", "Readings", "fallen", "flight", "followed", "plate", "read"]

#: For the fall: compliant servos, and the push on the head [N], with its start and end [s].
LIMP, PUSH, PUSHED = Servos(legs=(25.0, 0.5), arms=(4.0, 0.1)), (16.0, 8.0, 0.0), (0.3, 0.45)
#: A foot whose sole is higher counts as lifted [m].
LIFTED = 5e-3


def followed(plan: Plan, *, name: str, model: str = "rigid", duration: float | None = None, step: float = 1e-3) -> Record:
    """A run that follows a plan from rest on a floor, by a contact model; shorter, if a duration [s] is given."""
    robot = plan.servos.on(hoap1())  # named after the run later, so that walk and jump share their machine code
    result = simulate(
        robot, plan.motion.q[0], duration=plan.duration if duration is None else duration, step=step,
        controller=plan.controller(robot), contact=Contact(model), limits=False,
    )  # fmt: skip
    return replace(result, mechanism=replace(robot, name=name))


def fallen(*, name: str, model: str = "rigid", duration: float = 1.6, step: float = 1e-3) -> Record:
    """It stands, is pushed at its head from behind and from its right, and falls."""
    plan = standing(servos=LIMP)
    robot = replace(LIMP.on(hoap1()), name=name)
    return simulate(
        robot, plan.motion.q[0], duration=duration, step=step, controller=plan.controller(robot)(0.0, None, None),
        contact=Contact(model), limits=False, wrenches={"head": push(PUSH, pulse(*PUSHED))},
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Readings:
    """Quantities of a run at n times.

    Attributes:
        soles: how high the middles of the soles are, left and right (n, 2) [m].
        loads: the floor's forces up on left foot, right foot and all else (n, 3) [N].
        pressure: the center of pressure of both feet (n, 3) [m]; not a number where nothing touches.
        tilt: the turn of the trunk out of the upright (n) [rad].
    """

    soles: np.ndarray
    loads: np.ndarray
    pressure: np.ndarray
    tilt: np.ndarray

    @property
    def lifts(self) -> tuple[int, int]:
        """The number of times each foot was lifted by more than 5 mm."""
        up = self.soles > LIFTED
        left, right = (up[1:] & ~up[:-1]).sum(axis=0)
        return int(left), int(right)


def read(result: Record) -> Readings:
    """The quantities of a run of the humanoid."""
    record = result.contact
    assert record is not None
    pages = _page(result.mechanism)
    soles, tilt = pages(result.q)
    feet = [record.on(name)[:, 2] for name in FEET]
    others = [record.on(name)[:, 2] for name in {a for a, _ in record.bodies} - set(FEET)]
    loads = np.column_stack([*feet, np.sum(others, axis=0) if others else np.zeros(len(result))])
    touching = loads[:, :2].sum(axis=1) > 0.0
    pressure = record.center_of_pressure(*FEET) if touching.any() else np.full((len(result), 3), np.nan)
    return Readings(soles, loads, pressure, tilt)


@dataclass(frozen=True)
class Flight:
    """The longest time without any force.

    Attributes:
        start, end: [s].
        rise: how far the center of mass rises in it [m].
        error: how far the center of mass strays from the parabola that its place and velocity at the start say [m].
    """

    start: float
    end: float
    rise: float
    error: float


def flight(result: Record) -> Flight:
    """The longest flight of a run."""
    record = result.contact
    assert record is not None
    free = np.concatenate([[False], ~np.any(record.force[:-1], axis=(1, 2)), [False]])
    starts, ends = np.flatnonzero(free[1:] & ~free[:-1]), np.flatnonzero(free[:-1] & ~free[1:])
    longest = int(np.argmax(ends - starts))
    k, end = int(starts[longest]), int(ends[longest])
    t = (result.time[k : end + 1] - result.time[k])[:, None]
    mass = sum(body.mass for body in result.mechanism.bodies)
    center = result.center_of_mass[k : end + 1]
    said = center[0] + t * result.momentum[k, 3:] / mass + 0.5 * t**2 * np.array(result.mechanism.gravity)
    return Flight(
        float(result.time[k]), float(result.time[end]), float(np.ptp(center[:, 2])), float(np.abs(center - said).max())
    )


def plate(result: Record, caption: str, plan: Plan | None = None) -> Plate:
    """Feet, center of mass, the floor's forces and where they act; with a plan, also what the left leg's servos do."""
    readings = read(result)
    panels = [
        Curves("Middles of the soles above the floor", "mm", ("left", "right"), 1e3 * readings.soles),
        Curves("Center of mass", "mm", ("x", "y", "z"), 1e3 * result.center_of_mass),
        Curves("Force of the floor, upward", "N", ("left foot", "right foot", "all else"), readings.loads),
        Curves("Center of pressure of the feet", "mm", ("x", "y"), 1e3 * readings.pressure[:, :2]),
    ]
    if plan is None:
        panels.append(Curves("Trunk out of the upright", "deg", ("tilt",), np.degrees(readings.tilt)[:, None]))
    else:
        joints = ("left_hip_roll", "left_hip_pitch", "left_knee", "left_ankle_pitch", "left_ankle_roll")
        columns = [result.mechanism.v_names.index(joint) for joint in joints]
        torques = plan.torques(result.mechanism, result.q, result.v, result.tau)[:, columns]
        panels.append(Curves("Torques of the left leg", "N·m", tuple(name[5:].replace("_", " ") for name in joints), torques))
        away = readings.pressure[:, :2] - plan.zmp_at(result.time)
        panels.append(Curves("Center of pressure, less the planned one", "mm", ("x", "y"), 1e3 * away))
    return Plate(tuple(panels), caption)


@cache
def _page(mechanism: Mechanism) -> Kernel:
    """q → the heights of the soles' middles (2) [m] and the tilt of the trunk [rad]."""
    tree = mechanism.tree

    def page(q: Any) -> dict[str, Any]:
        poses = link_poses(tree, q)
        up = [place_pose(tree, poses, tree.places[name]).matrix() for name in ("trunk", *FEET)]
        soles = [X[2][3] + X[2][0] * SOLE - X[2][2] * STANCE[0][2] for X in up[1:]]
        return {"soles": soles, "tilt": arctan2(sqrt(up[0][2][0] ** 2 + up[0][2][1] ** 2), up[0][2][2])}

    return Kernel(trace(page, {"q": mechanism.nq}, f"soles_{mechanism.name}"))
