"""The matrix M + Jᵀ K J of an island in blocks, one K (3 × 3) per point; and what its points make of a change of velocity.

The blocks hold its transpose, as `blocks.solve_factored` takes it.
"""

from __future__ import annotations

from ....procedure import Floats, Shaped, apply, local, procedure
from ...laws import CONE
from ..arrays import BlockFactors, Island, MovingBodies, ScenePoints
from ..points import relative
from .articulated import couple_links, forget_links, inertial_row, put_inertia, solve_twists
from .laws import add_wrench
from .turning import add_lacks, advance_turns, couple_turns


@procedure
def assemble(island: Island) -> None:
    """Fills the blocks with the inertias and with the stiffness `trial.K` of the points, transposed."""
    _assemble_inertias(island.bodies, island.factors)
    if len(island.points.turns.length) > 0:
        couple_turns(island)
    at = 0
    while at < len(island.listed):
        at = _assemble_pair(island, at)


@procedure
def find_reaches(island: Island) -> None:
    """Fills `trial.reach` with J of the points: J [ω; v] = frame (v + ω × lever) is the velocity of A at a point."""
    points, trial = island.points, island.trial
    for at in range(len(island.listed)):
        c = island.listed[at]
        lever, reach = points.lever_a[c], trial.reach[c]
        for i in range(3):
            axis = points.frame[c, i]
            reach[i, 0] = lever[1] * axis[2] - lever[2] * axis[1]
            reach[i, 1] = lever[2] * axis[0] - lever[0] * axis[2]
            reach[i, 2] = lever[0] * axis[1] - lever[1] * axis[0]
            for k in range(3):
                reach[i, 3 + k] = axis[k]


@procedure
def _assemble_pair(island: Island, at: int) -> int:
    """Adds the points of two bodies, which stand next to each other; returns where the next pair begins.

    Their stiffness S, summed about the center of A, is S X about that of B: X [ω; v] is the velocity v + ω × d at A's center.
    """
    bodies, points, factors, trial, last = island.bodies, island.points, island.factors, island.trial, len(island.listed)
    stiffness, moved, shift, c = local(6, 6), local(6, 6), local(3), island.listed[at]
    one, other, e, pushing = points.body[c, 0], points.body[c, 1], points.edge[c], 0
    while at < last and points.body[island.listed[at], 0] == one and points.body[island.listed[at], 1] == other:
        c = island.listed[at]
        if trial.K[c, 0, 0] != 0.0:  # else the point is apart
            _stiffen(trial.K[c], trial.reach[c], stiffness)
            pushing = 1
        at += 1
    if pushing == 0:
        return at
    if bodies.robots.link[one] >= 0 or (other >= 0 and bodies.robots.link[other] >= 0):
        couple_links(bodies, one, other, stiffness, factors)
        return at
    _plus(factors.diagonal[factors.node[one]], stiffness)
    if other >= 0:
        for k in range(3):
            shift[k] = bodies.place[one, k] - bodies.place[other, k]
        _move_columns(stiffness, shift, moved)
        _move_rows(stiffness, shift)
        if factors.node[one] < factors.node[other]:
            _minus(factors.upper[e], moved)
            _minus(factors.lower[e], stiffness)
        else:
            _minus(factors.lower[e], moved)
            _minus(factors.upper[e], stiffness)
        _move_rows(moved, shift)
        _plus(factors.diagonal[factors.node[other]], moved)
    return at


@procedure
def _assemble_inertias(bodies: MovingBodies, factors: BlockFactors) -> None:
    """The inertias, and zeros elsewhere."""
    count, free = factors.count[0], len(bodies.mass)
    for e in range(factors.first[count]):
        _clear(factors.lower[e])
        _clear(factors.upper[e])
    for node in range(count):
        unit = factors.unit[node]
        if unit >= free:
            put_inertia(bodies.robots, unit - free, node, factors)
            continue
        _clear(factors.diagonal[node])
        for i in range(3):
            factors.diagonal[node, 3 + i, 3 + i] = bodies.mass[unit]
            for j in range(3):
                factors.diagonal[node, i, j] = bodies.inertia[unit, i, j]


@procedure
def advance(island: Island) -> None:
    """New impulses of the points: solves (M + JᵀKJ) dv = Jᵀ(base − λ), then λ' = cone(base − K J dv)."""
    points, factors, trial = island.points, island.factors, island.trial
    for node in range(factors.count[0]):
        for k in range(6):
            trial.effort[node, k] = 0.0
    forget_links(island, trial.effort)
    for at in range(len(island.listed)):
        c = island.listed[at]
        lack = trial.aim[c]
        for k in range(3):
            lack[k] = trial.base[c, k] - points.impulse[c, k]
        if lack[0] != 0.0 or lack[1] != 0.0 or lack[2] != 0.0:
            add_wrench(points.frame[c], points.lever_a[c], lack, 1.0, trial.effort[factors.node[points.body[c, 0]]])
            if points.body[c, 1] >= 0:
                add_wrench(points.frame[c], points.lever_b[c], lack, -1.0, trial.effort[factors.node[points.body[c, 1]]])
    if len(points.turns.length) > 0:
        add_lacks(island, trial.effort)
    solve_twists(island, trial.effort)
    for at in range(len(island.listed)):
        c = island.listed[at]
        du, new = trial.aim[c], points.impulse[c]
        if trial.K[c, 0, 0] == 0.0:
            for k in range(3):
                new[k] = 0.0
            continue
        change_of(points, factors, trial.effort, c, du)
        for k in range(3):
            new[k] = trial.base[c, k] - trial.K[c, k, 0] * du[0] - trial.K[c, k, 1] * du[1] - trial.K[c, k, 2] * du[2]
        apply(CONE, new, points.friction[c], new)
    if len(points.turns.length) > 0:
        advance_turns(island)


@procedure
def inertial(bodies: MovingBodies, body: int, effort: Shaped[6]) -> None:
    """effort = −M (v − v_free) of a unit."""
    if body >= len(bodies.mass):
        inertial_row(bodies.robots, body - len(bodies.mass), effort)
        return
    inertia, after, free = bodies.inertia[body], bodies.after[body], bodies.free[body]
    for i in range(3):
        effort[i] = 0.0
        for j in range(3):
            effort[i] -= inertia[i, j] * (after[j] - free[j])
        effort[3 + i] = -bodies.mass[body] * (after[3 + i] - free[3 + i])


@procedure
def change_of(points: ScenePoints, factors: BlockFactors, changes: Floats[6], c: int, du: Shaped[3]) -> None:
    """The change of a point's velocity with the changes of the nodes' twists."""
    other = points.body[c, 1]
    relative(points, c, changes, factors.node[points.body[c, 0]], factors.node[other] if other >= 0 else -1, du)


@procedure
def _clear(block: Shaped[6, 6]) -> None:
    for i in range(6):
        for j in range(6):
            block[i, j] = 0.0


@procedure
def _stiffen(K: Shaped[3, 3], reach: Shaped[3, 6], stiffness: Shaped[6, 6]) -> None:
    """Adds the transpose of Jᵀ K J of a point; the loops along rows are operations on vectors."""
    turned = local(3, 6)
    for i in range(3):
        a, b, c = K[0, i], K[1, i], K[2, i]
        for j in range(6):
            turned[i, j] = a * reach[0, j] + b * reach[1, j] + c * reach[2, j]
    for i in range(6):
        a, b, c = reach[0, i], reach[1, i], reach[2, i]
        for j in range(6):
            stiffness[i, j] += a * turned[0, j] + b * turned[1, j] + c * turned[2, j]


@procedure
def _move_columns(block: Shaped[6, 6], shift: Shaped[3], moved: Shaped[6, 6]) -> None:
    """moved = block X, X [ω; v] = [ω; v + ω × shift]."""
    cross = local(3, 6)
    cross[0, 1] = shift[2]
    cross[0, 2] = -shift[1]
    cross[1, 0] = -shift[2]
    cross[1, 2] = shift[0]
    cross[2, 0] = shift[1]
    cross[2, 1] = -shift[0]
    for i in range(6):
        a, b, c = block[i, 3], block[i, 4], block[i, 5]
        for j in range(6):
            moved[i, j] = block[i, j] + a * cross[0, j] + b * cross[1, j] + c * cross[2, j]


@procedure
def _move_rows(block: Shaped[6, 6], shift: Shaped[3]) -> None:
    """block = Xᵀ block."""
    x, y, z = shift[0], shift[1], shift[2]
    for j in range(6):
        block[0, j] += y * block[5, j] - z * block[4, j]
    for j in range(6):
        block[1, j] += z * block[3, j] - x * block[5, j]
    for j in range(6):
        block[2, j] += x * block[4, j] - y * block[3, j]


@procedure
def _plus(block: Shaped[6, 6], more: Shaped[6, 6]) -> None:
    for i in range(6):
        for j in range(6):
            block[i, j] += more[i, j]


@procedure
def _minus(block: Shaped[6, 6], less: Shaped[6, 6]) -> None:
    for i in range(6):
        for j in range(6):
            block[i, j] -= less[i, j]
