"""kumitate as a program: every integrator, one state and eight at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

import kumitate as km
from kumitate.errors import KumitateError

from .contract import Case, Peer, Point, timed

__all__ = ["Kumitate"]

FIXED = ("semi_implicit_euler", "midpoint", "rk4", "rkf45")
ADAPTIVE = ("rkf45_adaptive", "extrapolated_euler")
TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
LANES = 8


class Kumitate(Peer):
    """This package, on one thread."""

    name = "kumitate"
    settings = "defaults; one thread; compiled before. `batch` is the time of a row of eight equal ones"

    @staticmethod
    def installed() -> bool:
        return True

    def why_not(self, case: Case) -> str:
        return ""

    def runs(self, case: Case) -> Iterable[Point]:
        for method in FIXED if case.contact is None else FIXED[:1]:
            for step in case.steps:
                yield from self._measured(case, method, case.duration / case.count(step), case.count(step))
        for method in ADAPTIVE if case.contact is None else ():
            for tolerance in TOLERANCES:
                yield from self._measured(case, method, case.duration / 10.0, 10, tolerance=tolerance)

    def _measured(self, case: Case, method: str, step: float, count: int, **options: float) -> Iterable[Point]:
        names, tau = case.mechanism.q_names, np.array([case.tau.get(name, 0.0) for name in case.mechanism.v_names])
        driven: dict[str, Any] = {"controller": tau} if case.tau else {}
        driven |= {"motions": case.motions} if case.motions else {}
        driven |= {"contact": case.contact} if case.contact else {}
        robot = km.Robot(case.mechanism, start=(case.q, case.v))
        with suppress(KumitateError):  # steps that are too long diverge
            simulation = km.Simulation(robot, step=step, integrator=method, **driven, **options)
            start = simulation.start(case.q, case.v)

            def one() -> Mapping[str, float]:
                return dict(zip(names, simulation.step(start, count).q, strict=True))

            found, seconds = timed(one)
            yield Point(self.name, method, options.get("tolerance", step), case.error(found), seconds)
            # not where contact goes through lists, one at a time, nor where time is a part of the state
            if method in FIXED and not case.motions and (case.contact is None or len(case.mechanism.bodies) == 1):
                rows = np.tile(case.q, (LANES, 1)), np.tile(case.v, (LANES, 1))
                batch = simulation.batch(*rows)

                def many() -> Mapping[str, float]:
                    batch.q[:], batch.v[:] = rows
                    batch.step(count)
                    return dict(zip(names, batch.q[-1], strict=True))

                found, seconds = timed(many)
                yield Point(self.name, f"{method}, batch", step, case.error(found), seconds / LANES)
