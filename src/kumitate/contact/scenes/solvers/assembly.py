"""The matrix M + Jᵀ K J of an island in blocks, one K (3 × 3) per point; and what its points make of a change of velocity."""

from __future__ import annotations

from ....procedure import Floats, Shaped, local, procedure
from ..arrays import BlockFactors, Islands, MovingBodies, ScenePoints, SolverSpace
from ..points import along
from .articulated import couple, forget_links, inertial_row, on_robot, put_inertia, solve_twists
from .laws import add_wrench, onto_cone
from .turning import add_lacks, advance_turns, couple_turns

__all__ = ["advance", "assemble", "change_of", "inertial"]


@procedure
def assemble(
    island: int, bodies: MovingBodies, islands: Islands, points: ScenePoints, factors: BlockFactors, trial: SolverSpace
) -> None:
    """Fills the blocks with the inertias and with the stiffness `trial.K` of the points."""
    _assemble_inertias(bodies, factors)
    if len(points.turns.length) > 0:
        couple_turns(island, bodies.robots, islands, points, factors)
    felt, reach_a, reach_b, turned = local(3, 3), local(3, 6), local(3, 6), local(3, 6)
    for at in range(islands.first_point[island], islands.first_point[island + 1]):
        c = islands.points[at]
        _felt(points.frame[c], trial.K[c], felt)
        if on_robot(bodies.robots, points, c):
            couple(bodies.robots, points, c, felt, factors)
            continue
        a = factors.node[points.body[c, 0]]
        _reach(points.lever_a[c], reach_a)
        _turn(felt, reach_a, turned)
        _add(factors.diagonal[a], reach_a, turned, 1.0)
        if points.body[c, 1] >= 0:
            b, e = factors.node[points.body[c, 1]], points.edge[c]
            _reach(points.lever_b[c], reach_b)
            if a < b:  # turned: felt · reach_a, which belongs in the column of a
                _add(factors.lower[e], reach_b, turned, -1.0)
            else:
                _add(factors.upper[e], reach_b, turned, -1.0)
            _turn(felt, reach_b, turned)
            _add(factors.diagonal[b], reach_b, turned, 1.0)
            if a < b:
                _add(factors.upper[e], reach_a, turned, -1.0)
            else:
                _add(factors.lower[e], reach_a, turned, -1.0)


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
def advance(
    island: int, bodies: MovingBodies, islands: Islands, points: ScenePoints, factors: BlockFactors, trial: SolverSpace
) -> None:
    """New impulses of the points: solves (M + JᵀKJ) dv = Jᵀ(base − λ), then λ' = cone(base − K J dv)."""
    for node in range(factors.count[0]):
        for k in range(6):
            trial.effort[node, k] = 0.0
    forget_links(island, bodies.robots, islands, factors, trial.effort)
    for at in range(islands.first_point[island], islands.first_point[island + 1]):
        c = islands.points[at]
        lack = trial.aim[c]
        for k in range(3):
            lack[k] = trial.base[c, k] - points.impulse[c, k]
        add_wrench(points.frame[c], points.lever_a[c], lack, 1.0, trial.effort[factors.node[points.body[c, 0]]])
        if points.body[c, 1] >= 0:
            add_wrench(points.frame[c], points.lever_b[c], lack, -1.0, trial.effort[factors.node[points.body[c, 1]]])
    if len(points.turns.length) > 0:
        add_lacks(island, islands, points, factors, trial.effort)
    solve_twists(island, bodies.robots, islands, factors, trial.effort)
    for at in range(islands.first_point[island], islands.first_point[island + 1]):
        c = islands.points[at]
        du, new = trial.aim[c], points.impulse[c]
        change_of(points, factors, trial.effort, c, du)
        for k in range(3):
            new[k] = trial.base[c, k] - trial.K[c, k, 0] * du[0] - trial.K[c, k, 1] * du[1] - trial.K[c, k, 2] * du[2]
        onto_cone(new, points.friction[c])
    if len(points.turns.length) > 0:
        advance_turns(island, islands, points, factors, trial)


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
    for k in range(3):
        du[k] = along(points.frame[c, k], points.lever_a[c], changes[factors.node[points.body[c, 0]]])
        if points.body[c, 1] >= 0:
            du[k] -= along(points.frame[c, k], points.lever_b[c], changes[factors.node[points.body[c, 1]]])


@procedure
def _clear(block: Shaped[6, 6]) -> None:
    for i in range(6):
        for j in range(6):
            block[i, j] = 0.0


@procedure
def _felt(frame: Shaped[3, 3], K: Shaped[3, 3], felt: Shaped[3, 3]) -> None:
    """felt = frameᵀ K frame: the stiffness in the axes of the world."""
    half = local(3, 3)
    for i in range(3):
        for j in range(3):
            half[i, j] = K[i, 0] * frame[0, j] + K[i, 1] * frame[1, j] + K[i, 2] * frame[2, j]
    for i in range(3):
        for j in range(3):
            felt[i, j] = frame[0, i] * half[0, j] + frame[1, i] * half[1, j] + frame[2, i] * half[2, j]


@procedure
def _reach(lever: Shaped[3], reach: Shaped[3, 6]) -> None:
    """reach · [ω; v] is the velocity at a lever: v + ω × lever."""
    for i in range(3):
        for j in range(6):
            reach[i, j] = 0.0
        reach[i, 3 + i] = 1.0
    reach[0, 1] = lever[2]
    reach[0, 2] = -lever[1]
    reach[1, 0] = -lever[2]
    reach[1, 2] = lever[0]
    reach[2, 0] = lever[1]
    reach[2, 1] = -lever[0]


@procedure
def _turn(felt: Shaped[3, 3], reach: Shaped[3, 6], turned: Shaped[3, 6]) -> None:
    """turned = felt · reach."""
    for i in range(3):
        for j in range(6):
            turned[i, j] = felt[i, 0] * reach[0, j] + felt[i, 1] * reach[1, j] + felt[i, 2] * reach[2, j]


@procedure
def _add(block: Shaped[6, 6], reach: Shaped[3, 6], turned: Shaped[3, 6], share: float) -> None:
    """block += share · reachᵀ turned."""
    for k in range(3):
        for i in range(6):
            factor = share * reach[k, i]
            if factor != 0.0:
                for j in range(6):
                    block[i, j] += factor * turned[k, j]
