"""The loops of a robot in a scene: the velocities that keep them closed are a subspace, in which its step is solved.

Velocities with G v = 0 are those that the orthogonal projector P = 1 − G⁺G leaves as they are; of orthonormal rows, 1 − GᵀG.
With the inertia P M P + s (1 − P) and the Jacobians J P in place of M and J, all that impulses change stays in that subspace.
It is what Gauss's principle of least constraint gives: ½ (v − v_free)ᵀ M (v − v_free) is least among all v with G v = 0. So no
solver of contact needs to know of loops, and redundant ones, whose G has dependent rows, are as good as others (Udwadia and
Kalaba 1992).

Rows of G are made orthonormal by the modified Gram-Schmidt process, the longest first (Golub, Van Loan, Matrix Computations,
4th ed., 5.2.8), each once more against all before it, which makes them orthogonal to rounding (Giraud, Langou, Rozložník 2005).
"""

from __future__ import annotations

import math

from ....procedure import Floats, apply_at, local, procedure
from ....procedure.called import later
from ..arrays import MovingBodies, RobotMotions, Robots, Rules
from .links import invert_once, respond

#: Of a row that depends on others, no more than this part of the longest row is left.
DEPENDENT = 1e-9


@later
def find_loops(rules: Rules, bodies: MovingBodies, robot: int) -> None:
    """The rows of G at a state, made orthonormal; efforts at the joints that are equal to those in loops, and axes.

    `undriven` becomes velocities that open loops no more than the motion of their links does by itself, and the inertia and
    impulses of springs and dampers along loops are added, less what that change of `undriven` takes.
    """
    robots, own = bodies.robots, bodies.robots.motions
    first, end = robots.first_row[robot], robots.first_row[robot + 1]
    begin, last, rows = own.first_closed[robot], own.first_closed[robot + 1], end - first
    count, closed = (last - begin) // rows, own.closed[begin:last]
    bends = own.bends[begin : begin + count]
    if own.lasting[robot] > 0:
        if own.lasting[robot] == 1:
            closed[make_orthonormal(closed, count, rows, bends) * rows : last - begin] = 0.0
        own.lasting[robot] = 2
        return
    q, v = own.q[own.first_q[robot] : own.first_q[robot + 1]], own.v[own.first_v[robot] : own.first_v[robot + 1]]
    u, axes = own.u[own.first_u[robot] : own.first_u[robot + 1]], own.axes[own.first_axis[robot] : own.first_axis[robot + 1]]
    block = robots.first_block[robot]
    added, change = robots.mobility[block : block + rows * rows], robots.felt[first:end]
    apply_at(own.programs[robot, 2], (rules.step, q, v, u), (closed, bends, own.along[first:end], axes, added, change))
    M, undriven, falling = own.inertia[block : block + rows * rows], robots.undriven[first:end], own.falling[first:end]
    M[:] += added
    falling[:] += change
    rank = make_orthonormal(closed, count, rows, bends)
    change[:] = 0.0
    for k in range(rank):
        change[:] += bends[k] * closed[k * rows : k * rows + rows]
    undriven[:] += change
    for i in range(rows):
        for j in range(rows):
            for a in range(6):
                falling[i, a] -= M[i * rows + j, a] @ change[j]
    closed[rank * rows : last - begin] = 0.0


@later
def keep_jacobian_closed(robots: Robots, link: int) -> None:
    """Puts J P in place of the Jacobian J of a link."""
    own, robot, at, along = robots.motions, robots.owner[link], robots.first_column[link], local(6)
    rows = robots.first_row[robot + 1] - robots.first_row[robot]
    for k in range((own.first_closed[robot + 1] - own.first_closed[robot]) // rows):
        row = own.first_closed[robot] + k * rows
        along[:] = 0.0
        for i in range(rows):
            along += robots.jacobian[at + i] @ own.closed[row + i]
        for i in range(rows):
            for a in range(6):
                robots.jacobian[at + i, a] -= along[a] * own.closed[row + i]


@later
def keep_efforts_closed(robots: Robots, robot: int, efforts: Floats[6]) -> None:
    """Takes out of efforts along a robot's velocities what would open loops."""
    own, first = robots.motions, robots.first_row[robot]
    rows = robots.first_row[robot + 1] - first
    for k in range((own.first_closed[robot + 1] - own.first_closed[robot]) // rows):
        row, part = own.first_closed[robot] + k * rows, 0.0
        for i in range(rows):
            part += own.closed[row + i] @ efforts[first + i]
        for i in range(rows):
            efforts[first + i] -= part * own.closed[row + i]


@later
def keep_closed(robots: Robots, robot: int) -> None:
    """Puts P M P + s (1 − P) in place of the inertia M, s the mean of M's diagonal; the mobility is without what opens loops.

    At the end of a step loops have moved on: G v is not zero where nothing pushes. `opening` is that part of the velocities
    `undriven`: all but P M⁺ P M of them.
    """
    first, begin, end = robots.first_row[robot], robots.first_block[robot], robots.first_block[robot + 1]
    rows, mean = robots.first_row[robot + 1] - first, 0.0
    M, own, carried = robots.inertia[begin:end], robots.motions, robots.motions.opening[first : first + rows]
    for i in range(rows):
        for a in range(6):
            total = 0.0
            for j in range(rows):
                total -= M[i * rows + j, a] @ robots.undriven[first + j]
            robots.felt[first + i, a] = total
            mean += M[i * rows + i, a, a] / (6.0 * rows)
    for k in range((own.first_closed[robot + 1] - own.first_closed[robot]) // rows):
        at, square = own.first_closed[robot] + k * rows, 0.0
        g = own.closed[at : at + rows]
        carried[:] = 0.0
        for j in range(rows):  # P = 1 − g gᵀ of a row: P M P = M − M g gᵀ + g (gᵀ M g gᵀ − gᵀ M); most have few numbers
            if g[j] @ g[j] > 0.0:
                for i in range(rows):
                    for a in range(6):
                        carried[i, a] += M[i * rows + j, a] @ g[j]
        for i in range(rows):
            square += g[i] @ carried[i]
        for i in range(rows):
            if g[i] @ g[i] > 0.0:
                for j in range(rows):
                    for a in range(6):
                        M[i * rows + j, a] += g[i, a] * (square * g[j] - carried[j])
                        M[j * rows + i, a] -= carried[j, a] * g[i]
    _add_squares(own, robot, M, mean, rows)
    invert_once(robots, robot)
    _add_squares(own, robot, robots.mobility[begin:end], -1.0 / mean, rows)
    carried[:] = robots.undriven[first : first + rows]
    respond(robots, robot, own.opening)


@procedure
def _add_squares(own: RobotMotions, robot: int, A: Floats[6, 6], factor: float, rows: int) -> None:
    """A += factor · (1 − P)."""
    for k in range((own.first_closed[robot + 1] - own.first_closed[robot]) // rows):
        at = own.first_closed[robot] + k * rows
        for i in range(rows):
            for j in range(rows if own.closed[at + i] @ own.closed[at + i] > 0.0 else 0):
                for a in range(6):
                    A[i * rows + j, a] += factor * own.closed[at + i, a] * own.closed[at + j]


@procedure
def make_orthonormal(G: Floats[6], count: int, size: int, b: Floats) -> int:
    """Makes the first rows of G an orthonormal basis of all; returns how many, its rank.

    Args:
        G: `count` rows, each in `size` rows of six.
        b: (count) what G gives of some vector; changed as rows are, so that G⁺ b is the sum of the products of both.
    """
    longest, kept = 0.0, local(6)
    for k in range(count):
        at, most = k, _product(G, k, k, size)
        for row in range(k + 1, count):
            square = _product(G, row, row, size)
            if square > most:
                at, most = row, square
        longest = max(longest, math.sqrt(most))
        if not math.sqrt(most) > DEPENDENT * longest:
            return k
        for i in range(size if at != k else 0):
            kept[:] = G[k * size + i]
            G[k * size + i] = G[at * size + i]
            G[at * size + i] = kept
        b[k], b[at] = b[at], b[k]
        for row in range(k):
            _take_out(G, row, k, size, b)
        length = math.sqrt(_product(G, k, k, size))
        G[k * size : k * size + size] /= length
        b[k] /= length
        for row in range(k + 1, count):
            _take_out(G, k, row, size, b)
    return count


@procedure
def _product(G: Floats[6], one: int, other: int, size: int) -> float:
    """The product of two rows."""
    total = 0.0
    for i in range(size):
        total += G[one * size + i] @ G[other * size + i]
    return total


@procedure
def _take_out(G: Floats[6], along: int, row: int, size: int, b: Floats) -> None:
    """Takes out of a row what it has along another one, of length 1."""
    part = _product(G, along, row, size)
    for i in range(size):
        G[row * size + i] -= part * G[along * size + i]
    b[row] -= part * b[along]
