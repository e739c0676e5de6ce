"""Steps of a scene with springs: near pairs, points, impulses, motion, in parts that are short enough for the springs."""

from __future__ import annotations

import math

from ....dynamics.settling.settled import PASSES
from ....procedure import Floats, Shaped, apply_at, local, procedure
from ..arrays import Island, Rules, ScenePoints
from ..driving import drive
from ..islands import group
from ..logs import gained_at, log_record, log_robots, log_touches, work_at
from ..motion import flown, moved, read_state
from ..narrow_phase import remember
from ..overlaps import clear, keep_thrown, leave_out, note_overlap, shrink
from ..robots import are_finite, begin_settling, let_go, move_robots, settle
from ..scene import Scene, SceneLog
from ..step import DONE, FULL, ROOM, UNSOLVED, find
from .law import Springs
from .sweeps import place, press, ready, scale_impulses

#: How an advance ended, beside those of `contact.scenes.step`: springs are too stiff for steps of this length.
STIFF = 4
#: The largest number of parts of a step.
MOST = 10_000
#: A part lasts 1 / (FINE ω) at most; with more than 2 / ω the semi-implicit Euler method would not be stable.
FINE = 4.0


@procedure
def advance_springs(
    scene: Scene, springs: Springs, q: Floats[7], v: Floats[6], work: Floats, records: int, every: int, log: SceneLog
) -> int:  # fmt: skip
    """As `contact.scenes.step.advance_scene`; a step that lacks room is finished by the next call."""
    while log.marks[0] < records:
        if springs.clock[0] <= 0.0:
            springs.clock[0] = scene.rules.step
            drive(scene, q, v)
        while springs.clock[0] > 0.0:
            ended = _part(scene, springs, q, v, work, log)
            if ended != DONE:
                if ended != ROOM:
                    springs.clock[0] = 0.0
                return ended
        scene.efforts.number[0] += 1.0
        log.marks[1] += 1
        if log.marks[1] == every:
            log_record(scene, q, v, work, log)
            log.marks[0] += 1
            log.marks[1] = 0
    return DONE


@procedure
def _part(scene: Scene, springs: Springs, q: Floats[7], v: Floats[6], work: Floats, log: SceneLog) -> int:
    """A part of a step, of those that the time left is divided into."""
    left, begins, own, bodies = springs.clock[0], springs.clock[0] == scene.rules.step, scene.rules, scene.bodies
    if are_finite(bodies.robots) == 0 or _runs_away(v):
        return UNSOLVED
    read_state(own, bodies, scene.pulls, q, v)
    begin_settling(own, bodies)
    let_go(own, bodies)
    count = find(scene)
    if count < 0:
        return ROOM
    if begins and log.marks[1] == 0 and log.marks[2] + scene.counts[1] > len(log.touches):
        return FULL
    place(scene, count)
    _find_overlaps(scene.points, springs, count)
    leave_out(scene.points, springs.overlaps, count)
    _shift(scene.points, count, 1.0)
    longest = _longest_part(scene, springs, left, count)
    springs.clock[1] = longest
    if longest * MOST < own.step:
        return STIFF
    parts = math.ceil(left / longest) if longest < left else 1
    rules, done = Rules(left / parts, own.gravity, own.fall, own.patience, own.flies), local(1)
    if rules.step < own.step:
        read_state(rules, bodies, scene.pulls, q, v)
        begin_settling(rules, bodies)
        let_go(rules, bodies)
    worst = _push(rules, scene, springs, count, done)
    _shift(scene.points, count, -1.0)
    shrink(springs.overlaps, rules.step)
    _log(scene, rules, count, worst, begins, v, log)
    _go(rules, scene, count, q, v, work)
    move_robots(rules, bodies, work)
    work[0] += done[0]
    scale_impulses(scene.points, count, 1.0 / rules.step)
    scene.counts[0] = remember(bodies, scene.placed, scene.points, count, scene.memory, scene.counts[0])
    springs.clock[0] = left - rules.step if parts > 1 else 0.0
    return DONE


@procedure
def _find_overlaps(points: ScenePoints, springs: Springs, count: int) -> None:
    """Before the first step: the depths of all pairs, if their springs hold enough energy to throw bodies up."""
    if springs.overlaps.marks[0] == 1:
        clear(springs.overlaps)
        stiffness, energy = local(1), local(1)
        for c in range(count):
            if points.gap[c] < 0.0:
                apply_at(springs.law[1], (points.gap[c],), (stiffness, energy))
                note_overlap(points, springs.overlaps, c, energy[0])
        keep_thrown(springs.overlaps)


@procedure
def _shift(points: ScenePoints, count: int, sign: float) -> None:
    """Adds what is left out to the gaps of points, or takes it back."""
    for c in range(count):
        points.gap[c] += sign * points.left_out[c]


@procedure
def _push(rules: Rules, scene: Scene, springs: Springs, count: int, done: Shaped[1]) -> float:
    """The impulses of a part; drives and stops of robots may need some passes. Returns the largest change that is left [m/s].

    `done`: the work of drives and stops [J].
    """
    bodies, points, islands, worst = scene.bodies, scene.points, scene.islands, 0.0
    scale_impulses(points, count, rules.step)
    for again in range(PASSES + 1):
        if again > 0:
            let_go(rules, bodies)
        ready(bodies, points, springs, count)
        worst = 0.0
        for island in range(group(bodies.robots, count, points, islands)):
            of_island = Island(
                islands.bodies[islands.first_body[island] : islands.first_body[island + 1]],
                islands.points[islands.first_point[island] : islands.first_point[island + 1]],
                bodies, points, scene.factors, scene.trial,
            )  # fmt: skip
            worst = max(worst, press(rules, of_island, springs))
        if settle(rules, bodies, points, count, done) == 0:
            break
    return worst


@procedure
def _runs_away(v: Floats[6]) -> bool:
    total = 0.0
    for body in range(len(v)):
        for k in range(6):
            total += abs(v[body, k])
    return not total < math.inf


@procedure
def _longest_part(scene: Scene, springs: Springs, left: float, count: int) -> float:
    """The longest part of a step, by the steepest springs on any body [s]; also those that a point may reach in the time left.

    The sum over a body's points of velocities per unit impulse times K is a bound of ω².
    """
    points, stiffness, energy, most = scene.points, local(1), local(1), 0.0
    for body in range(len(springs.steep)):
        springs.steep[body] = 0.0
    for c in range(count):
        deepest = points.gap[c] + left * min(points.before[c, 0], points.free[c, 0], 0.0)
        apply_at(springs.law[1], (deepest,), (stiffness, energy))
        for side in range(2):
            body = points.body[c, side]
            if body >= 0:
                springs.steep[body] += points.size[c] * stiffness[0]
                most = max(most, springs.steep[body])
    return 1.0 / (FINE * math.sqrt(most)) if most > 0.0 else math.inf


@procedure
def _log(scene: Scene, rules: Rules, count: int, worst: float, begins: bool, v: Floats[6], log: SceneLog) -> None:
    """Adds a part to the sums of its record, and writes who pushed whom if the record begins with it.

    Forces and velocities of a record become those of a whole step at the rate of its first part.
    """
    if not begins:
        sums = log.sums[log.marks[0]]
        sums[0] = max(sums[0], worst)
        for c in range(count):
            sums[2] = max(sums[2], -scene.points.gap[c])
            sums[3] += gained_at(scene, c)
            sums[4] += work_at(scene, c)
        return
    first, scale, motions = log.marks[2], scene.rules.step / rules.step, scene.bodies.robots.motions
    log_touches(scene, count, v, worst, 0.0, log)
    log_robots(scene, log)
    if log.marks[1] > 0 or scale == 1.0:
        return
    for row in range(first, log.marks[2]):
        for k in range(3):
            log.touches[row, 3 + k] *= scale
    for body in range(len(v)):
        reached = log.reached[log.marks[0] * len(v) + body]
        for k in range(6):
            reached[k] = v[body, k] + scale * (reached[k] - v[body, k])
    for k in range(len(motions.v)):
        at = log.marks[0] * len(motions.v) + k
        log.robot_reached[at] = motions.v[k] + scale * (log.robot_reached[at] - motions.v[k])


@procedure
def _go(rules: Rules, scene: Scene, count: int, q: Floats[7], v: Floats[6], work: Floats) -> None:
    """Moves free bodies: those that were pushed with the velocities after it, those that were not in free flight."""
    bodies, points, label = scene.bodies, scene.points, scene.islands.label
    for body in range(len(label)):
        if label[body] < 0 and bodies.robots.link[body] < 0:
            for k in range(6):
                bodies.after[body, k] = bodies.free[body, k]
        label[body] = 0
    for c in range(count):
        if points.impulse[c, 0] != 0.0:
            label[points.body[c, 0]] = 1
            if points.body[c, 1] >= 0:
                label[points.body[c, 1]] = 1
        work[0] += work_at(scene, c)
    for body in range(len(label)):
        if bodies.robots.link[body] >= 0:
            continue
        for k in range(6):
            work[0] += 0.5 * rules.step * bodies.push[body, k] * (bodies.before[body, k] + bodies.after[body, k])
        if label[body] == 0 and rules.flies == 1:
            flown(rules, bodies, body, q[body], v[body])
        else:
            moved(rules, bodies, body, q[body], v[body])
