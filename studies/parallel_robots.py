"""The page docs/parallel-robots.md: how published robots with closed loops are closed, and whether they stay so."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import kumitate as km
from kumitate.analysis import LoopEquations
from kumitate.analysis.closing.newton import approached, gauss_newton, other_starts
from kumitate.analysis.loops import loop_equations
from kumitate.control import holding_drives
from kumitate.dynamics import crba
from kumitate.errors import ModelError
from kumitate.model import KINDS, Loop, Mechanism
from kumitate.model.convert import pinocchio as pinocchio_order
from kumitate.model.read import read_urdf
from kumitate.papers import merge_spherical
from kumitate.scalar import sin

__all__ = ["Closing", "closed_by_points", "closing", "largest_gap", "mass_matrix_difference", "moved_by_motors", "page"]

_HEAD = """\
# Robots with closed loops

How the legs and arms of [example-parallel-robots](https://github.com/Gepetto/example-parallel-robots) are closed, each from its
neutral posture, where no loop is, and how well they stay so. Printed by `scripts/study formats --only parallel`. The files,
URDF with YAML, are in `tests/data/parallel-robots`; `kumitate simulate robot.yaml --hold` runs one.

- **Degrees of freedom**: those of the tree → those that the loops leave; more than motors where rods spin about their length.
- **Closed by**: Gauss-Newton steps from the neutral posture; where they end open, bounded steps first, from there or elsewhere.
- **Assembly**: processor time of `robot.assemble(robot.neutral())` after the first call, with the slide to the nearest closed
  posture, best of three. The gap before is the largest of all loops.
- **Simulated**: {duration:g} s in steps of 1 ms with `integrator="auto"`, which is rkf45 or, where drives are stiff,
  extrapolated_euler. The motors are drives with the gains of `holding_drives`; they swing by 0.1 rad or, where they slide, by
  0.01 m about the closed posture, once in 2 s. Limits of effort are taken off: all joints of these files have 1 N·m or 1 N, as
  their exporter writes. The gap is the largest of all loops and recorded states; the energy is the error of its balance, as a
  part of the largest energy exchanged.
- **M(q)**: the largest difference of the tree's inertia matrix from Pinocchio's, relative to the largest entry, in three random
  states, before the YAML changes types of joints.
"""
#: What is said of robots whose loops close as points.
_POINTS = """
## Closed by points

All loops as points (3d). What was one with the end of a rod then turns there freely: cylinders of 5 g become links of 22 mm
between two balls, which turn at tens of rad/s under the forces of the motors. Steps of 1 ms are too long for them, explicit
or implicit ones, so that these run with `integrator="rkf45_adaptive"`. Three hinges with massless bodies between, which the
exporter writes for a ball joint, are one joint here (`kumitate.papers.merge_spherical(mechanism, by="quaternion")`):
such hinges pass gimbal lock, where nothing resists them.
"""
#: The swing of motors that turn [rad] and that slide [m], and its frequency [rad/s].
_SWING = {"revolute": 0.1, "prismatic": 0.01}
_FREQUENCY = math.pi
_COLUMNS = (
    "robot", "bodies", "joints", "loops", "motors", "degrees of freedom", "closed by", "assembly", "gap before",
    "gap in the run", "energy", "M(q)",
)  # fmt: skip


@dataclass(frozen=True)
class Closing:
    """How a mechanism was closed from its neutral posture: the posture q (nq), what closed it, and the gap before [m]."""

    q: np.ndarray
    way: str
    before: float


def closing(robot: km.Robot) -> Closing:
    """The closed posture that `assemble` finds from neutral, and by which of its means.

    Raises:
        ModelError: if it finds none.
    """
    loops, free, start = loop_equations(robot.mechanism), np.ones(robot.nv), np.array(robot.neutral())
    q = np.asarray(robot.assemble(start))
    ways = ("Newton steps", "bounded steps", *(f"start {k}" for k in range(2, 40)))
    ends = (gauss_newton(loops, start, free), *_others(loops, start, free))
    way = next(name for name, end in zip(ways, ends, strict=False) if largest_gap(loops, end[None]) < 1e-9)
    return Closing(q, way, largest_gap(loops, start[None]))


def _others(loops: LoopEquations, start: np.ndarray, free: np.ndarray) -> Any:
    for other in (start, *other_starts(loops, start, free)):
        yield gauss_newton(loops, approached(loops, other, free), free)


def largest_gap(loops: LoopEquations, q: np.ndarray) -> float:
    """The largest distance between the two sides of a loop at states (N, nq) [m]."""
    return float(loops.gaps_of_rows(q, np.zeros((len(q), loops.mechanism.nv)))[..., 0].max())


def moved_by_motors(robot: km.Robot, q: np.ndarray, duration: float, integrator: str = "auto") -> km.Run:
    """A run from the closed posture q whose motors, the joints with drives, swing about it."""
    bare = tuple(
        replace(joint, limits=tuple(replace(limit, effort=None) for limit in joint.limits)) for joint in robot.mechanism.joints
    )
    mechanism = replace(robot.mechanism, joints=bare)
    driven = mechanism.with_drives(holding_drives(mechanism, q))
    links = {link.name: link for link in mechanism.tree.links}
    motors = [links[joint.name] for joint in driven.joints if joint.drive is not None]
    middles = [(float(q[link.q_start]), _SWING[link.kind.name]) for link in motors]

    def target(t: Any, q: Any, v: Any) -> list[Any]:
        return [middle + swing * sin(_FREQUENCY * t) for middle, swing in middles]

    return km.simulate(driven, q, duration=duration, inputs={"target": target}, integrator=integrator)


def mass_matrix_difference(urdf: Path, states: int = 3) -> float:
    """The largest relative difference of M(q) from Pinocchio's over some random states of a URDF's tree."""
    import pinocchio

    mechanism = _quietly(lambda: read_urdf(urdf, keep_angles=True))
    model = pinocchio.buildModelFromUrdf(str(urdf))
    data, order, rng, worst = model.createData(), pinocchio_order(mechanism, model), np.random.default_rng(0), 0.0
    for _ in range(states):
        q = np.array([x for joint in mechanism.joints for x in joint.kind.random(rng)])
        theirs = np.triu(pinocchio.crba(model, data, order.to(q)))
        theirs = theirs + np.triu(theirs, 1).T
        turn = order.velocity_matrix(q)
        ours = turn @ np.array(crba(mechanism.tree, q.tolist()), dtype=float) @ turn.T
        worst = max(worst, float(np.abs(ours - theirs).max() / np.abs(theirs).max()))
    return worst


def page(folder: Path, duration: float = 10.0) -> str:
    """The text of docs/parallel-robots.md for the robots in the folders of a folder, robot.urdf and robot.yaml each."""
    rows, points, refused = [], [], []
    for file in sorted(folder.glob("*/robot.yaml")):
        mechanism, name = _loaded(file), f"`{file.parent.name}`"
        agreement = f"{mass_matrix_difference(file.with_suffix('.urdf')):.0e}"
        try:
            rows.append(_row(name, mechanism, agreement, duration))
        except ModelError as error:
            refused.append(f"- {name}: {str(error).partition(': ')[2]}.")
            points.append(_row(name, closed_by_points(mechanism), agreement, duration, integrator="rkf45_adaptive"))
    head = f"| {' | '.join(_COLUMNS)} |\n" + "|---" * len(_COLUMNS) + "|"
    parts = [_HEAD.format(duration=duration), head, *rows]
    parts += ["\n## As published, these cannot be closed\n", *refused, _POINTS, head, *points] if refused else []
    return "\n".join(parts) + "\n"


def closed_by_points(mechanism: Mechanism) -> Mechanism:
    """With points in place of the poses of loops (3d, not 6d), and one joint for three that make a ball joint."""
    points = tuple(Loop(loop.name, KINDS["spherical"], loop.body_a, loop.body_b) for loop in mechanism.loops)
    return merge_spherical(replace(mechanism, loops=points), by="quaternion").mechanism


def _row(name: str, mechanism: Mechanism, agreement: str, duration: float, *, integrator: str = "auto") -> str:
    robot = km.Robot(mechanism)
    closed = closing(robot)
    loops = loop_equations(mechanism)
    times = [_processor_time(lambda: robot.assemble(robot.neutral())) for _ in range(3)]
    rank = np.linalg.matrix_rank(loops.state(closed.q, np.zeros(robot.nv)).J, rtol=1e-9)
    moving = sum(joint.kind.nv > 0 for joint in mechanism.joints)
    gap, energy = _motion(robot, closed.q, duration, integrator)
    told = (
        name, len(mechanism.bodies), moving, len(mechanism.loops), len(mechanism.driven), f"{robot.nv} → {robot.nv - rank}",
        closed.way, f"{1e3 * min(times):.0f} ms", f"{closed.before:.2g} m", gap, energy,
        agreement,
    )  # fmt: skip
    return f"| {' | '.join(map(str, told))} |"


def _motion(robot: km.Robot, q: np.ndarray, duration: float, integrator: str) -> tuple[str, str]:
    """The largest gap of a run, and its error of energy."""
    run = _quietly(lambda: moved_by_motors(robot, q, duration, integrator))
    exchanged = float(np.ptp(run.energy.kinetic) + np.ptp(run.energy.potential))
    gap = largest_gap(loop_equations(robot.mechanism), np.asarray(run.q))
    return f"{gap:.0e} m", f"{run.audit.energy_drift / exchanged:.0e}"


def _loaded(file: Path) -> Mechanism:
    return _quietly(lambda: km.load(file).mechanism)


def _processor_time(call: Callable[[], Any]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def _quietly(call: Callable[[], Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()
