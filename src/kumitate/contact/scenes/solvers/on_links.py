"""Points on robots' links in the matrix of an island: what they resist couples all rows of velocities that move the links."""

from __future__ import annotations

from ....procedure import Shaped, local, procedure
from ..arrays import BlockFactors, MovingBodies
from .ordering import coupling, units_of

__all__ = ["couple_links"]


@procedure
def couple_links(bodies: MovingBodies, one: int, other: int, stiffness: Shaped[6, 6], factors: BlockFactors) -> None:
    """Adds the stiffness S (6 × 6) of the points of two bodies to the blocks of all units that move them: Rᵀ S R.

    S acts on the twist of A relative to B at the center of A, in the axes of the world; R are the parts of the units in it.
    """
    reach, against, turned, sides = local(6, 6), local(6, 6), local(6, 6), 2 if other >= 0 else 1
    for side in range(sides):
        first, units = units_of(bodies.robots, one if side == 0 else other)
        for unit in range(units):
            if _reach(bodies, one, other, side, unit, reach) == 0:
                continue
            _product(stiffness, reach, turned)
            k = factors.node[first + unit]
            for facing in range(sides):
                begin, most = units_of(bodies.robots, one if facing == 0 else other)
                for at in range(most):
                    if _reach(bodies, one, other, facing, at, against) == 1:
                        i = factors.node[begin + at]
                        if i == k:
                            _add(factors.diagonal[k], against, turned)
                        elif i > k:
                            _add(factors.lower[coupling(factors, k, i)], against, turned)
                        else:
                            _add(factors.upper[coupling(factors, i, k)], against, turned)


@procedure
def _reach(bodies: MovingBodies, one: int, other: int, side: int, unit: int, reach: Shaped[6, 6]) -> int:
    """reach · v of a unit is its part of the twist of A relative to B at the center of A; returns 0 where it has none."""
    robots, body = bodies.robots, one if side == 0 else other
    link = robots.link[body]
    if link >= 0:
        at = robots.first_column[link] + unit
        if robots.moves[at] == 0:
            return 0
        J = robots.jacobian[at]
        for i in range(6):
            for k in range(6):
                reach[i, k] = J[i, k]
    else:
        for i in range(6):
            for k in range(6):
                reach[i, k] = 0.0
            reach[i, i] = 1.0
    if side == 1:
        x, y = bodies.place[one, 0] - bodies.place[other, 0], bodies.place[one, 1] - bodies.place[other, 1]
        z = bodies.place[one, 2] - bodies.place[other, 2]
        for k in range(6):
            reach[3, k] = -reach[3, k] - reach[1, k] * z + reach[2, k] * y
        for k in range(6):
            reach[4, k] = -reach[4, k] - reach[2, k] * x + reach[0, k] * z
        for k in range(6):
            reach[5, k] = -reach[5, k] - reach[0, k] * y + reach[1, k] * x
        for i in range(3):
            for k in range(6):
                reach[i, k] = -reach[i, k]
    return 1


@procedure
def _product(a: Shaped[6, 6], b: Shaped[6, 6], c: Shaped[6, 6]) -> None:
    """c = a b."""
    for i in range(6):
        for j in range(6):
            c[i, j] = 0.0
        for k in range(6):
            factor = a[i, k]
            for j in range(6):
                c[i, j] += factor * b[k, j]


@procedure
def _add(block: Shaped[6, 6], reach: Shaped[6, 6], turned: Shaped[6, 6]) -> None:
    """block += reachᵀ turned."""
    for i in range(6):
        for k in range(6):
            factor = reach[k, i]
            for j in range(6):
                block[i, j] += factor * turned[k, j]
