"""Torsional and rolling friction in a Newton step: in the matrix of blocks and after its solution."""

from __future__ import annotations

from ....procedure import Floats, Shaped, local, procedure
from ..arrays import BlockFactors, Island, Robots, ScenePoints
from ..turns import add_moment, onto_limits
from .articulated import add_block, reach_of_unit
from .ordering import units_of


@procedure
def couple_turns(island: Island) -> None:
    """Adds the stiffness of all moments of an island, transposed, to its blocks."""
    points, factors, robots = island.points, island.factors, island.bodies.robots
    for at in range(len(island.listed)):
        _couple(robots, points, island.listed[at], factors)


@procedure
def _couple(robots: Robots, points: ScenePoints, c: int, factors: BlockFactors) -> None:
    """Adds that of a point's moments to the blocks of all units that it touches."""
    spin, reach, other, turned = local(3, 6), local(3, 6), local(3, 6), local(3, 6)
    frame, K, push, long = points.frame[c], points.turns.K[c], points.turns.push[c], points.turns.length[c]
    for side in range(2 if points.body[c, 1] >= 0 else 1):
        begin, count = units_of(robots, points.body[c, side])
        for unit in range(count):
            _spin(robots, points, c, side, unit, spin)
            reach_of_unit(robots, points, c, side, unit, reach)
            for k in range(6):
                normal = frame[0, 0] * reach[0, k] + frame[0, 1] * reach[1, k] + frame[0, 2] * reach[2, k]
                for i in range(3):
                    turned[i, k] = (
                        long * (K[i, 0] * spin[0, k] + K[i, 1] * spin[1, k] + K[i, 2] * spin[2, k]) + push[i] * normal
                    )
            for against in range(2 if points.body[c, 1] >= 0 else 1):
                first, most = units_of(robots, points.body[c, against])
                for at in range(most):
                    _spin(robots, points, c, against, at, other)
                    for i in range(3):
                        for k in range(6):
                            other[i, k] *= long
                    add_block(factors, factors.node[begin + unit], factors.node[first + at], turned, other)


@procedure
def _spin(robots: Robots, points: ScenePoints, c: int, side: int, unit: int, spin: Shaped[3, 6]) -> None:
    """spin · v of a unit is its part of the angular velocity of A relative to B, along the axes of a point."""
    link, sign = robots.link[points.body[c, side]], 1.0 if side == 0 else -1.0
    for i in range(3):
        axis = points.frame[c, i]
        for k in range(6):
            spin[i, k] = 0.0
        if link >= 0:
            J = robots.jacobian[robots.first_column[link] + unit]
            for k in range(6):
                spin[i, k] = sign * (axis[0] * J[0, k] + axis[1] * J[1, k] + axis[2] * J[2, k])
        else:
            for k in range(3):
                spin[i, k] = sign * axis[k]


@procedure
def add_lacks(island: Island, effort: Floats[6]) -> None:
    """Adds to the efforts what the moments of an island lack."""
    points, factors = island.points, island.factors
    lack = local(3)
    for at in range(len(island.listed)):
        c = island.listed[at]
        for k in range(3):
            lack[k] = points.turns.base[c, k] - points.turns.impulse[c, k]
        add_moment(points, c, lack, 1.0, effort[factors.node[points.body[c, 0]]])
        if points.body[c, 1] >= 0:
            add_moment(points, c, lack, -1.0, effort[factors.node[points.body[c, 1]]])


@procedure
def advance_turns(island: Island) -> None:
    """The moments of an island after a solution; `trial.aim` has the changes of the points' velocities."""
    points, factors, trial = island.points, island.factors, island.trial
    for at in range(len(island.listed)):
        _advance(points, island.listed[at], factors, trial.effort, trial.aim[island.listed[at], 0])


@procedure
def _advance(points: ScenePoints, c: int, factors: BlockFactors, changes: Floats[6], dn: float) -> None:
    """The moments of a point after changes of the nodes' twists, by which its normal velocity changes by dn."""
    turns, d, K = points.turns, local(3), points.turns.K[c]
    for k in range(3):
        axis, node = points.frame[c, k], factors.node[points.body[c, 0]]
        about = axis[0] * changes[node, 0] + axis[1] * changes[node, 1] + axis[2] * changes[node, 2]
        if points.body[c, 1] >= 0:
            node = factors.node[points.body[c, 1]]
            about -= axis[0] * changes[node, 0] + axis[1] * changes[node, 1] + axis[2] * changes[node, 2]
        d[k] = turns.length[c] * about
    for k in range(3):
        turns.impulse[c, k] = turns.base[c, k] - K[k, 0] * d[0] - K[k, 1] * d[1] - K[k, 2] * d[2] - turns.push[c, k] * dn
    onto_limits(points, c, turns.impulse[c])
