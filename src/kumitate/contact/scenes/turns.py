"""Torsional and rolling friction at the points of a step: moments limited by lengths times the normal impulse.

As in `contact.impulse`: about the normal the moment is in an interval, about the tangents in a disc; where a limit is reached,
it is opposite to the angular velocity. Moments are written in parts of the radius of the smaller solid, see `arrays.Turns`.
"""

from __future__ import annotations

from ...procedure import Floats, Shaped, apply, local, procedure
from ...procedure.called import later
from ..impulse.frames import SMALLEST
from ..laws import AT_REST, LIMITED
from .arrays import MovingBodies, Placed, ScenePoints
from .robots import yielded


@later
def prepare_turn(bodies: MovingBodies, placed: Placed, points: ScenePoints, c: int) -> None:
    """Length, limits, masses and velocities of the moments of a point whose frame is known."""
    turns, one, other = points.turns, points.solid[c, 0], points.solid[c, 1]
    surface = placed.surfaces[points.material[c]]
    length = placed.reach[one]  # a plane has none
    if length == 0.0 or 0.0 < placed.reach[other] < length:
        length = placed.reach[other]
    turns.length[c], turns.limit[c, 0], turns.limit[c, 1] = length, surface[4] / length, surface[5] / length
    turning_speed(points, c, bodies.before, points.body[c, 0], points.body[c, 1], turns.before[c])
    turning_speed(points, c, bodies.free, points.body[c, 0], points.body[c, 1], turns.free[c])
    about = turns.before[c, 1] * turns.before[c, 1] + turns.before[c, 2] * turns.before[c, 2] > AT_REST * AT_REST
    turns.mode[c, 0] = turns.before[c, 0] if abs(turns.before[c, 0]) > AT_REST else 0.0
    most = SMALLEST
    for k in range(3):
        if k > 0:
            turns.mode[c, k] = turns.before[c, k] if about else 0.0
        unit = local(6)
        unit[0:3] = length * points.frame[c, k]
        most = max(most, yielded(bodies, points.body[c, 0], unit, unit) + yielded(bodies, points.body[c, 1], unit, unit))
    turns.size[c], turns.mass[c] = most, 1.0 / most


@procedure
def turning_speed(points: ScenePoints, c: int, twists: Floats[6], a: int, b: int, speed: Shaped[3]) -> None:
    """The angular velocity of A relative to B along the axes of a point, times its length [m/s], of the twists in rows a and b.

    B does not turn if b is negative.
    """
    spin = 1.0 * twists[a, 0:3]
    if b >= 0:
        spin -= twists[b, 0:3]
    speed[:] = points.turns.length[c] * (points.frame[c] @ spin)


@later
def add_moment(points: ScenePoints, c: int, moment: Shaped[3], wrenches: Floats[6], a: int, b: int) -> None:
    """Adds a moment along the axes of a point to the wrenches on A and B, which stand in the rows a and b; −1: the world."""
    wrenches[a, 0:3] += points.turns.length[c] * (moment @ points.frame[c])
    if b >= 0:
        wrenches[b, 0:3] -= points.turns.length[c] * (moment @ points.frame[c])


@later
def stiffen_turns(points: ScenePoints, c: int, normal: Shaped[6], stiffness: Shaped[6, 6]) -> None:
    """Adds the transpose of what the moments of a point resist a twist of A by; `normal`: of its J, for the normal velocity."""
    turns, spin = points.turns, local(3, 6)
    for i in range(3):
        spin[i, 0:3] = turns.length[c] * points.frame[c, i]
    turned = turns.K[c].T @ spin
    stiffness += spin.T @ turned
    pushed = turns.push[c] @ spin
    for i in range(6):
        stiffness[i] += normal[i] * pushed


@later
def advance_turn(points: ScenePoints, c: int, changes: Floats[6], dn: float) -> None:
    """The moments of a point after changes of the nodes' twists, by which its normal velocity changes by dn."""
    turns, d = points.turns, local(3)
    turning_speed(points, c, changes, points.node[c, 0], points.node[c, 1], d)
    turns.impulse[c] = turns.base[c] - turns.K[c] @ d - dn * turns.push[c]
    apply(LIMITED, turns.impulse[c], turns.limit[c], max(points.impulse[c, 0], 0.0), turns.impulse[c])
