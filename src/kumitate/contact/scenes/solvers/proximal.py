"""Rounds of convex problems that approach the laws of an island from anywhere: they never diverge, but converge slowly.

With the shift s = μ |u_t| of De Saxcé and Feng (1998) held fixed, Coulomb's laws are the optimum of a convex problem. A round
minimizes its augmented Lagrangian, ½ (v − v_free)ᵀ M (v − v_free) + Σ |P(y)|² / (2 R), y = λ − R (u − b + s n), by Newton steps
with an exact line search (Rockafellar 1976; Castro and others 2022); P is the orthogonal projection onto the friction cone. Its
P(y) is the next λ, and the next shift is that of its u.
"""

from __future__ import annotations

import math

from ....procedure import Floats, Shaped, local, procedure
from ..arrays import BlockFactors, Islands, MovingBodies, ScenePoints, SolverSpace
from .articulated import forget_links, go_on, solve_twists, weighed_row
from .assembly import assemble, change_of, inertial
from .blocks import factor
from .laws import add_wrench, move, residual

__all__ = ["proximal"]

#: R, relative to a point's mass.
STRENGTH = 1e3
#: The most Newton steps of a round, and trials of the line search.
STEPS, TRIALS = 12, 12
#: A round ends when a step changes velocities by less than this part of the fastest.
SMALL_CHANGE = 1e-12


@procedure
def proximal(
    island: int, rounds: int, fastest: float, bodies: MovingBodies, islands: Islands, points: ScenePoints,
    factors: BlockFactors, trial: SolverSpace,
) -> float:  # fmt: skip
    """So many rounds from the impulses of the points; returns the residual that they leave [m/s]."""
    for _ in range(rounds):
        for at in range(islands.first_point[island], islands.first_point[island + 1]):
            c = islands.points[at]
            ux, uy = points.speed[c, 1], points.speed[c, 2]
            trial.slope[c, 0] = points.friction[c] * math.sqrt(ux * ux + uy * uy) - points.target[c]
        for _ in range(STEPS):
            _laws(island, islands, points, trial)
            assemble(island, bodies, islands, points, factors, trial)
            factor(factors.count[0], factors)
            _lacks(island, bodies, islands, points, factors, trial)
            solve_twists(island, bodies.robots, islands, factors, trial.effort)
            most = _changes(island, islands, points, factors, trial)
            share = _search(island, bodies, islands, points, factors, trial)
            go_on(island, share, bodies, islands, factors, trial.effort)
            for at in range(islands.first_point[island], islands.first_point[island + 1]):
                c = islands.points[at]
                for k in range(3):
                    points.speed[c, k] += share * trial.dz[c, k]
            if share * most <= SMALL_CHANGE * (fastest + 1e-3):
                break
        for at in range(islands.first_point[island], islands.first_point[island + 1]):
            c = islands.points[at]
            _argument(points, trial, c, 0.0, trial.x[c])
            project(trial.x[c], points.friction[c], points.impulse[c])
        move(island, bodies, islands, points)
    return residual(island, islands, points, trial)


@procedure
def _argument(points: ScenePoints, trial: SolverSpace, c: int, share: float, y: Shaped[3]) -> None:
    """y = λ − R (u + share · du − b + s n)."""
    strong = STRENGTH * points.mass[c]
    for k in range(3):
        y[k] = points.impulse[c, k] - strong * (points.speed[c, k] + share * trial.dz[c, k])
    y[0] -= strong * trial.slope[c, 0]


@procedure
def project(y: Shaped[3], mu: float, projected: Shaped[3]) -> None:
    """The nearest impulse in the cone |λ_t| ≤ μ λ_n."""
    length = math.sqrt(y[1] * y[1] + y[2] * y[2])
    if length <= mu * y[0]:
        for k in range(3):
            projected[k] = y[k]
    elif mu * length <= -y[0]:
        for k in range(3):
            projected[k] = 0.0
    else:
        normal = (y[0] + mu * length) / (1.0 + mu * mu)
        projected[0] = normal
        projected[1] = mu * normal * y[1] / length
        projected[2] = mu * normal * y[2] / length


@procedure
def _laws(island: int, islands: Islands, points: ScenePoints, trial: SolverSpace) -> None:
    """P(y) of every point, and K = R ∂P/∂y."""
    for at in range(islands.first_point[island], islands.first_point[island + 1]):
        c = islands.points[at]
        y, K, mu, strong = trial.x[c], trial.K[c], points.friction[c], STRENGTH * points.mass[c]
        for k in range(3):
            trial.dz[c, k] = 0.0
        _argument(points, trial, c, 0.0, y)
        project(y, mu, trial.base[c])
        length = math.sqrt(y[1] * y[1] + y[2] * y[2])
        inside, outside = length <= mu * y[0], mu * length <= -y[0]
        for i in range(3):
            for j in range(3):
                K[i, j] = strong if i == j and inside else 0.0
        if not inside and not outside:
            tx, ty, part = y[1] / length, y[2] / length, strong / (1.0 + mu * mu)
            aside = strong * mu * trial.base[c, 0] / length
            K[0, 0] = part
            K[0, 1] = part * mu * tx
            K[0, 2] = part * mu * ty
            K[1, 0] = K[0, 1]
            K[2, 0] = K[0, 2]
            K[1, 1] = part * mu * mu * tx * tx + aside * ty * ty
            K[2, 2] = part * mu * mu * ty * ty + aside * tx * tx
            K[1, 2] = (part * mu * mu - aside) * tx * ty
            K[2, 1] = K[1, 2]


@procedure
def _lacks(
    island: int, bodies: MovingBodies, islands: Islands, points: ScenePoints, factors: BlockFactors, trial: SolverSpace
) -> None:
    """effort = Jᵀ P − M (v − v_free), minus the gradient."""
    for node in range(factors.count[0]):
        inertial(bodies, factors.unit[node], trial.effort[node])
    forget_links(island, bodies.robots, islands, factors, trial.effort)
    for at in range(islands.first_point[island], islands.first_point[island + 1]):
        c = islands.points[at]
        add_wrench(points.frame[c], points.lever_a[c], trial.base[c], 1.0, trial.effort[factors.node[points.body[c, 0]]])
        if points.body[c, 1] >= 0:
            add_wrench(points.frame[c], points.lever_b[c], trial.base[c], -1.0, trial.effort[factors.node[points.body[c, 1]]])


@procedure
def _changes(island: int, islands: Islands, points: ScenePoints, factors: BlockFactors, trial: SolverSpace) -> float:
    """The changes of the points' velocities in a full step; returns the largest [m/s]."""
    most = 0.0
    for at in range(islands.first_point[island], islands.first_point[island + 1]):
        c = islands.points[at]
        change_of(points, factors, trial.effort, c, trial.dz[c])
        for k in range(3):
            most = max(most, abs(trial.dz[c, k]))
    return most


@procedure
def _search(
    island: int, bodies: MovingBodies, islands: Islands, points: ScenePoints, factors: BlockFactors, trial: SolverSpace
) -> float:
    """The share of the step at which the objective is least, by the secant method within bounds."""
    along_step, square, effort = 0.0, 0.0, local(6)
    for node in range(factors.count[0]):
        change = trial.effort[node]
        inertial(bodies, factors.unit[node], effort)
        for i in range(6):
            along_step -= effort[i] * change[i]
        square += _weighed(bodies, node, factors, trial.effort)
    low, high = 0.0, 1.0
    at_low, at_high = _slope(island, 0.0, along_step, square, islands, points, trial), 0.0
    at_high = _slope(island, 1.0, along_step, square, islands, points, trial)
    if at_high <= 0.0:
        return 1.0
    for _ in range(TRIALS):
        share = low - at_low * (high - low) / (at_high - at_low)
        share = min(max(share, low + 0.05 * (high - low)), high - 0.05 * (high - low))
        here = _slope(island, share, along_step, square, islands, points, trial)
        if abs(here) <= 1e-3 * square:
            return share
        if here < 0.0:
            low = share
            at_low = here
        else:
            high = share
            at_high = here
    return low


@procedure
def _weighed(bodies: MovingBodies, node: int, factors: BlockFactors, changes: Floats[6]) -> float:
    """A node's part of dvᵀ M dv."""
    unit, change, total = factors.unit[node], changes[node], 0.0
    if unit >= len(bodies.mass):
        return weighed_row(bodies.robots, unit - len(bodies.mass), factors, changes)
    for i in range(3):
        total += bodies.mass[unit] * change[3 + i] * change[3 + i]
        for j in range(3):
            total += change[i] * bodies.inertia[unit, i, j] * change[j]
    return total


@procedure
def _slope(
    island: int, share: float, along_step: float, square: float, islands: Islands, points: ScenePoints, trial: SolverSpace
) -> float:
    """The derivative of the objective along the step."""
    total, y, projected = along_step + share * square, local(3), local(3)
    for at in range(islands.first_point[island], islands.first_point[island + 1]):
        c = islands.points[at]
        _argument(points, trial, c, share, y)
        project(y, points.friction[c], projected)
        for k in range(3):
            total -= projected[k] * trial.dz[c, k]
    return total
