"""Torsional and rolling friction at the points of a step: moments limited by lengths times the normal impulse.

As in `contact.impulse`: about the normal the moment is in an interval, about the tangents in a disc; where a limit is reached,
it is opposite to the angular velocity. Moments are written in parts of the radius of the smaller solid, see `arrays.Turns`.
"""

from __future__ import annotations

from ...procedure import Floats, Shaped, apply, at, local, procedure
from ..impulse.mobility import SMALLEST
from ..laws import AT_REST, LIMITED, TURNED
from .arrays import Island, MovingBodies, Placed, ScenePoints, Turns


@procedure
def prepare_turn(bodies: MovingBodies, placed: Placed, points: ScenePoints, c: int) -> None:
    """Length, limits, masses and velocities of the moments of a point whose frame is known."""
    turns, one, other = points.turns, points.solid[c, 0], points.solid[c, 1]
    surface = placed.surfaces[placed.material[one] * placed.materials + placed.material[other]]
    length = placed.reach[one]  # a plane has none
    if length == 0.0 or 0.0 < placed.reach[other] < length:
        length = placed.reach[other]
    turns.length[c] = length
    turns.limit[c, 0] = surface[4] / length
    turns.limit[c, 1] = surface[5] / length
    turning_speed(points, c, bodies.before, turns.before[c])
    turning_speed(points, c, bodies.free, turns.free[c])
    about = turns.before[c, 1] * turns.before[c, 1] + turns.before[c, 2] * turns.before[c, 2] > AT_REST * AT_REST
    turns.mode[c, 0] = turns.before[c, 0] if abs(turns.before[c, 0]) > AT_REST else 0.0
    most = SMALLEST
    for k in range(3):
        if k > 0:
            turns.mode[c, k] = turns.before[c, k] if about else 0.0
        size = _yield(bodies, points.body[c, 0], points.frame[c, k])
        if points.body[c, 1] >= 0:
            size += _yield(bodies, points.body[c, 1], points.frame[c, k])
        most = max(most, length * length * size)
    turns.size[c] = most
    turns.mass[c] = 1.0 / most


@procedure
def _yield(bodies: MovingBodies, body: int, axis: Shaped[3]) -> float:
    """The angular velocity of a body about an axis per unit of angular impulse about it [1/(kg·m²)]."""
    total, link = 0.0, bodies.robots.link[body]
    for i in range(3):
        for j in range(3):
            entry = bodies.robots.give[link, i, j] if link >= 0 else bodies.mobility[body, i, j]
            total += axis[i] * entry * axis[j]
    return total


@procedure
def move_turn(turns: Turns, c: int, to: int) -> None:
    """Copies what `prepare_turn` knows of a point to another place of the list."""
    turns.length[to] = turns.length[c]
    turns.size[to] = turns.size[c]
    turns.mass[to] = turns.mass[c]
    for k in range(2):
        turns.limit[to, k] = turns.limit[c, k]
    for k in range(3):
        turns.before[to, k] = turns.before[c, k]
        turns.free[to, k] = turns.free[c, k]
        turns.mode[to, k] = turns.mode[c, k]


@procedure
def turning_speed(points: ScenePoints, c: int, twists: Floats[6], speed: Shaped[3]) -> None:
    """The angular velocity of A relative to B along the axes of a point, times its length [m/s]."""
    a, b = points.body[c, 0], points.body[c, 1]
    for k in range(3):
        axis = points.frame[c, k]
        about = axis[0] * twists[a, 0] + axis[1] * twists[a, 1] + axis[2] * twists[a, 2]
        if b >= 0:
            about -= axis[0] * twists[b, 0] + axis[1] * twists[b, 1] + axis[2] * twists[b, 2]
        speed[k] = points.turns.length[c] * about


@procedure
def turning_speeds(island: Island, twists: Floats[6]) -> None:
    """Those of all points of an island."""
    points = island.points
    for row in range(len(island.listed)):
        turning_speed(points, island.listed[row], twists, points.turns.speed[island.listed[row]])


@procedure
def add_moments(island: Island, wrenches: Floats[6]) -> None:
    """Adds all moments of an island to the wrenches on its bodies."""
    points = island.points
    for row in range(len(island.listed)):
        c = island.listed[row]
        add_moment(points, c, points.turns.impulse[c], 1.0, wrenches[points.body[c, 0]])
        if points.body[c, 1] >= 0:
            add_moment(points, c, points.turns.impulse[c], -1.0, wrenches[points.body[c, 1]])


@procedure
def add_moment(points: ScenePoints, c: int, moment: Shaped[3], share: float, wrench: Shaped[6]) -> None:
    """Adds a share of a moment along the axes of a point to the wrench [n; f] on a body."""
    frame, long = points.frame[c], share * points.turns.length[c]
    for k in range(3):
        wrench[k] += long * (frame[0, k] * moment[0] + frame[1, k] * moment[1] + frame[2, k] * moment[2])


@procedure
def onto_limits(points: ScenePoints, c: int, moment: Shaped[3]) -> None:
    """Enforces what the normal impulse of a point allows its moments, in place."""
    apply(LIMITED, moment, points.turns.limit[c], max(points.impulse[c, 0], 0.0), moment)


@procedure
def residual_of_turns(island: Island) -> float:
    """The largest residual of the moments of an island [m/s]; infinite if any is NaN."""
    worst, error = 0.0, local(1)
    for row in range(len(island.listed)):
        c = island.listed[row]
        apply(TURNED, at(island.points.turns, c), island.points.impulse[c, 0], error)
        worst = max(worst, error[0])
    return worst
