"""Steps of a scene: near pairs, points, islands, impulses, motion (Moreau 1988)."""

from __future__ import annotations

import math

from ...dynamics.settling import PASSES
from ...procedure import Floats, Shaped, local, procedure
from .. import tuned
from ..impulse.step import RESTING
from .arrays import Island, MovingBodies, Rules, Scene, SceneLog
from .broad_phase import near_pairs, place_solids
from .islands import choose, group, has_woken, wake
from .logs import log_record, log_step, work_at
from .motion import drive, flown, moved, read_state
from .narrow_phase import find_points, recall, remember
from .overlaps import find_overlaps, leave_out, shrink
from .points import aim, measure
from .robots import are_finite, begin_settling, let_go, move_robots, settle
from .sleep import count_quiet, is_asleep, lie_down, sleep_on, wake_touched
from .solvers.solve import solve
from .springs import MOST, longest_part, place, press, ready, scale_impulses, shift_gaps

#: How an advance ended: all records are made; the log is full; there is not enough room for pairs, points or couplings, or a
#: routine is not compiled (`Scene.counts` says for how many, and which); contact has no usable solution, or the state has run
#: away; springs are too stiff.
DONE, FULL, ROOM, UNSOLVED, STIFF = 0, 1, 2, 3, 4


@procedure
def advance_scene(scene: Scene, q: Floats[7], v: Floats[6], work: Floats, records: int, every: int, log: SceneLog) -> int:
    """Advances a state by records · every steps from where `log.marks` says; returns how that ended.

    A step that lacks room, or that the log has no room for, has changed nothing and is made again by the next call; one with
    springs is finished by it.
    """
    left = scene.springs.clock
    while log.marks[0] < records:
        ended = _step(scene, q, v, work, log)
        if ended != DONE:
            return ended
        if len(left) == 0 or left[0] <= 0.0:
            scene.efforts.number[0] += 1.0
            log.marks[1] += 1
            if log.marks[1] == every:
                log_record(scene, q, v, work, log)
                log.marks[0] += 1
                log.marks[1] = 0
    return DONE


@procedure
def _step(scene: Scene, q: Floats[7], v: Floats[6], work: Floats, log: SceneLog) -> int:
    """One step, or as much of it as springs allow; drives and stops of robots may need some passes through its contact.

    Its order is that of every step: docs/architecture.md.
    """
    rules, bodies, points, springs = scene.rules, scene.bodies, scene.points, scene.springs
    left, done, count, soft, begins, ahead = local(4), local(1), 0, len(springs.law) > 0, True, rules.step
    if are_finite(bodies.robots) == 0 or (soft and _runs_away(v)):
        return UNSOLVED
    if soft:
        begins = springs.clock[0] <= 0.0
        ahead = rules.step if begins else springs.clock[0]
    scene.trial.did[:] = 0
    if rules.patience > 0:
        lie_down(scene)
    if begins:
        drive(scene, q, v)
    read(rules, scene, q, v)
    for again in range(PASSES + 1):
        let_go(rules, bodies)
        sleep_on(bodies)
        if again == 0 or not soft:
            count = touch(scene)
            if count < 0:
                return ROOM
            if begins and log.marks[1] == 0 and log.marks[2] + scene.counts[1] + scene.counts[4] > len(log.touches):
                return FULL
        if soft and again == 0:
            place(scene, count)
            longest = longest_part(scene, ahead, count)
            springs.clock[1] = longest
            if longest * MOST < rules.step:
                return STIFF
            if longest < ahead or ahead < rules.step:
                parts = math.ceil(ahead / longest) if longest < ahead else 1
                rules = Rules(ahead / parts, rules.gravity, rules.fall, rules.patience, rules.flies, rules.follows)
                read(rules, scene, q, v)
                let_go(rules, bodies)
            scale_impulses(points, count, rules.step)
        if push(rules, scene, count, left) == ROOM:
            return ROOM
        if settle(rules, bodies, points, count, done) == 0:
            break
    if soft:
        shift_gaps(points, count, -1.0)
    log_step(rules, scene, count, begins, v, left, log)
    if left[1] > tuned.STOPPED:
        return UNSOLVED
    move(rules, scene, count, q, v, work)
    work[0] += done[0]
    shrink(scene.overlaps, rules.step)
    if soft:
        scale_impulses(points, count, 1.0 / rules.step)
        springs.clock[0] = ahead - rules.step if ahead > 1.5 * rules.step else 0.0
    scene.counts[0] = remember(bodies, scene.placed, points, count, scene.memory, scene.former, scene.counts[0])
    return DONE


@procedure
def read(rules: Rules, scene: Scene, q: Floats[7], v: Floats[6]) -> None:
    """The positions and velocities before a step, with drives of robots as they act without limits."""
    read_state(rules, scene.bodies, scene.pulls, q, v)
    begin_settling(rules, scene.bodies)


@procedure
def _runs_away(v: Floats[6]) -> bool:
    total = 0.0
    for body in range(len(v)):
        for k in range(6):
            total += abs(v[body, k])
    return not total < math.inf


@procedure
def push(rules: Rules, scene: Scene, count: int, left: Shaped[4]) -> int:
    """Solves all islands; `left`: the worst residual [m/s], as a part of the speeds, in small piles, in large ones."""
    islands, soft = scene.islands, len(scene.springs.law) > 0
    left[:] = 0.0
    if soft:
        ready(scene.bodies, scene.points, scene.springs, count)
    choose(rules, scene, count)
    turn, woken, missed = 0, 1, 0.0
    while woken > 0:
        left[2:4] = 0.0
        for island in range(group(scene.bodies.robots, count, scene.points, islands)):
            found = Island(
                islands.bodies[islands.first_body[island] : islands.first_body[island + 1]],
                islands.points[islands.first_point[island] : islands.first_point[island + 1]],
                scene.bodies, scene.points, scene.factors, scene.trial,
            )  # fmt: skip
            pile = islands.pile[found.members[0]]
            size = 2 if pile <= tuned.SMALL else 3
            if soft:
                left[size] = max(left[size], press(rules, found, scene.springs))
            elif is_asleep(scene.rules, found):
                for body in found.members:
                    scene.bodies.still[body] = 1
                    scene.bodies.after[body] = 0.0
                for c in found.listed:
                    scene.points.speed[c] = scene.points.drift[c]
            elif turn > 0 and not has_woken(found):
                left[size] = max(left[size], islands.left[found.members[0]])
            else:
                needed, worst, allowed, fastest = solve(scene.rules, found, scene.placed.surfaces, pile, min(turn, 1))
                if needed > len(scene.factors.later):
                    scene.counts[3] = needed
                    return ROOM
                for body in found.members:
                    islands.allowed[body] = allowed
                    islands.left[body] = worst
                left[size] = max(left[size], worst)
                left[1] = max(left[1], worst / (fastest + RESTING))
        woken, missed = wake(scene, count)
        turn += 1
        scene.trial.did[3] += min(woken, 1)
    left[3] = max(left[3], missed)
    left[0] = max(left[2], left[3])
    return DONE


@procedure
def touch(scene: Scene) -> int:
    """The points of contact, with the impulses of the last step; −1 if there is not enough room, or a routine is missing.

    Points between bodies that sleep on are left out; a point with a body that is awake wakes their island.
    """
    count = _find_awake(scene)
    while count > 0 and wake_touched(scene.bodies, scene.points, count) == 1:
        count = _find_awake(scene)
    scene.counts[5] = count
    if count >= 0:
        recall(scene.points, count, scene.memory, scene.counts[0])
    return count


@procedure
def _find_awake(scene: Scene) -> int:
    """The points of solids that do not both rest, without impulses."""
    rules, bodies, points = scene.rules, scene.bodies, scene.points
    if scene.counts[0] == 0 and len(scene.springs.law) == 0:
        _own_ways(scene)
        if _near(scene) == 0:
            return 0
    margin = tuned.REACH * rules.step * _fastest(scene)
    scene.placed.margin[:] = 0.5 * margin
    pairs = _near(scene)
    if pairs > len(scene.pairs):
        return -1
    known = scene.counts[0]
    count = find_points(
        scene.solids, scene.placed, scene.pairs, pairs, margin, scene.memory, known, scene.found, points, scene.axes
    )
    if count < 0:
        scene.counts[6] = count
        return -1
    scene.counts[2] = count + (known if scene.counts[4] > 0 else 0)
    if scene.counts[2] > len(points.gap):
        return -1
    count = measure(rules, bodies, scene.placed, scene.found, points, count)
    find_overlaps(scene.placed, scene.springs, points, scene.overlaps, count)
    leave_out(points, scene.overlaps, count)
    aim(rules, bodies, scene.placed, points, count)
    return count


@procedure
def _near(scene: Scene) -> int:
    """The number of pairs of solids that are near each other."""
    place_solids(scene.bodies, scene.placed)
    scene.counts[1] = near_pairs(scene.placed, scene.allowed, scene.pairs, scene.starts, scene.space)
    return scene.counts[1]


@procedure
def _own_ways(scene: Scene) -> None:
    """Margins: the ways of solids in the step beside the mean way of all bodies; outside them nothing needs contact."""
    bodies, placed, mean = scene.bodies, scene.placed, local(3)
    for body in range(len(placed.span)):
        mean += bodies.free[body, 3:6]
    mean *= 1.0 / float(max(len(placed.span), 1))
    for s in range(len(placed.body)):
        body = placed.body[s]
        speed = math.sqrt(mean @ mean) if body < 0 else _speed(bodies, body, placed.span[body], mean)
        placed.margin[s] = scene.rules.step * speed


@procedure
def _fastest(scene: Scene) -> float:
    """A bound of the speed of any point of a solid [m/s]."""
    bodies, span, most, world = scene.bodies, scene.placed.span, scene.rules.fall, local(3)
    for body in range(len(span)):
        if span[body] >= 0.0 and bodies.still[body] == 0:
            most = max(most, _speed(bodies, body, span[body], world))
    return most


@procedure
def _speed(bodies: MovingBodies, body: int, span: float, beside: Shaped[3]) -> float:
    """A bound of the speed of a body's points beside a velocity, before the step or after it without contact [m/s]."""
    most = 0.0
    for state in range(2):
        twist = bodies.before[body] if state == 0 else bodies.free[body]
        along = twist[3:6] - beside
        most = max(most, math.sqrt(along @ along) + span * math.sqrt(twist[0:3] @ twist[0:3]))
    return most


@procedure
def move(rules: Rules, scene: Scene, count: int, q: Floats[7], v: Floats[6], work: Floats) -> None:
    """Moves all bodies: those that were pushed with the velocities after it, but smoothly if springs alone did that the step
    resolves; those that were not in free flight; and robots.
    """
    bodies, points, label = scene.bodies, scene.points, scene.islands.label
    label[:] = 0
    for c in range(count):
        if points.impulse[c, 0] != 0.0:
            by = 2 if points.resolved[c] > 0.5 else 1
            for side in range(2):
                body = points.body[c, side]
                if body >= 0 and label[body] != 1:
                    label[body] = by
        work[0] += work_at(scene, c)
    for body in range(len(bodies.mass)):
        pushed = label[body]
        if bodies.robots.link[body] >= 0:
            continue
        if bodies.still[body] == 1 and bodies.bed[body] > 0:
            bodies.quiet[body] += 1
            v[body] = 0.0
            continue
        if pushed == 0:
            bodies.after[body] = bodies.free[body]
        work[0] += 0.5 * rules.step * bodies.push[body] @ (bodies.before[body] + bodies.after[body])
        count_quiet(bodies, body, min(pushed, 1))
        if bodies.still[body] == 1:
            v[body] = 0.0
        elif pushed == 0 and rules.flies == 1:
            flown(rules, bodies, body, q[body], v[body])
        else:
            moved(rules, bodies, body, pushed == 2, q[body], v[body])
    move_robots(rules, bodies, work)
