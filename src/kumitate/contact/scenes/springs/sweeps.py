"""The impulses of springs and dampers in a part of a step: sweeps over the points of an island, as of `solvers.relaxation`.

Springs push as at the start of the part, dampers and friction as at the velocities after it, which all points share.
"""

from __future__ import annotations

from ....procedure import apply_at, local, procedure
from ... import tuned
from ..arrays import Island, MovingBodies, Rules, ScenePoints
from ..points import relative, yields
from ..scene import Scene
from ..solvers.laws import move
from ..solvers.relaxation import add_impulse
from .law import Springs

#: Sweeps end when no point changes its velocity by more than this, in m/s and as a part of the fastest one, or after so many.
CHANGE, RELATIVE, SWEEPS = 1e-10, 1e-4, 50


@procedure
def place(scene: Scene, count: int) -> None:
    """Friction of points; those on the world move to the surface of A, where forces of the traced models act (Y 10.1)."""
    points, placed = scene.points, scene.placed
    for c in range(count):
        one, other = placed.material[points.solid[c, 0]], placed.material[points.solid[c, 1]]
        points.friction[c] = placed.surfaces[one * placed.materials + other, 1]
        if points.body[c, 1] < 0:
            for k in range(3):
                shift = points.gap[c] * points.frame[c, 0, k]
                points.place[c, k] += shift
                points.lever_a[c, k] += shift
            relative(points, c, scene.bodies.before, points.body[c, 0], -1, points.before[c])


@procedure
def scale_impulses(points: ScenePoints, count: int, factor: float) -> None:
    """From forces to impulses or back: points remember forces [N], as parts of steps differ in length."""
    for c in range(count):
        for k in range(3):
            points.impulse[c, k] *= factor if points.gap[c] <= 0.0 else 0.0


@procedure
def ready(bodies: MovingBodies, points: ScenePoints, springs: Springs, count: int) -> None:
    """Velocities without contact, and how points yield."""
    for c in range(count):
        relative(points, c, bodies.free, points.body[c, 0], points.body[c, 1], points.free[c])
        yields(bodies, points, c, springs.yields[c])


@procedure
def press(rules: Rules, island: Island, springs: Springs) -> float:
    """The impulses of an island, and velocities after them; returns the largest change in the last sweep [m/s]."""
    bodies, points = island.bodies, island.points
    count, fastest, change = len(island.listed), 0.0, 0.0
    for at in range(count):
        for k in range(3):
            fastest = max(fastest, abs(points.free[island.listed[at], k]))
    move(island)
    for sweep in range(SWEEPS):
        change = 0.0
        for at in range(count):
            c = island.listed[at if sweep % 2 == 0 else count - 1 - at]
            change = max(change, _press_point(rules, c, bodies, points, springs))
        if change < CHANGE + RELATIVE * fastest:
            break
    move(island)
    return change


@procedure
def _press_point(rules: Rules, c: int, bodies: MovingBodies, points: ScenePoints, springs: Springs) -> float:
    """Gives a point the impulse of its law at the velocities that the others leave; returns by how much it moves them [m/s]."""
    if points.gap[c] > 0.0:
        return 0.0
    a, b, u, found, size = points.body[c, 0], points.body[c, 1], local(3), local(3), springs.yields[c]
    along, across = size[0] / tuned.SHARE, max(size[1], size[2]) / tuned.SHARE
    relative(points, c, bodies.after, a, b, u)
    for k in range(3):
        u[k] -= (along if k == 0 else across) * points.impulse[c, k]
    apply_at(springs.law[0], (rules.step, along, across, points.gap[c], u, points.friction[c]), (found,))
    change = 0.0
    for k in range(3):
        u[k] = found[k] - points.impulse[c, k]
        points.impulse[c, k] = found[k]
        change = max(change, size[k] * abs(u[k]))
    if change > 0.0:
        add_impulse(bodies, a, points.frame[c], points.lever_a[c], u, 1.0)
        if b >= 0:
            add_impulse(bodies, b, points.frame[c], points.lever_b[c], u, -1.0)
    return change
