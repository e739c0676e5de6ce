"""Points on robots' links in the matrix of an island: what they resist couples all rows of velocities that move the links."""

from __future__ import annotations

from ....procedure import Shaped, local, procedure
from ..arrays import BlockFactors, MovingBodies
from .ordering import coupling, units_of

__all__ = ["couple_links"]

#: Parts of velocities below this are rounding.
ROUNDING = 1e-13


@procedure
def couple_links(bodies: MovingBodies, one: int, other: int, stiffness: Shaped[6, 6], factors: BlockFactors) -> None:
    """Adds the stiffness S (6 × 6) of the points of two bodies to the blocks of all units that move them: Rᵀ S R.

    S acts on the twist of A relative to B at the center of A, in the axes of the world; R are the parts of the units in it.
    """
    robots, turned, count = bodies.robots, local(6, 6), _reaches(bodies, one, other, factors)
    for unit in range(count):
        k = robots.reaching[unit]
        _product(stiffness, robots.reach[unit], turned)
        for against in range(count):
            i = robots.reaching[against]
            if i == k:
                _add(factors.diagonal[k], robots.reach[against], turned)
            elif i > k:
                _add(factors.lower[coupling(factors, k, i)], robots.reach[against], turned)
            else:
                _add(factors.upper[coupling(factors, i, k)], robots.reach[against], turned)


@procedure
def _reaches(bodies: MovingBodies, one: int, other: int, factors: BlockFactors) -> int:
    """Lists the nodes of the units that move A relative to B, and `reach` of each; returns how many there are."""
    robots, count = bodies.robots, 0
    a, b = robots.link[one], robots.link[other] if other >= 0 else -1
    same = a >= 0 and b >= 0 and robots.owner[a] == robots.owner[b]
    for side in range(2 if other >= 0 and not same else 1):
        first, units = units_of(robots, one if side == 0 else other)
        for unit in range(units):
            reach = robots.reach[count]
            for i in range(6):
                for k in range(6):
                    reach[i, k] = 0.0
            moved = _add_reach(bodies, one, other, side, unit, reach)
            if same:  # what carries both links moves neither relative to the other
                moved = max(moved, _add_reach(bodies, one, other, 1, unit, reach)) * _moves(reach)
            if moved == 1:
                robots.reaching[count] = factors.node[first + unit]
                count += 1
    return count


@procedure
def _moves(reach: Shaped[6, 6]) -> int:
    """Whether there is more in a block than rounding leaves."""
    most = 0.0
    for i in range(6):
        for k in range(6):
            most = max(most, abs(reach[i, k]))
    return 1 if most > ROUNDING else 0


@procedure
def _add_reach(bodies: MovingBodies, one: int, other: int, side: int, unit: int, reach: Shaped[6, 6]) -> int:
    """reach · v of a unit is its part of the twist of A relative to B at the center of A; returns 0 where it has none."""
    robots, link = bodies.robots, bodies.robots.link[one if side == 0 else other]
    own = local(6, 6)
    if link >= 0:
        at = robots.first_column[link] + unit
        if robots.moves[at] == 0:
            return 0
        for i in range(6):
            for k in range(6):
                own[i, k] = robots.jacobian[at, i, k]
    else:
        for i in range(6):
            own[i, i] = 1.0
    if side == 0:
        for i in range(6):
            for k in range(6):
                reach[i, k] += own[i, k]
        return 1
    x, y = bodies.place[one, 0] - bodies.place[other, 0], bodies.place[one, 1] - bodies.place[other, 1]
    z = bodies.place[one, 2] - bodies.place[other, 2]
    for k in range(6):
        reach[3, k] -= own[1, k] * z - own[2, k] * y
    for k in range(6):
        reach[4, k] -= own[2, k] * x - own[0, k] * z
    for k in range(6):
        reach[5, k] -= own[0, k] * y - own[1, k] * x
    for i in range(6):
        for k in range(6):
            reach[i, k] -= own[i, k]
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
