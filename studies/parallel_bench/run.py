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
from kumitate.measure.timing import machine

from ..parallel_robots import largest_gap
from .contract import Program, Task
from .mujoco_program import MuJoCo
from .ours import Kumitate
from .pinocchio_program import Pinocchio
from .robots import BUILT, with_hinges

__all__ = ["PROGRAMS", "measured", "page", "table", "tasks"]

PROGRAMS: dict[str, type[Program]] = {kind.name: kind for kind in (Kumitate, MuJoCo, Pinocchio)}


def tasks(folder: Path, only: Sequence[str] = (), states: int = 50) -> Iterator[Task | tuple[str, str]]:
    """The robots of a folder, robot.yaml beside robot.urdf each, and those that are built here; in closed states.

    A name and a reason where none is closed.
    """
    files = {file.parent.name: file for file in sorted(folder.glob("*/robot.yaml"))}
    for name in [*files, *BUILT]:
        if only and name not in only:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mechanism, q = BUILT[name]() if name in BUILT else (km.load(files[name]).mechanism, None)
        driven = {joint.name: None for joint in mechanism.joints if joint.drive is not None}
        bare = with_hinges(replace(mechanism.with_drives(driven), gravity=(0.0, 0.0, 0.0)))
        robot, rng = km.Robot(bare), np.random.default_rng(0)
        try:
            q = np.asarray(robot.assemble(robot.neutral() if q is None else q))
            moving = [robot.assemble(q, rng.normal(size=robot.nv))[1] for _ in range(states)]
        except ModelError as error:
            yield name, str(error).partition(": ")[2].partition(". ")[0]
            continue
        start = 0.3 * moving[0] / max(1.0, float(np.abs(moving[0]).max()))
        yield Task(
            name, files.get(name), bare, np.tile(q, (states, 1)), np.array(moving), rng.normal(size=(states, robot.nv)), start
        )  # fmt: skip


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


_HEAD = """\
# ParallelBench

Robots with closed loops, and programs that compute how they move. Printed by `scripts/study parallel-bench --markdown
docs/parallel-bench.md`; `--out results.json` writes all as JSON, and `studies/parallel_bench/README.md` says how
a further program is added. Six robots are of [example-parallel-robots](parallel-robots.md), whose seventh cannot be closed;
the delta robot is Clavel's, the hexapod a Stewart platform on six cylinders, and Cassie hangs by its pelvis, its springs left
out. Universal joints are two hinges, which every program has. Nothing has weight.

- **Forward dynamics**: the accelerations of 50 states with other velocities and efforts, one state a call from Python, the
  least of several processor times; **apart**: the largest difference from kumitate's, as a part of the largest acceleration.
- **A step**: of {step:g} ms in a motion of {duration:g} s, by a classical Runge-Kutta of four stages in each program.
- **Drift of loops**: the largest distance between the two sides of a loop after any step, by kumitate's own equations.

{settings}

Machine: {machine}; other programs ran beside, so times are good to a factor of 1.5.

"""


def page(results: dict[str, Any]) -> str:
    """The results as a page in Markdown."""
    one = next(robot for robot in results["robots"] if "programs" in robot)
    settings = "\n".join(f"- **{name}** {of['version']}: {of['settings']}." for name, of in results["programs"].items())
    told = ", ".join(results["machine"][key] for key in ("processor", "system"))
    head = _HEAD.format(step=1e3 * one["step"], duration=one["duration"], settings=settings, machine=told)
    return head + table(results) + "\n"


def table(results: dict[str, Any]) -> str:
    """The results in Markdown."""
    rows = ["| robot | program | forward dynamics | apart | a step | drift of loops |", "|---|---|---|---|---|---|"]
    for robot in results["robots"]:
        size = f" ({robot['bodies']} bodies, {robot['loops']} loop{'s' * (robot['loops'] > 1)})" if "programs" in robot else ""
        for name, told in robot.get("programs", {"all": robot}).items():
            if "refused" in told:
                rows.append(f"| `{robot['name']}`{size} | {name} | {told['refused']} | | | |")
            else:
                rows.append(
                    f"| `{robot['name']}`{size} | {name} | {1e6 * told['acceleration_seconds']:.3g} µs | {told['apart']:.0e} | "
                    f"{1e6 * told['step_seconds']:.3g} µs | {told['drift_m']:.0e} m |"
                )
    return "\n".join(rows)
