"""The matrix M + Jᵀ K J of an island in blocks, one K (3 × 3) per point; and what its points make of a change of velocity.

The blocks hold its transpose, as `blocks.solve_factored` takes it.
"""

from __future__ import annotations

import numpy as np

from ....procedure import Shaped, apply, local, procedure
from ...laws import CONE
from ..arrays import BlockFactors, Island, MovingBodies
from ..points import relative
from ..turns import add_moment, advance_turn, stiffen_turns
from .articulated import couple_links, forget_links, inertial_row, put_inertia, solve_twists
from .laws import push_bodies


@procedure
def assemble(island: Island) -> None:
    """Fills the blocks with the inertias and with the stiffness `trial.K` of the points, transposed."""
    _assemble_inertias(island.bodies, island.factors)
    at = 0
    while at < len(island.listed):
        at = _assemble_pair(island, at)


@procedure
def find_reaches(island: Island) -> None:
    """Fills `trial.reach` with J of the points: J [ω; v] = frame (v + ω × lever) is the velocity of A at a point."""
    points, trial = island.points, island.trial
    for c in island.listed:
        for i in range(3):
            trial.reach[c, i, 0:3] = np.cross(points.lever_a[c], points.frame[c, i])
            trial.reach[c, i, 3:6] = points.frame[c, i]


@procedure
def _assemble_pair(island: Island, at: int) -> int:
    """Adds the points of two bodies, which stand next to each other; returns where the next pair begins.

    Their stiffness S, summed about the center of A, is S X about that of B: X [ω; v] is the velocity v + ω × d at A's center.
    """
    bodies, points, factors, trial, last = island.bodies, island.points, island.factors, island.trial, len(island.listed)
    stiffness, moved, c = local(6, 6), local(6, 6), island.listed[at]
    one, other, e, pushing = points.body[c, 0], points.body[c, 1], points.edge[c], 0
    while at < last and points.body[island.listed[at], 0] == one and points.body[island.listed[at], 1] == other:
        c = island.listed[at]
        if trial.K[c, 0, 0] != 0.0:  # else the point is apart
            turned = trial.K[c].T @ trial.reach[c]
            stiffness += trial.reach[c].T @ turned
            if c < len(points.turns.length):
                stiffen_turns(points, c, trial.reach[c, 0], stiffness)
            pushing = 1
        at += 1
    if pushing == 0:
        return at
    if bodies.robots.link[one] >= 0 or (other >= 0 and bodies.robots.link[other] >= 0):
        couple_links(bodies, one, other, stiffness, factors)
        return at
    factors.diagonal[factors.node[one]] += stiffness
    if other >= 0:
        shift = bodies.place[one] - bodies.place[other]
        _move_columns(stiffness, shift, moved)
        _move_rows(stiffness, shift)
        if factors.node[one] < factors.node[other]:
            factors.upper[e] -= moved
            factors.lower[e] -= stiffness
        else:
            factors.lower[e] -= moved
            factors.upper[e] -= stiffness
        _move_rows(moved, shift)
        factors.diagonal[factors.node[other]] += moved
    return at


@procedure
def _assemble_inertias(bodies: MovingBodies, factors: BlockFactors) -> None:
    """The inertias, and zeros elsewhere."""
    count, free = factors.count[0], len(bodies.mass)
    factors.lower[0 : factors.first[count]] = 0.0
    factors.upper[0 : factors.first[count]] = 0.0
    for node in range(count):
        unit = factors.unit[node]
        if unit >= free:
            put_inertia(bodies.robots, unit - free, node, factors)
            continue
        factors.diagonal[node] = 0.0
        for i in range(3):
            factors.diagonal[node, 3 + i, 3 + i] = bodies.mass[unit]
            factors.diagonal[node, i, 0:3] = bodies.inertia[unit, i]


@procedure
def advance(island: Island) -> None:
    """New impulses of the points: solves (M + JᵀKJ) dv = Jᵀ(base − λ), then λ' = cone(base − K J dv)."""
    points, factors, trial = island.points, island.factors, island.trial
    trial.effort[0 : factors.count[0]] = 0.0
    forget_links(island, trial.effort)
    for c in island.listed:
        lack = trial.base[c] - points.impulse[c]
        if lack[0] != 0.0 or lack[1] != 0.0 or lack[2] != 0.0:
            push_bodies(points, c, lack, trial.effort, points.node[c, 0], points.node[c, 1])
        if c < len(points.turns.length):
            lack = points.turns.base[c] - points.turns.impulse[c]
            add_moment(points, c, lack, trial.effort, points.node[c, 0], points.node[c, 1])
    solve_twists(island, trial.effort)
    for c in island.listed:
        du, new = trial.aim[c], points.impulse[c]
        if trial.K[c, 0, 0] == 0.0:
            new[:] = 0.0
            du[:] = 0.0
        else:
            relative(points, c, trial.effort, points.node[c, 0], points.node[c, 1], du)
            new[:] = trial.base[c] - trial.K[c] @ du
            apply(CONE, new, points.friction[c], new)
        if c < len(points.turns.length):
            advance_turn(points, c, trial.effort, du[0])


@procedure
def inertial(bodies: MovingBodies, body: int, effort: Shaped[6]) -> None:
    """effort = −M (v − v_free) of a unit."""
    if body >= len(bodies.mass):
        inertial_row(bodies.robots, body - len(bodies.mass), effort)
        return
    change = bodies.free[body] - bodies.after[body]
    effort[0:3] = bodies.inertia[body] @ change[0:3]
    effort[3:6] = bodies.mass[body] * change[3:6]


@procedure
def _move_columns(block: Shaped[6, 6], shift: Shaped[3], moved: Shaped[6, 6]) -> None:
    """moved = block X, X [ω; v] = [ω; v + ω × shift]."""
    cross = local(3, 6)
    cross[0, 1], cross[0, 2] = shift[2], -shift[1]
    cross[1, 0], cross[1, 2] = -shift[2], shift[0]
    cross[2, 0], cross[2, 1] = shift[1], -shift[0]
    for i in range(6):
        moved[i] = block[i] + block[i, 3] * cross[0] + block[i, 4] * cross[1] + block[i, 5] * cross[2]


@procedure
def _move_rows(block: Shaped[6, 6], shift: Shaped[3]) -> None:
    """block = Xᵀ block."""
    block[0] += shift[1] * block[5] - shift[2] * block[4]
    block[1] += shift[2] * block[3] - shift[0] * block[5]
    block[2] += shift[0] * block[4] - shift[1] * block[3]
