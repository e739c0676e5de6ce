"""Completes the points of a step: what is measured at them, and the velocities that they must reach.

The laws are those of `contact.impulse`: a gap is closed exactly, overlap is pushed out at a bounded speed, impacts rebound.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...procedure import Floats, Shaped, apply, at, local, over, procedure
from ...procedure.called import later
from ...scalar import maximum, trace
from ...spatial import Matrix3, Symmetric3, Vector3
from .. import tuned
from ..impulse.compliance import COMPLIANT, STORED
from ..impulse.frames import LEAST, SMALLEST
from ..laws import AIMED, tangents
from ..pairs.rows.solids import Points
from ..parting import SHRINKS
from ..surface import NUMBERS, VariedSurface
from .arrays import MovingBodies, Placed, Rules, ScenePoints
from .robots import yielded
from .turns import prepare_turn

#: The numbers of a row of `MovingBodies.seen`.
SEEN = 24


class _Body:
    """A body as a point sees it, from a row of `MovingBodies.seen`."""

    def __init__(self, row: Any):
        numbers = [row[k] for k in range(SEEN)]
        parts = [Vector3.of(numbers[k : k + 3]) for k in range(0, 15, 3)]
        self.place, (self._turn, self._move), (self._free_turn, self._free_move) = parts[0], parts[1:3], parts[3:5]
        self._mobility, self._each, self.fixed = Symmetric3(*numbers[15:21]), numbers[21], numbers[22]

    def before(self, lever: Vector3) -> Vector3:
        """The velocity at a lever before the step."""
        return self._move + self._turn.cross(lever)

    def free(self, lever: Vector3) -> Vector3:
        """The same after it without contact."""
        return self._free_move + self._free_turn.cross(lever)

    def yields(self, lever: Vector3, axis: Vector3) -> Any:
        """The velocity at a lever along an axis per unit impulse along it: 1/m + wᵀ I⁻¹ w, w = lever × axis."""
        moment = lever.cross(axis)
        return self._each + moment.dot(self._mobility @ moment)


def measured(position: Any, gap: Any, normal: Any, one: Any, other: Any, surface: Any) -> dict[str, Any]:
    """Place, axes, levers, velocities and effective mass of a point of the bodies A and B, for `ScenePoints`.

    Args:
        position, gap, normal: of the point as it was found, midway between both surfaces; the normal is from A to B.
        one, other: the rows of A and B in `MovingBodies.seen`; surface: what holds between them.
    """
    a, b, n = _Body(one), _Body(other), -Vector3.of(normal)
    # on the world's surface, not midway: else points of a sole at different heights could not all stick as it tilts
    place = Vector3.of(position) - (0.5 * gap * b.fixed) * n
    frame = Matrix3((n, *tangents(n, VariedSurface(*(surface[k] for k in range(len(NUMBERS)))))))
    lever_a, lever_b = place - a.place, place - b.place
    along = [a.yields(lever_a, axis) + b.yields(lever_b, axis) for axis in frame]
    size = maximum(maximum(along[0], along[1]), maximum(along[2], SMALLEST))
    return {
        "place": list(place), "frame": [list(axis) for axis in frame], "lever_a": list(lever_a), "lever_b": list(lever_b),
        "before": list(frame @ (a.before(lever_a) - b.before(lever_b))),
        "free": list(frame @ (a.free(lever_a) - b.free(lever_b))), "size": size, "mass": 1.0 / size,
    }  # fmt: skip


MEASURED = trace(
    measured, {"position": 3, "gap": (), "normal": 3, "one": SEEN, "other": SEEN, "surface": len(NUMBERS)}, "point_measured"
)


@procedure
def measure(rules: Rules, bodies: MovingBodies, placed: Placed, found: Points, points: ScenePoints, count: int) -> int:
    """Measures points of which solids, gap and feature are known, and keeps those that may touch soon; returns how many."""
    _see(bodies)
    for c in range(count):
        a, b = placed.body[points.solid[c, 0]], placed.body[points.solid[c, 1]]
        points.body[c, 0], points.body[c, 1] = a, b
        points.row_a[c], points.row_b[c] = a, b if b >= 0 else len(bodies.mass)
        one, other = placed.material[points.solid[c, 0]], placed.material[points.solid[c, 1]]
        points.material[c] = one * placed.materials + other
    over(
        MEASURED, count, found.positions, found.gaps, found.normals, at(bodies.seen, points.row_a),
        at(bodies.seen, points.row_b), at(placed.surfaces, points.material), points.place, points.frame, points.lever_a,
        points.lever_b, points.before, points.free, points.size, points.mass,
    )  # fmt: skip
    fastest, kept = rules.fall, 0
    for c in range(count):
        if points.gap[c] < 1.0:
            fastest = max(fastest, abs(points.before[c, 0]), abs(points.free[c, 0]))
    for c in range(count):
        if points.gap[c] < tuned.REACH * rules.step * fastest:
            if kept < c:
                _move(points, c, kept)
            kept += 1
    for c in range(kept):
        a, b = points.body[c, 0], points.body[c, 1]
        if bodies.robots.link[a] >= 0 or (b >= 0 and bodies.robots.link[b] >= 0):
            sizes = local(3)
            yields(bodies, points, c, sizes)
            points.size[c] = max(sizes[0], sizes[1], sizes[2], SMALLEST)
            points.mass[c] = 1.0 / points.size[c]
        if placed.surfaces[points.material[c], 6] > 0.0 and b < 0 and placed.cornered[points.solid[c, 0]] == 1:
            _half_a_turn(rules, bodies, points, c)
        if placed.belts == 1:
            _drift(bodies, placed, points, c)
        if placed.surfaces[points.material[c], 6] > 0.0:
            points.begun[c] = _begun(rules, bodies, points, c)
    return kept


@procedure
def aim(rules: Rules, bodies: MovingBodies, placed: Placed, points: ScenePoints, count: int) -> None:
    """The targets of measured points, the friction that applies, and the modes that the points are guessed to be in."""
    for c in range(count):
        surface = placed.surfaces[points.material[c]]
        apply(AIMED, at(points, c), surface, rules.step, 2.0 * rules.fall)
        points.softness[c], points.resolved[c] = 0.0, 0.0
        if surface[6] > 0.0:
            _comply(rules, bodies, placed, points, count, c)
        if len(points.turns.length) > 0:
            prepare_turn(bodies, placed, points, c)


@procedure
def _see(bodies: MovingBodies) -> None:
    """Fills `MovingBodies.seen`, but for the world's row, which stays as it was made."""
    for body in range(len(bodies.mass)):
        row, mobility = bodies.seen[body], bodies.mobility[body]
        row[0:3] = bodies.place[body]
        row[3:9] = bodies.before[body]
        row[9:15] = bodies.free[body]
        row[15], row[16], row[17] = mobility[0, 0], mobility[1, 1], mobility[2, 2]
        row[18], row[19], row[20] = mobility[0, 1], mobility[0, 2], mobility[1, 2]
        row[21] = 1.0 / bodies.mass[body] if bodies.mass[body] > 0.0 else 0.0


@procedure
def _move(points: ScenePoints, c: int, to: int) -> None:
    """Copies what is found and measured of a point to another place of the list."""
    points.solid[to] = points.solid[c]
    points.body[to] = points.body[c]
    points.feature[to] = points.feature[c]
    points.material[to] = points.material[c]
    points.gap[to] = points.gap[c]
    points.place[to] = points.place[c]
    points.frame[to] = points.frame[c]
    points.lever_a[to] = points.lever_a[c]
    points.lever_b[to] = points.lever_b[c]
    points.before[to] = points.before[c]
    points.free[to] = points.free[c]
    points.size[to] = points.size[c]
    points.mass[to] = points.mass[c]


@later
def _drift(bodies: MovingBodies, placed: Placed, points: ScenePoints, c: int) -> None:
    """The velocities of belts along the tangents, of A's less that of B's; adds them to those of the point."""
    points.drift[c] = 0.0
    for side in range(2):
        belt, body, moved = placed.belt[points.solid[c, side]], points.body[c, side], local(3)
        if belt[0] != 0.0 or belt[1] != 0.0 or belt[2] != 0.0:
            moved[:] = belt
            if body >= 0:
                moved[:] = bodies.turn[body] @ belt
            for k in range(1, 3):
                total = points.frame[c, k] @ moved
                points.drift[c, k] += total if side == 0 else -total
    points.before[c] += points.drift[c]
    points.free[c] += points.drift[c]


@procedure
def relative(points: ScenePoints, c: int, twists: Floats[6], a: int, b: int, u: Shaped[3]) -> None:
    """The velocity of A's surface relative to B's along the frame's axes, of the twists in the rows a and b.

    B does not move if b is negative.
    """
    speed = twists[a, 3:6] + np.cross(twists[a, 0:3], points.lever_a[c])
    if b >= 0:
        speed -= twists[b, 3:6] + np.cross(twists[b, 0:3], points.lever_b[c])
    u[:] = points.frame[c] @ speed


@procedure
def yields(bodies: MovingBodies, points: ScenePoints, c: int, sizes: Shaped[3]) -> None:
    """The velocities of a point along its axes per unit impulse along them [1/kg]."""
    on_a, on_b = local(6), local(6)
    for k in range(3):
        _unit_wrench(points.frame[c, k], points.lever_a[c], on_a)
        _unit_wrench(points.frame[c, k], points.lever_b[c], on_b)
        sizes[k] = yielded(bodies, points.body[c, 0], on_a, on_a) + yielded(bodies, points.body[c, 1], on_b, on_b)


@later
def _half_a_turn(rules: Rules, bodies: MovingBodies, points: ScenePoints, c: int) -> None:
    """Moves the place of a corner to where it is in the middle of the step, relative to the center of its body."""
    a, lever = points.body[c, 0], points.lever_a[c]
    moved = 0.5 * rules.step * np.cross(bodies.before[a, 0:3], lever + points.gap[c] * points.frame[c, 0])
    lever += moved
    points.place[c] += moved
    relative(points, c, bodies.before, a, -1, points.before[c])
    relative(points, c, bodies.free, a, -1, points.free[c])


@later
def _begun(rules: Rules, bodies: MovingBodies, points: ScenePoints, c: int) -> float:
    """The velocity along the normal before springs act, which all but them and weight has changed (`impulse.splitting`)."""
    robots, total = bodies.robots, points.before[c, 0]
    for side in range(2):
        body, change = points.body[c, side], local(6)
        if body >= 0:
            lever = points.lever_a[c] if side == 0 else points.lever_b[c]
            change[:] = bodies.free[body] - bodies.before[body]
            if robots.link[body] >= 0:
                change[3:6] -= robots.rides[robots.owner[robots.link[body]]] * rules.step * rules.gravity[0:3]
            else:
                change[0:3] -= rules.step * (bodies.mobility[body] @ bodies.push[body, 0:3])
                change[3:6] = 0.0
            along = points.frame[c, 0] @ (change[3:6] + np.cross(change[0:3], lever))
            total += along if side == 0 else -along
    return total


@later
def stored(rules: Rules, placed: Placed, points: ScenePoints, c: int) -> float:
    """The energy that the spring of a compliant point takes up in the step [J]; none of a rigid one."""
    surface = placed.surfaces[points.material[c]]
    if surface[6] <= 0.0:
        return 0.0
    energy = local(1)
    apply(STORED, at(points, c), surface, rules.step, 2.0 * rules.fall, energy)
    return energy[0]


@later
def _comply(rules: Rules, bodies: MovingBodies, placed: Placed, points: ScenePoints, count: int, c: int) -> None:
    """How a compliant point yields in the step, its `give` as of `impulse.frames.gives_of`, and the velocity that it is guessed
    to have apart."""
    alone, here, there, first = local(3), local(6), local(6), c
    yields(bodies, points, c, alone)
    while first > 0 and _same_bodies(points, first - 1, c) == 1:
        first -= 1
    total, other = alone[0], first
    while other < count and _same_bodies(points, other, c) == 1:
        parting = min(SHRINKS, points.left_out[other] / rules.step)  # of the end of the spring
        closing = min(min(points.begun[other], points.free[other, 0]) - parting, 0.0)
        if other != c and points.gap[other] + points.left_out[other] + rules.step * closing < 0.0:
            for side in range(2):
                levers = points.lever_a if side == 0 else points.lever_b
                _unit_wrench(points.frame[c, 0], levers[c], here)
                _unit_wrench(points.frame[other, 0], levers[other], there)
                total += yielded(bodies, points.body[c, side], here, there)
        other += 1
    points.give[c], apart = max(total, LEAST * alone[0]), local(1)
    apply(COMPLIANT, at(points, c), placed.surfaces[points.material[c]], rules.step, 2.0 * rules.fall, apart)
    points.mode[c, 0] = apart[0]


@procedure
def _same_bodies(points: ScenePoints, c: int, other: int) -> int:
    return 1 if points.body[c, 0] == points.body[other, 0] and points.body[c, 1] == points.body[other, 1] else 0


@procedure
def _unit_wrench(axis: Shaped[3], lever: Shaped[3], wrench: Shaped[6]) -> None:
    """Of a unit force along an axis."""
    wrench[0:3] = np.cross(lever, axis)
    wrench[3:6] = axis
