"""The robots of an island in its matrix of blocks: inertias of joints, points on links, and what the links' twists become.

A point on a link couples all rows of its robot's velocities, as it moves with the link's twist J v. In `effort` a link has a
row of its own, where the pages of points put wrenches on it, and find its change of twist after a solution.
"""

from __future__ import annotations

from ....procedure import Floats, Shaped, local, procedure
from ..arrays import BlockFactors, Island, MovingBodies, Robots
from ..robots import gather, leads, spread
from ..robots.links import is_closed
from ..robots.loops import keep_efforts_closed
from .blocks import solve_factored
from .ordering import coupling, units_of


@procedure
def put_inertia(robots: Robots, row: int, node: int, factors: BlockFactors) -> None:
    """The inertia of a row of velocities, and its couplings with the later rows of its robot."""
    robot = robots.row_owner[row]
    first, rows = robots.first_row[robot], robots.first_row[robot + 1] - robots.first_row[robot]
    for other in range(rows):
        block = robots.inertia[robots.first_block[robot] + (row - first) * rows + other]
        at = factors.node[len(robots.link) + first + other]
        if at == node:
            factors.diagonal[node] = block
        elif at > node:
            factors.upper[coupling(factors, node, at)] = block
        else:
            factors.lower[coupling(factors, at, node)] = block


@procedure
def inertial_row(robots: Robots, row: int, effort: Shaped[6]) -> None:
    """effort = −M (v − v_free) along a row of velocities."""
    robot = robots.row_owner[row]
    first, rows = robots.first_row[robot], robots.first_row[robot + 1] - robots.first_row[robot]
    effort[:] = 0.0
    for other in range(rows):
        block = robots.inertia[robots.first_block[robot] + (row - first) * rows + other]
        change = robots.after[first + other] - robots.free[first + other]
        for i in range(6):
            effort[i] -= block[i] @ change


@procedure
def forget_links(island: Island, effort: Floats[6]) -> None:
    """Sets the efforts of an island's links to zero."""
    factors, robots = island.factors, island.bodies.robots
    if len(robots.body) == 0:
        return
    for body in island.members:
        link = robots.link[body]
        if link >= 0 and robots.given[link] == 1:
            effort[factors.node[body]] = 0.0


@procedure
def solve_twists(island: Island, effort: Floats[6]) -> None:
    """Replaces efforts on the units and links of an island by their changes of velocity."""
    factors, robots = island.factors, island.bodies.robots
    for at in range(len(island.members) if len(robots.body) > 0 else 0):
        if leads(robots, island.members[at]) >= 0:
            _inward(robots, leads(robots, island.members[at]), factors, effort)
    solve_factored(factors.count[0], factors, effort)
    for at in range(len(island.members) if len(robots.body) > 0 else 0):
        if leads(robots, island.members[at]) >= 0:
            _outward(robots, leads(robots, island.members[at]), factors, effort)


@procedure
def _inward(robots: Robots, robot: int, factors: BlockFactors, effort: Floats[6]) -> None:
    """Adds the wrenches on a robot's links to the efforts along its velocities."""
    for link in range(robots.first_link[robot], robots.first_link[robot + 1]):
        robots.screw[link] = 0.0
        if robots.given[link] == 1:
            robots.screw[link] = effort[factors.node[robots.body[link]]]
    robots.felt[robots.first_row[robot] : robots.first_row[robot + 1]] = 0.0
    gather(robots, robot, robots.felt)
    if is_closed(robots, robot):
        keep_efforts_closed(robots, robot, robots.felt)
    for row in range(robots.first_row[robot], robots.first_row[robot + 1]):
        effort[factors.node[len(robots.link) + row]] += robots.felt[row]


@procedure
def _outward(robots: Robots, robot: int, factors: BlockFactors, effort: Floats[6]) -> None:
    """The twists of a robot's links, from its velocities."""
    for row in range(robots.first_row[robot], robots.first_row[robot + 1]):
        robots.felt[row] = effort[factors.node[len(robots.link) + row]]
    spread(robots, robot, robots.felt)
    for link in range(robots.first_link[robot], robots.first_link[robot + 1]):
        if robots.given[link] == 1:
            effort[factors.node[robots.body[link]]] = robots.screw[link]


@procedure
def go_on(island: Island, share: float, changes: Floats[6]) -> None:
    """Adds a share of the changes to all velocities of an island."""
    bodies, factors = island.bodies, island.factors
    for body in island.members:
        link = bodies.robots.link[body]
        if link < 0 or bodies.robots.given[link] == 1:
            bodies.after[body] += share * changes[factors.node[body]]
        if leads(bodies.robots, body) >= 0:
            first, rows = units_of(bodies.robots, body)
            for unit in range(first, first + rows):
                bodies.robots.after[unit - len(bodies.mass)] += share * changes[factors.node[unit]]


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
        turned[:] = stiffness @ robots.reach[unit]
        for against in range(count):
            i = robots.reaching[against]
            if i == k:
                factors.diagonal[k] += robots.reach[against].T @ turned
            elif i > k:
                factors.lower[coupling(factors, k, i)] += robots.reach[against].T @ turned
            else:
                factors.upper[coupling(factors, i, k)] += robots.reach[against].T @ turned


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
            reach[:] = 0.0
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
    robots, link, own = bodies.robots, bodies.robots.link[one if side == 0 else other], local(6, 6)
    if link >= 0:
        if robots.moves[robots.first_column[link] + unit] == 0:
            return 0
        own[:] = robots.jacobian[robots.first_column[link] + unit]
    else:
        for i in range(6):
            own[i, i] = 1.0
    if side == 0:
        reach += own
        return 1
    shift = bodies.place[one] - bodies.place[other]
    reach[3] -= own[1] * shift[2] - own[2] * shift[1]
    reach[4] -= own[2] * shift[0] - own[0] * shift[2]
    reach[5] -= own[0] * shift[1] - own[1] * shift[0]
    reach -= own
    return 1
