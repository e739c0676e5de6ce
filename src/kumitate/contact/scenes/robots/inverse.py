"""The inverse of a robot's inertia, in blocks, by Gauss and Jordan; the pivots are those of an inertia, and need no search."""

from __future__ import annotations

from ....procedure import Floats, Shaped, local, procedure
from ..arrays import Robots
from ..solvers.blocks import invert_block, product, subtract_product, times


@procedure
def invert(robots: Robots, robot: int) -> None:
    """mobility = inertia⁻¹ of one robot."""
    begin, end = robots.first_block[robot], robots.first_block[robot + 1]
    rows, A = robots.first_row[robot + 1] - robots.first_row[robot], robots.mobility
    pivot, old = local(6, 6), local(6, 6)
    A[begin:end] = robots.inertia[begin:end]
    for step in range(rows):
        k = rows - 1 - step  # from the tips of branches: blocks of separate branches stay zero until their joint root
        invert_block(A[begin + k * rows + k], pivot)
        for i in range(rows):
            at = begin + i * rows + k
            if i != k and is_zero(A[at]) == 0:
                times(A[at], pivot)
                for j in range(rows):
                    if j != k:
                        subtract_product(A[begin + i * rows + j], A[at], A[begin + k * rows + j])
                A[at] *= -1.0
        for j in range(rows):
            at = begin + k * rows + j
            if j != k:
                old[:] = A[at]
                product(pivot, old, A[at])
        A[begin + k * rows + k] = pivot


@procedure
def invert_once(robots: Robots, robot: int) -> None:
    """`invert`, unless it is done in this pass: where nothing pushes, no inverse is needed."""
    if robots.inverted[robot] == 0:
        robots.inverted[robot] = 1
        invert(robots, robot)


@procedure
def respond(robots: Robots, robot: int, v: Floats[6]) -> None:
    """v += M⁻¹ `felt`."""
    first, rows = robots.first_row[robot], robots.first_row[robot + 1] - robots.first_row[robot]
    for j in range(rows):
        felt, most = robots.felt[first + j], 0.0
        for k in range(6):
            most = max(most, abs(felt[k]))
        if most > 0.0:
            invert_once(robots, robot)
            for i in range(rows):
                block, row = robots.mobility[robots.first_block[robot] + j * rows + i], v[first + i]
                for b in range(6):  # the mobility is symmetric
                    row += block[b] * felt[b]


@procedure
def is_zero(block: Shaped[6, 6]) -> int:
    """1 of a block of zeros, else 0."""
    most = 0.0
    for i in range(6):
        for j in range(6):
            most = max(most, abs(block[i, j]))
    return 1 if most == 0.0 else 0
