"""Factors of a sparse matrix of 6 × 6 blocks whose pattern is symmetric, and whose values need not be.

Right-looking block elimination (Duff, Erisman, Reid, Direct Methods for Sparse Matrices, 2nd ed., chapter 10): the pattern
comes from `ordering`, with room for the fill.
"""

from __future__ import annotations

from ....procedure import Floats, Shaped, local, procedure
from ..arrays import BlockFactors


@procedure
def factor(count: int, factors: BlockFactors) -> None:
    """Replaces the blocks of `count` nodes by their factors: `inverse` of the pivots, `lower` times it, and `upper`."""
    for k in range(count):
        invert_block(factors.diagonal[k], factors.inverse[k])
        for e in range(factors.first[k], factors.first[k + 1]):
            times(factors.lower[e], factors.inverse[k])
        for e in range(factors.first[k], factors.first[k + 1]):
            i = factors.later[e]
            subtract_product(factors.diagonal[i], factors.lower[e], factors.upper[e])
            for at in range(factors.first[i], factors.first[i + 1]):
                factors.mark[factors.later[at]] = at
            for f in range(e + 1, factors.first[k + 1]):
                at = factors.mark[factors.later[f]]
                subtract_product(factors.upper[at], factors.lower[e], factors.upper[f])
                subtract_product(factors.lower[at], factors.lower[f], factors.upper[e])


@procedure
def solve_factored(count: int, factors: BlockFactors, x: Floats[6]) -> None:
    """Replaces the right-hand side x of `count` nodes by the solution, of the transpose of the matrix that was factored.

    So a block acts on a vector by its rows times single numbers, several elements at a time.
    """
    for k in range(count):
        x[k] = x[k] @ factors.inverse[k]
        for e in range(factors.first[k], factors.first[k + 1]):
            x[factors.later[e]] -= x[k] @ factors.upper[e]
    for k in range(count - 1, -1, -1):
        for e in range(factors.first[k], factors.first[k + 1]):
            x[k] -= x[factors.later[e]] @ factors.lower[e]


@procedure
def subtract_product(c: Shaped[6, 6], a: Shaped[6, 6], b: Shaped[6, 6]) -> None:
    """c −= a b."""
    for i in range(6):
        for k in range(6):
            c[i] -= a[i, k] * b[k]


@procedure
def largest(row: Shaped[6]) -> float:
    """The largest absolute value."""
    most = 0.0
    for k in range(6):
        most = max(most, abs(row[k]))
    return most


@procedure
def times(a: Shaped[6, 6], b: Shaped[6, 6]) -> None:
    """a = a b."""
    row = local(6)
    for i in range(6):
        row[:] = a[i]
        a[i] = 0.0
        for k in range(6):
            a[i] += row[k] * b[k]


@procedure
def invert_block(a: Shaped[6, 6], inverse: Shaped[6, 6]) -> None:
    """inverse = a⁻¹, by Gauss and Jordan; the pivots are those of an inertia, and need no search."""
    inverse[:] = a
    for k in range(6):
        pivot = 1.0 / inverse[k, k]
        inverse[k, k] = 1.0
        inverse[k] *= pivot
        for i in range(6):
            if i != k:
                factor = inverse[i, k]
                inverse[i, k] = 0.0
                inverse[i] -= factor * inverse[k]
