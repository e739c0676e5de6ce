"""Penalty contact in scenes: springs and dampers push at the points, in as many parts of a step as the springs need.

Pairs, points and motion are those of rigid scenes; in place of their solver, the law of the model, that of one robot, is met
point by point in sweeps over an island, forwards and backwards (Jourdan, Alart, Jean 1998). Springs push as at the start of a
part, dampers and friction as at the velocities after it, which all points share.
"""

from __future__ import annotations

import math
from typing import Any

from ...procedure import Shaped, apply_at, local, procedure
from ...procedure.called import later
from ...scalar import Program, Scalar, maximum, trace
from ...spatial import Vector3
from .. import tuned
from ..models.penalty import Penalty
from ..surface import VariedSurface
from .arrays import Island, MovingBodies, Rules, Scene, ScenePoints, Springs
from .points import relative, yields
from .robots import nudged
from .solvers.laws import move, push_bodies

#: The largest number of parts of a step.
MOST = 10_000
#: A part lasts 1 / (FINE ω) at most; with more than 2 / ω the semi-implicit Euler method would not be stable.
FINE = 4.0
#: Sweeps end when no point changes its velocity by more than this, in m/s and as a part of the fastest one, or after so many.
CHANGE, RELATIVE, SWEEPS = 1e-10, 1e-4, 50


def law_program(model: Penalty) -> Program:
    """(h, along, across, gap, velocity, friction) → the impulse, as of `Penalty.impulse`.

    Velocity and impulse are along the axes of the point, the first of which is the normal.
    """

    def law(h: Scalar, along: Scalar, across: Scalar, gap: Scalar, velocity: Any, friction: Scalar) -> dict[str, Any]:
        normal, surface = Vector3(1.0, 0.0, 0.0), VariedSurface(friction, friction, 0.0)
        return {"impulse": list(model.impulse(h, (along, across), gap, normal, Vector3.of(velocity), surface))}

    return trace(law, {"h": (), "along": (), "across": (), "gap": (), "velocity": 3, "friction": ()}, "impulse_of_a_spring")


def spring_program(model: Penalty) -> Program:
    """(gap) → stiffness and energy, as of `Penalty.steepness` and `Penalty.stored`."""

    def spring(gap: Scalar) -> dict[str, Any]:
        return {"stiffness": model.steepness(gap), "energy": model.stored(maximum(-gap, 0.0))}

    return trace(spring, {"gap": ()}, "spring_of_a_point")


@later
def place(scene: Scene, count: int) -> None:
    """Friction of points, and their gaps without what is left out at the start.

    Those on the world move to the surface of A, where forces of the traced models act (Y 10.1).
    """
    points, placed = scene.points, scene.placed
    for c in range(count):
        points.friction[c] = placed.surfaces[points.material[c], 1]
        if points.body[c, 1] < 0:
            shift = points.gap[c] * points.frame[c, 0]
            points.place[c] += shift
            points.lever_a[c] += shift
            relative(points, c, scene.bodies.before, points.body[c, 0], -1, points.before[c])
    shift_gaps(points, count, 1.0)


@procedure
def shift_gaps(points: ScenePoints, count: int, sign: float) -> None:
    """Adds what is left out to the gaps of points, or takes it back."""
    for c in range(count):
        points.gap[c] += sign * points.left_out[c]


@later
def longest_part(scene: Scene, left: float, count: int) -> float:
    """The longest part of a step, by the steepest springs on any body [s]; also those that a point may reach in the time left.

    The sum over a body's points of velocities per unit impulse times K is a bound of ω².
    """
    points, springs, stiffness, energy, most = scene.points, scene.springs, local(1), local(1), 0.0
    springs.steep[:] = 0.0
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
def scale_impulses(points: ScenePoints, count: int, factor: float) -> None:
    """From forces to impulses or back: points remember forces [N], as parts of steps differ in length."""
    for c in range(count):
        points.impulse[c] *= factor if points.gap[c] <= 0.0 else 0.0


@later
def ready(bodies: MovingBodies, points: ScenePoints, springs: Springs, count: int) -> None:
    """Velocities without contact, and how points yield."""
    for c in range(count):
        relative(points, c, bodies.free, points.body[c, 0], points.body[c, 1], points.free[c])
        yields(bodies, points, c, springs.yields[c])


@later
def press(rules: Rules, island: Island, springs: Springs) -> float:
    """The impulses of an island, and velocities after them; returns the largest change in the last sweep [m/s]."""
    bodies, points, count, fastest, change = island.bodies, island.points, len(island.listed), 0.0, 0.0
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
    u[0] -= along * points.impulse[c, 0]
    u[1:3] -= across * points.impulse[c, 1:3]
    apply_at(springs.law[0], (rules.step, along, across, points.gap[c], u, points.friction[c]), (found,))
    u[:] = found - points.impulse[c]
    points.impulse[c] = found
    change = max(size[0] * abs(u[0]), size[1] * abs(u[1]), size[2] * abs(u[2]))
    if change > 0.0:
        wrenches = local(2, 6)
        push_bodies(points, c, u, wrenches, 0, 1 if b >= 0 else -1)
        _pull(bodies, a, wrenches[0])
        if b >= 0:
            _pull(bodies, b, wrenches[1])
    return change


@procedure
def _pull(bodies: MovingBodies, body: int, wrench: Shaped[6]) -> None:
    """The velocities of a body after an impulsive wrench more."""
    link = bodies.robots.link[body]
    if link >= 0:
        nudged(bodies, link, wrench)
        return
    bodies.after[body, 0:3] += bodies.mobility[body] @ wrench[0:3]
    bodies.after[body, 3:6] += wrench[3:6] / bodies.mass[body]
