"""What is written down of a step and of a state."""

from __future__ import annotations

import numpy as np

from ...procedure import Floats, Shaped, procedure
from ...procedure.called import later
from .arrays import Rules, Scene, SceneLog, ScenePoints
from .points import stored
from .robots import write_reached


@procedure
def log_record(scene: Scene, q: Floats[7], v: Floats[6], work: Floats, log: SceneLog) -> None:
    """Writes the state after a record."""
    bodies, record, own = len(scene.bodies.mass), log.marks[0], scene.bodies.robots.motions
    log.work[record] = work[0]
    log.q[record * bodies : record * bodies + bodies] = q
    log.v[record * bodies : record * bodies + bodies] = v
    log.robot_q[record * len(own.q) : record * len(own.q) + len(own.q)] = own.q
    log.robot_v[record * len(own.v) : record * len(own.v) + len(own.v)] = own.v


@procedure
def log_step(rules: Rules, scene: Scene, count: int, begins: bool, v: Floats[6], left: Shaped[4], log: SceneLog) -> None:
    """Adds the contact of a step, or of a part of one, to the sums of its record; if that begins with it, who pushed whom.

    Forces and velocities of a record become those of a whole step at the rate of its first part.

    Args:
        begins: whether it is not a later part; left: as of `step.push`.
    """
    points, record, first, deepest, gained, work = scene.points, log.marks[0], log.marks[2], 0.0, 0.0, 0.0
    for c in range(count):
        deepest = max(deepest, -points.gap[c])
        gained += gained_at(scene, c)
        work += work_at(scene, c)
    for row in range(scene.counts[4]):
        if _sleeps(scene, row) == 1:
            deepest = max(deepest, -scene.settled[row, 12])
            gained += scene.settled[row, 20]
    if begins and log.marks[1] == 0:
        log.sums[record] = 0.0
        _write_reached(scene, log)
        at = 0
        while at < count:
            end = end_of_pair(points, at, count)
            log.marks[2] += write_touch(scene, at, end, log.touches[log.marks[2]], record)
            at = end
        for row in range(scene.counts[4]):  # bodies that sleep on are not pushed by any others
            if _sleeps(scene, row) == 1:
                log.touches[log.marks[2]] = scene.settled[row, 0:20]
                log.touches[log.marks[2], 0] = float(record)
                log.marks[2] += 1
        if rules.step < scene.rules.step:
            _stretch(scene, scene.rules.step / rules.step, first, v, log)
    sums = log.sums[record]
    for k in range(2):
        sums[k], sums[9 + k] = max(sums[k], left[k]), max(sums[9 + k], left[2 + k])
    sums[2] = max(sums[2], deepest)
    sums[3] += gained
    sums[4] += work  # none at bodies that sleep
    for k in range(4):
        sums[5 + k] += float(scene.trial.did[k])


@later
def _stretch(scene: Scene, scale: float, first: int, v: Floats[6], log: SceneLog) -> None:
    """Makes what a part of a step pushes and changes that of a whole one."""
    motions, size = scene.bodies.robots.motions, len(scene.bodies.robots.motions.v)
    for row in range(first, log.marks[2]):
        log.touches[row, 3:6] *= scale
    for body in range(len(v)):
        reached = log.reached[log.marks[0] * len(v) + body]
        reached[:] = v[body] + scale * (reached - v[body])
    reached_by_robots = log.robot_reached[log.marks[0] * size : log.marks[0] * size + size]
    reached_by_robots[:] = motions.v + scale * (reached_by_robots - motions.v)


@procedure
def end_of_pair(points: ScenePoints, first: int, count: int) -> int:
    """The end of the points of a pair of solids, which stand next to each other."""
    a, b, end = points.solid[first, 0], points.solid[first, 1], first + 1
    while end < count and points.solid[end, 0] == a and points.solid[end, 1] == b:
        end += 1
    return end


@procedure
def _write_reached(scene: Scene, log: SceneLog) -> None:
    """The velocities after the step of B's origins in the axes of B before it, and those of robots."""
    bodies, start, size = scene.bodies, log.marks[0] * len(scene.bodies.mass), len(scene.bodies.robots.motions.v)
    write_reached(bodies.robots, log.robot_reached[log.marks[0] * size : log.marks[0] * size + size])
    for body in range(len(bodies.mass)):
        turn, twist = bodies.turn[body], bodies.after[body]
        if bodies.still[body] == 0 and scene.islands.label[body] < 0:
            twist = bodies.free[body]
        out = log.reached[start + body]
        out[0:3] = turn.T @ twist[0:3]
        out[3:6] = turn.T @ twist[3:6]
        out[3:6] -= np.cross(out[0:3], bodies.center[body])


@procedure
def _sleeps(scene: Scene, row: int) -> int:
    """Whether the bodies of a settled row have not been woken in this step."""
    return scene.bodies.still[scene.placed.body[int(scene.settled[row, 1])]]


@procedure
def gained_at(scene: Scene, c: int) -> float:
    """The work of the impulse of a point, and what its spring takes up [J]: above zero where contact adds energy.

    Velocities are those of the surfaces, so that the work that a belt's motor does is not a gain. Of springs, those from which
    they act.
    """
    points, springs = scene.points, 0.0
    if points.softness[c] > 0.0:
        more = points.begun[c] - points.before[c, 0]
        springs = stored(scene.rules, scene.placed, points, c) + 0.5 * points.impulse[c, 0] * more
    return work_at(scene, c) + points.impulse[c] @ points.drift[c] + springs


@procedure
def work_at(scene: Scene, c: int) -> float:
    """The work that the impulse of a point does on bodies, at the mean of their velocities before and after the step [J]."""
    points, turns = scene.points, scene.points.turns
    total = points.impulse[c] @ (0.5 * (points.before[c] + points.speed[c]) - points.drift[c])
    if c < len(turns.length):
        total += 0.5 * turns.impulse[c] @ (turns.before[c] + turns.speed[c])
    return total


@procedure
def write_touch(scene: Scene, first: int, end: int, row: Shaped[20], record: int) -> int:
    """A row for the points of a pair of solids, if they carry any impulse; returns how many rows that are."""
    points, total = scene.points, 0.0
    for c in range(first, end):
        total += points.impulse[c, 0]
    if total <= 0.0:
        return 0
    least = points.gap[first]
    row[:] = 0.0
    row[0], row[1], row[2] = float(record), float(points.solid[first, 0]), float(points.solid[first, 1])
    for c in range(first, end):
        frame, part, least = points.frame[c], points.impulse[c, 0] / total, min(least, points.gap[c])
        row[16] = max(row[16], points.friction[c])
        row[3:6] += (points.impulse[c] @ frame) / scene.rules.step
        row[6:9] += part * points.place[c]
        row[9:12] += part * frame[0]
        for k in range(3):
            row[13:16] += part * points.speed[c, k] / (frame[k] @ frame[k]) * frame[k]
        if c < len(points.turns.length):
            row[17:20] += points.turns.length[c] / scene.rules.step * (points.turns.impulse[c] @ frame)
    row[12] = least
    return 1
