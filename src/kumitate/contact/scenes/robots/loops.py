"""The loops of a robot in a scene: the velocities that keep them closed are a subspace, in which its step is solved.

Velocities with G v = 0 are those that the orthogonal projector P = 1 − G⁺G leaves as they are. With the inertia
P M P + s (1 − P) and the Jacobians J P in place of M and J, all that impulses change stays in that subspace. It is what
Gauss's principle of least constraint gives: ½ (v − v_free)ᵀ M (v − v_free) is least among all v with G v = 0. So no solver of
contact needs to know of loops, and redundant ones, whose G has dependent rows, are as good as others (Udwadia, Kalaba 1992).
"""

from __future__ import annotations

from ....procedure import Floats, apply_at, procedure
from ..arrays import MovingBodies, Robots, Rules
from .inverse import is_zero, respond
from .links import write_jacobian
from .null_space import project_to_null_space


@procedure
def find_loops(rules: Rules, bodies: MovingBodies, robot: int) -> None:
    """The projector at a state, efforts at the joints that are equal to those in loops, axes, and J P in place of J."""
    robots, own = bodies.robots, bodies.robots.motions
    first, end = robots.first_row[robot], robots.first_row[robot + 1]
    begin, last, rows = own.first_closed[robot], own.first_closed[robot + 1], end - first
    axes = own.axes[own.first_axis[robot] : own.first_axis[robot + 1]]
    apply_at(
        own.programs[robot, 5],
        (
            rules.step,
            own.q[own.first_q[robot] : own.first_q[robot + 1]],
            own.v[own.first_v[robot] : own.first_v[robot + 1]],
            own.u[own.first_u[robot] : own.first_u[robot + 1]],
        ),
        (own.closed[begin:last], own.along[first:end], axes),
    )
    block = robots.first_block[robot]
    P, space = own.stay[block : block + rows * rows], robots.mobility[block : block + rows]
    project_to_null_space(own.closed[begin:last], (last - begin) // rows, rows, P)
    for link in range(robots.first_link[robot], robots.first_link[robot + 1]):
        at = robots.first_column[link]
        write_jacobian(bodies, link)
        for k in range(rows):
            for i in range(6):
                for j in range(6):
                    space[k, i, j] = robots.jacobian[at + k, i, j]
        _multiply(space, P, robots.jacobian[at : at + rows], 1, rows)


@procedure
def keep_closed(robots: Robots, robot: int) -> float:
    """Puts P M P + s (1 − P) in place of the inertia M; returns s, the mean of M's diagonal.

    `felt` is −M times the velocities `undriven`, for `keep_responses_closed`.
    """
    first, begin, end = robots.first_row[robot], robots.first_block[robot], robots.first_block[robot + 1]
    rows, mean = robots.first_row[robot + 1] - first, 0.0
    M, P, half = robots.inertia[begin:end], robots.motions.stay[begin:end], robots.mobility[begin:end]
    for i in range(rows):
        for a in range(6):
            total = 0.0
            for j in range(rows):
                for b in range(6):
                    total -= M[i * rows + j, a, b] * robots.undriven[first + j, b]
            robots.felt[first + i, a] = total
            mean += M[i * rows + i, a, a] / (6.0 * rows)
    _multiply(M, P, half, rows, rows)
    _multiply(P, half, M, rows, rows)
    _add_rest(M, P, mean, rows)
    return mean


@procedure
def keep_responses_closed(robots: Robots, robot: int, mean: float) -> None:
    """Takes what opens loops out of the mobility, which is that of P M P + `mean` · (1 − P); what it takes out of a step.

    At the end of a step loops have moved on: G v is not zero where nothing pushes. `opening` is that part of the velocities
    `undriven`: all but P M⁺ P M of them.
    """
    first, begin, end = robots.first_row[robot], robots.first_block[robot], robots.first_block[robot + 1]
    rows = robots.first_row[robot + 1] - first
    _add_rest(robots.mobility[begin:end], robots.motions.stay[begin:end], -1.0 / mean, rows)
    for row in range(first, first + rows):
        for k in range(6):
            robots.motions.opening[row, k] = robots.undriven[row, k]
    respond(robots, robot, robots.motions.opening)


@procedure
def _add_rest(A: Floats[6, 6], P: Floats[6, 6], factor: float, rows: int) -> None:
    """A += factor · (1 − P)."""
    for i in range(rows):
        for j in range(rows):
            at = i * rows + j
            for a in range(6):
                for b in range(6):
                    A[at, a, b] -= factor * P[at, a, b]
        for a in range(6):
            A[i * rows + i, a, a] += factor


@procedure
def _multiply(A: Floats[6, 6], B: Floats[6, 6], C: Floats[6, 6], height: int, rows: int) -> None:
    """C = A B, A and C of blocks (height, rows), B of (rows, rows)."""
    for i in range(height):
        for j in range(rows):
            for a in range(6):
                for b in range(6):
                    C[i * rows + j, a, b] = 0.0
        for k in range(rows):
            if is_zero(A[i * rows + k]) == 0:
                for j in range(rows):
                    left, right, out = A[i * rows + k], B[k * rows + j], C[i * rows + j]
                    for a in range(6):
                        for c in range(6):
                            factor = left[a, c]
                            for b in range(6):
                                out[a, b] += factor * right[c, b]
