"""The laws of contact at the points of an island: velocities, the residual, and the linearised law."""

from __future__ import annotations

import math

from ....procedure import Shaped, apply, at, local, procedure
from ...laws import RESIDUAL
from ..arrays import Islands, MovingBodies, ScenePoints, SolverSpace
from ..points import relative
from ..robots import leads, pushed
from ..turns import add_moments, residual_of_turns, turning_speeds

__all__ = ["TIE", "add_wrench", "linearise", "move", "relinearise", "residual"]

#: ScenePoints that are closed and at rest up to this rounding error count as sticking [m/s].
TIE = 1e-10
#: A sliding point's stiffness across its direction is at most this many of its masses.
STIFF = 1e7


@procedure
def add_wrench(frame: Shaped[3, 3], lever: Shaped[3], impulse: Shaped[3], share: float, wrench: Shaped[6]) -> None:
    """Adds a share of a point's impulse to the wrench [n; f] on a body about its center of mass."""
    x = share * (frame[0, 0] * impulse[0] + frame[1, 0] * impulse[1] + frame[2, 0] * impulse[2])
    y = share * (frame[0, 1] * impulse[0] + frame[1, 1] * impulse[1] + frame[2, 1] * impulse[2])
    z = share * (frame[0, 2] * impulse[0] + frame[1, 2] * impulse[1] + frame[2, 2] * impulse[2])
    wrench[0] += lever[1] * z - lever[2] * y
    wrench[1] += lever[2] * x - lever[0] * z
    wrench[2] += lever[0] * y - lever[1] * x
    wrench[3] += x
    wrench[4] += y
    wrench[5] += z


@procedure
def move(island: int, bodies: MovingBodies, islands: Islands, points: ScenePoints) -> None:
    """The velocities after the impulses of an island: `after` of its bodies and `speed` of its points."""
    for row in range(islands.first_body[island], islands.first_body[island + 1]):
        for k in range(6):
            bodies.after[islands.bodies[row], k] = 0.0
    for row in range(islands.first_point[island], islands.first_point[island + 1]):
        c = islands.points[row]
        a, b = points.body[c, 0], points.body[c, 1]
        if points.impulse[c, 0] == 0.0:  # all of them are in their cones
            continue
        add_wrench(points.frame[c], points.lever_a[c], points.impulse[c], 1.0, bodies.after[a])
        if b >= 0:
            add_wrench(points.frame[c], points.lever_b[c], points.impulse[c], -1.0, bodies.after[b])
    if len(points.turns.length) > 0:
        add_moments(island, islands, points, bodies.after)
    for row in range(islands.first_body[island], islands.first_body[island + 1]):
        body = islands.bodies[row]
        if bodies.robots.link[body] >= 0:
            robot = leads(bodies.robots, body)
            if robot >= 0:
                pushed(bodies, robot)
            continue
        twist, mobility, each = bodies.after[body], bodies.mobility[body], 1.0 / bodies.mass[body]
        x, y, z = twist[0], twist[1], twist[2]
        for k in range(3):
            twist[k] = bodies.free[body, k] + mobility[k, 0] * x + mobility[k, 1] * y + mobility[k, 2] * z
            twist[3 + k] = bodies.free[body, 3 + k] + each * twist[3 + k]
    for row in range(islands.first_point[island], islands.first_point[island + 1]):
        c = islands.points[row]
        relative(points, c, bodies.after, points.body[c, 0], points.body[c, 1], points.speed[c])
        for k in range(3):
            points.speed[c, k] += points.drift[c, k]
    if len(points.turns.length) > 0:
        turning_speeds(island, islands, points, bodies.after)


@procedure
def residual(island: int, islands: Islands, points: ScenePoints, trial: SolverSpace) -> float:
    """The largest residual of an island's points [m/s], infinite for NaN; `aim` of each is what the laws ask for."""
    worst, error = 0.0, local(1)
    for row in range(islands.first_point[island], islands.first_point[island + 1]):
        c = islands.points[row]
        apply(RESIDUAL, at(points, c), at(trial, c), error)
        worst = max(worst, error[0])
    if len(points.turns.length) > 0:
        worst = max(worst, residual_of_turns(island, islands, points))
    return worst


@procedure
def linearise(points: ScenePoints, c: int, stiff: float, by_mode: int, K: Shaped[3, 3], base: Shaped[3]) -> None:
    """The law of a point near its impulse and speed, λ' = base − K du (Alart and Curnier 1991).

    by_mode: 1 if `ScenePoints.mode` decides whether it is apart, sticks or slides, 0 if its impulse and speed do.
    """
    mu, mass, tie = points.friction[c], points.mass[c], TIE * points.mass[c]
    n, x, y = points.impulse[c, 0], points.impulse[c, 1], points.impulse[c, 2]
    soft = points.softness[c]
    un, ux, uy = points.speed[c, 0] - points.target[c] + soft * n, points.speed[c, 1], points.speed[c, 2]
    for i in range(3):
        base[i] = 0.0
        for j in range(3):
            K[i, j] = 0.0
    if by_mode == 1:
        aim, along_x, along_y = n - mass * points.mode[c, 0], x - mass * points.mode[c, 1], y - mass * points.mode[c, 2]
    else:
        part = mass if soft == 0.0 else mass / (1.0 + soft * mass)
        aim, along_x, along_y = n - part * un, x - mass * ux, y - mass * uy
    if aim < -tie:
        return
    give = stiff if soft == 0.0 else stiff / (1.0 + soft * stiff)
    normal = n - give * un
    base[0] = normal
    K[0, 0] = give
    length = math.sqrt(max(along_x * along_x + along_y * along_y, 1e-300))
    if length <= mu * max(aim, 0.0) + tie:
        base[1] = x - stiff * ux
        base[2] = y - stiff * uy
        K[1, 1] = stiff
        K[2, 2] = stiff
        return
    dx, dy = along_x / length, along_y / length
    # sliding friction keeps its size and turns with the velocity: it is stiff across, more so at lower speed
    kept = mu * max(n, 0.0) / length
    across = min(kept * mass / max(1.0 - kept, 1.0 / STIFF), stiff)
    aside = across * (dx * uy - dy * ux)
    base[1] = mu * dx * normal + aside * dy
    base[2] = mu * dy * normal - aside * dx
    K[1, 0] = mu * dx * give
    K[2, 0] = mu * dy * give
    K[1, 1] = across * dy * dy
    K[1, 2] = -across * dx * dy
    K[2, 1] = -across * dx * dy
    K[2, 2] = across * dx * dx


@procedure
def relinearise(points: ScenePoints, c: int, K: Shaped[3, 3], base: Shaped[3]) -> None:
    """The base of a linearised law at another impulse and speed, while K stays, and so do points apart, sticking or sliding.

    A solution with the same factors then goes to the laws as long as K is about right (chord method).
    """
    mu, n, x, y = points.friction[c], points.impulse[c, 0], points.impulse[c, 1], points.impulse[c, 2]
    un, ux, uy = points.speed[c, 0] - points.target[c] + points.softness[c] * n, points.speed[c, 1], points.speed[c, 2]
    for k in range(3):
        base[k] = 0.0
    if K[0, 0] == 0.0:
        return
    base[0] = n - K[0, 0] * un
    if K[1, 0] == 0.0 and K[2, 0] == 0.0 and K[1, 1] > 0.0:
        base[1] = x - K[1, 1] * ux
        base[2] = y - K[2, 2] * uy
        return
    along_x, along_y = x - points.mass[c] * ux, y - points.mass[c] * uy
    length = math.sqrt(max(along_x * along_x + along_y * along_y, 1e-300))
    dx, dy = along_x / length, along_y / length
    aside = (K[1, 1] + K[2, 2]) * (dx * uy - dy * ux)
    base[1] = mu * dx * n - K[1, 0] * un + aside * dy
    base[2] = mu * dy * n - K[2, 0] * un - aside * dx
