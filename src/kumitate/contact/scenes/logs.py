"""What is written down of a step and of a state."""

from __future__ import annotations

from ...procedure import Floats, Shaped, procedure
from .points import stored
from .robots import write_reached
from .scene import Scene, SceneLog


@procedure
def log_record(scene: Scene, q: Floats[7], v: Floats[6], work: Floats, log: SceneLog) -> None:
    """Writes the state after a record."""
    bodies, record = len(scene.bodies.mass), log.marks[0]
    log.work[record] = work[0]
    for body in range(bodies):
        for k in range(7):
            log.q[record * bodies + body, k] = q[body, k]
        for k in range(6):
            log.v[record * bodies + body, k] = v[body, k]
    own = scene.bodies.robots.motions
    for k in range(len(own.q)):
        log.robot_q[record * len(own.q) + k] = own.q[k]
    for k in range(len(own.v)):
        log.robot_v[record * len(own.v) + k] = own.v[k]


@procedure
def log_robots(scene: Scene, log: SceneLog) -> None:
    """Writes what robots have reached in a step that a record begins with."""
    if log.marks[1] == 0:
        size = len(scene.bodies.robots.motions.v)
        write_reached(scene.bodies.robots, log.robot_reached[log.marks[0] * size : log.marks[0] * size + size])


@procedure
def log_touches(scene: Scene, count: int, v: Floats[6], worst: float, part: float, log: SceneLog) -> None:
    """Adds the contact of a step to the sums of its record; if the record begins with it, writes who pushed whom."""
    points, record = scene.points, log.marks[0]
    deepest, gained, work = 0.0, 0.0, 0.0
    for c in range(count):
        deepest = max(deepest, -points.gap[c])
        gained += gained_at(scene, c)
        work += work_at(scene, c)
    for row in range(scene.counts[4]):
        if _sleeps(scene, row) == 1:
            deepest = max(deepest, -scene.settled[row, 12])
            gained += scene.settled[row, 20]
    if log.marks[1] == 0:
        for k in range(5):
            log.sums[record, k] = 0.0
        _write_reached(scene, count, log)
        first = 0
        while first < count:
            end = first + 1
            while (
                end < count
                and points.solid[end, 0] == points.solid[first, 0]
                and points.solid[end, 1] == points.solid[first, 1]
            ):
                end += 1
            log.marks[2] += write_touch(scene, first, end, log.touches[log.marks[2]], record)
            first = end
        _write_settled(scene, log)
    log.sums[record, 0] = max(log.sums[record, 0], worst)
    log.sums[record, 1] = max(log.sums[record, 1], part)
    log.sums[record, 2] = max(log.sums[record, 2], deepest)
    log.sums[record, 3] += gained
    log.sums[record, 4] += work  # none at bodies that sleep


@procedure
def _write_reached(scene: Scene, count: int, log: SceneLog) -> None:
    """The velocities after the step of B's origins in the axes of B before it."""
    bodies, start = scene.bodies, log.marks[0] * len(scene.bodies.mass)
    for body in range(len(bodies.mass)):
        turn, center, twist = bodies.turn[body], bodies.center[body], bodies.after[body]
        if bodies.still[body] == 0 and scene.islands.label[body] < 0:
            twist = bodies.free[body]
        out = log.reached[start + body]
        for i in range(3):
            out[i] = turn[0, i] * twist[0] + turn[1, i] * twist[1] + turn[2, i] * twist[2]
            out[3 + i] = turn[0, i] * twist[3] + turn[1, i] * twist[4] + turn[2, i] * twist[5]
        out[3] -= out[1] * center[2] - out[2] * center[1]
        out[4] -= out[2] * center[0] - out[0] * center[2]
        out[5] -= out[0] * center[1] - out[1] * center[0]


@procedure
def _write_settled(scene: Scene, log: SceneLog) -> None:
    """The rows of bodies that sleep on, which are not pushed by any others."""
    for at in range(scene.counts[4]):
        if _sleeps(scene, at) == 1:
            row = log.touches[log.marks[2]]
            for k in range(20):
                row[k] = scene.settled[at, k]
            row[0] = float(log.marks[0])
            log.marks[2] += 1


@procedure
def _sleeps(scene: Scene, row: int) -> int:
    """Whether the bodies of a settled row have not been woken in this step."""
    return scene.bodies.still[scene.placed.body[int(scene.settled[row, 1])]]


@procedure
def gained_at(scene: Scene, c: int) -> float:
    """The work of the impulse of a point, and what its spring takes up [J]: above zero where contact adds energy.

    Velocities are those of the surfaces, so that the work that a belt's motor does is not a gain.
    """
    points, total = scene.points, 0.0
    for k in range(3):
        total += 0.5 * points.impulse[c, k] * (points.before[c, k] + points.speed[c, k])
    total += stored(scene.rules, scene.placed, points, c)
    if c < len(points.turns.length):
        for k in range(3):
            total += 0.5 * points.turns.impulse[c, k] * (points.turns.before[c, k] + points.turns.speed[c, k])
    return total


@procedure
def work_at(scene: Scene, c: int) -> float:
    """The work that the impulse of a point does on bodies, at the mean of their velocities before and after the step [J]."""
    points, total = scene.points, 0.0
    for k in range(3):
        total += points.impulse[c, k] * (0.5 * (points.before[c, k] + points.speed[c, k]) - points.drift[c, k])
    if c < len(points.turns.length):
        for k in range(3):
            total += 0.5 * points.turns.impulse[c, k] * (points.turns.before[c, k] + points.turns.speed[c, k])
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
    for k in range(20):
        row[k] = 0.0
    row[0] = float(record)
    row[1] = float(points.solid[first, 0])
    row[2] = float(points.solid[first, 1])
    for c in range(first, end):
        frame, impulse, speed, part = points.frame[c], points.impulse[c], points.speed[c], points.impulse[c, 0] / total
        least = min(least, points.gap[c])
        row[16] = max(row[16], points.friction[c])
        for k in range(3):
            force = frame[0, k] * impulse[0] + frame[1, k] * impulse[1] + frame[2, k] * impulse[2]
            row[3 + k] += force / scene.rules.step
            row[6 + k] += part * points.place[c, k]
            row[9 + k] += part * frame[0, k]
            row[13 + k] += part * (frame[0, k] * speed[0] + frame[1, k] * speed[1] + frame[2, k] * speed[2])
        if c < len(points.turns.length):
            moment, share = points.turns.impulse[c], points.turns.length[c] / scene.rules.step
            for k in range(3):
                row[17 + k] += share * (frame[0, k] * moment[0] + frame[1, k] * moment[1] + frame[2, k] * moment[2])
    row[12] = least
    return 1
