"""Runs all programs on all robots; the results as plain data, and as a table."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import kumitate as km
from kumitate.analysis.loops import loop_equations
from kumitate.errors import ModelError
from kumitate.measure.machine import machine

from ..parallel_robots import largest_gap
from .contract import Program, Task
from .ours import Kumitate
from .pinocchio_program import Pinocchio

__all__ = ["PROGRAMS", "measured", "table", "tasks"]

PROGRAMS: dict[str, type[Program]] = {kind.name: kind for kind in (Kumitate, Pinocchio)}


def tasks(folder: Path, only: Sequence[str] = (), states: int = 50) -> Iterator[Task | tuple[str, str]]:
    """The robots of a folder, robot.yaml beside robot.urdf each, in closed states; a name and a reason where none is closed."""
    for file in sorted(folder.glob("*/robot.yaml")):
        name = file.parent.name
        if only and name not in only:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            robot = km.load(file)
        driven = {joint.name: None for joint in robot.mechanism.joints if joint.drive is not None}
        bare = replace(robot.mechanism.with_drives(driven), gravity=(0.0, 0.0, 0.0))
        rng = np.random.default_rng(0)
        try:
            q = np.asarray(robot.assemble(robot.neutral()))
            moving = [robot.assemble(q, rng.normal(size=robot.nv))[1] for _ in range(states)]
        except ModelError as error:
            yield name, str(error).partition(". ")[0]
            continue
        start = 0.3 * moving[0] / max(1.0, float(np.abs(moving[0]).max()))
        yield Task(name, file, bare, np.tile(q, (states, 1)), np.array(moving), rng.normal(size=(states, robot.nv)), start)


def measured(folder: Path, only: Sequence[str] = ()) -> dict[str, Any]:
    """Everything: the machine, the programs, and what each did with each robot."""
    programs = {name: kind() for name, kind in PROGRAMS.items() if kind.version()}
    robots: list[dict[str, Any]] = []
    for task in tasks(folder, only):
        if not isinstance(task, Task):
            robots.append({"name": task[0], "refused": task[1]})
            continue
        m, exact = task.mechanism, None
        told: dict[str, Any] = {}
        for name, program in programs.items():
            if reason := program.why_not(task):
                told[name] = {"refused": reason}
                continue
            a, seconds = program.accelerations(task)
            exact = a if exact is None else exact
            motion = program.motion(task)
            gap = largest_gap(loop_equations(m), motion.q) if np.isfinite(motion.q).all() else float("inf")
            told[name] = {
                "acceleration_seconds": seconds, "apart": float(np.abs(a - exact).max() / np.abs(exact).max()),
                "how": motion.how, "step_seconds": motion.seconds, "drift_m": gap,
            }  # fmt: skip
        sizes = {"bodies": len(m.bodies), "freedoms": m.nv, "loops": len(m.loops)}
        robots.append({"name": task.name, **sizes, "step": task.step, "duration": task.duration, "programs": told})
    versions = {name: {"version": one.version(), "settings": one.settings} for name, one in programs.items()}
    return {"machine": machine(), "programs": versions, "robots": robots}


def table(results: dict[str, Any]) -> str:
    """The results in Markdown."""
    rows = ["| robot | program | forward dynamics | apart | a step | drift of loops |", "|---|---|---|---|---|---|"]
    for robot in results["robots"]:
        for name, told in robot.get("programs", {"": robot}).items():
            if "refused" in told:
                rows.append(f"| `{robot['name']}` | {name} | {told['refused']} | | | |")
            else:
                rows.append(
                    f"| `{robot['name']}` | {name} | {1e6 * told['acceleration_seconds']:.3g} µs | {told['apart']:.0e} | "
                    f"{1e6 * told['step_seconds']:.3g} µs | {told['drift_m']:.0e} m |"
                )
    return "\n".join(rows)
