"""Drives within their limits and joints within theirs, around a step of a scene: which of them hold follows from its motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...dynamics import crba
from ...dynamics.settling.drives import drive_forces
from ...dynamics.settling.settled import settled
from ...dynamics.settling.stops import RECOVERY, STIFF, Stop
from ...kinematics import neutral
from ...model import Bound, Command, Mechanism
from ...scalar import floats
from ..stepping.driven import drive_power
from .robots import RobotSteps

__all__ = ["Settling"]


class Settling:
    """The drives and stops of the robots of a scene."""

    def __init__(self, mechanism: Mechanism, robots: Sequence[RobotSteps], bounds: Sequence[Bound]):
        """Those of a mechanism; `bounds`: the limits that are stops. Robots that have any take no Runge-Kutta steps."""
        self._driven, self._bounds = mechanism.driven, bounds
        held = {joint.v for joint in self._driven} | {bound.v for bound in bounds}
        moved = np.zeros(mechanism.nv)
        for robot in robots:
            if not held.isdisjoint(robot.part.v.tolist()):
                tree = robot.part.mechanism.tree
                moved[robot.part.v] = floats(row[k] for k, row in enumerate(crba(tree, neutral(tree))))
                robot.flies = False
        self._stiff = [STIFF * float(moved[bound.v]) for bound in bounds]

    def __bool__(self) -> bool:
        return bool(self._driven or self._bounds)

    def step(
        self, h: float, q: np.ndarray, v: np.ndarray, commands: Sequence[Command],
        solve: Callable[[np.ndarray, np.ndarray], np.ndarray],
    ) -> float:  # fmt: skip
        """Makes a step as often as needed; returns the work that drives and stops do in it [J].

        Args:
            h: [s]; q (nq), v (nv): before it; commands: of every drive.
            solve: makes the step with efforts (nv) that `resisting` (nv) inertias reduce; gives the velocities (nv) after it.
        """
        before, place = v.tolist(), q.tolist()
        wished = drive_forces(self._driven, place, before, commands, (), h)
        stops = [
            Stop(bound, min(-bound.gap(place) / h, RECOVERY), bound.sign * before[bound.v], stiff)
            for bound, stiff in zip(self._bounds, self._stiff, strict=True)
        ]

        def solved(pushes: Sequence[Any]) -> dict[str, Any]:
            effort, resisting = np.zeros(len(v)), np.zeros(len(v))
            for push in pushes:
                effort[push.index] += push.effort
                resisting[push.index] += push.resisting
            return {"rates": ((solve(effort, resisting) - v) / h).tolist()}

        end = settled(self._driven, wished, stops, h, solved)
        rates = end.found["rates"]
        work = h * drive_power(self._driven, wished, before, rates, h)
        for stop, force in zip(stops, end.multipliers, strict=True):
            k = stop.bound.v
            work += h * force * stop.bound.sign * (before[k] + 0.5 * h * rates[k])
        return float(work)
