"""The orthogonal projector P onto the vectors x with G x = 0: P = 1 − G⁺ G, also where rows of G depend on others.

Rows of G are made orthonormal by the modified Gram-Schmidt process, the longest first (Golub, Van Loan, Matrix Computations,
4th ed., 5.2.8), each once more against all before it, which makes them orthogonal to rounding (Giraud, Langou, Rozložník 2005).
"""

from __future__ import annotations

import math

from ....procedure import Floats, Shaped, procedure

#: Of a row that depends on others, no more than this part of the longest row is left.
DEPENDENT = 1e-9


@procedure
def project_to_null_space(G: Floats[6], count: int, size: int, P: Floats[6, 6]) -> int:
    """Writes P in blocks (size, size); returns the rank of G, as many of whose rows are orthonormal afterwards.

    Args:
        G: `count` rows, each in `size` rows of six, which are overwritten.
    """
    rank = _orthonormal(G, count, size)
    for i in range(size):
        for j in range(size):
            block = P[i * size + j]
            for a in range(6):
                for b in range(6):
                    block[a, b] = 1.0 if i == j and a == b else 0.0
            for k in range(rank):
                left, right = G[k * size + i], G[k * size + j]
                for a in range(6):
                    factor = left[a]
                    for b in range(6):
                        block[a, b] -= factor * right[b]
    return rank


@procedure
def _orthonormal(G: Floats[6], count: int, size: int) -> int:
    """Makes the first rows orthonormal; returns how many, the others depend on them."""
    longest = 0.0
    for k in range(count):
        at, most = k, _product(G, k, k, size)
        for row in range(k + 1, count):
            square = _product(G, row, row, size)
            if square > most:
                at, most = row, square
        longest = max(longest, math.sqrt(most))
        if not math.sqrt(most) > DEPENDENT * longest:
            return k
        _swap(G, k, at, size)
        for row in range(k):
            _take_out(G, row, k, size)
        length = math.sqrt(_product(G, k, k, size))
        for i in range(size):
            for a in range(6):
                G[k * size + i, a] /= length
        for row in range(k + 1, count):
            _take_out(G, k, row, size)
    return count


@procedure
def _product(G: Floats[6], one: int, other: int, size: int) -> float:
    """The product of two rows."""
    total = 0.0
    for i in range(size):
        total += _inner(G[one * size + i], G[other * size + i])
    return total


@procedure
def _inner(x: Shaped[6], y: Shaped[6]) -> float:
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3] + x[4] * y[4] + x[5] * y[5]


@procedure
def _take_out(G: Floats[6], along: int, row: int, size: int) -> None:
    """Takes out of a row what it has along another one, of length 1."""
    part = _product(G, along, row, size)
    for i in range(size):
        for a in range(6):
            G[row * size + i, a] -= part * G[along * size + i, a]


@procedure
def _swap(G: Floats[6], one: int, other: int, size: int) -> None:
    if one != other:
        for i in range(size):
            for a in range(6):
                kept = G[one * size + i, a]
                G[one * size + i, a] = G[other * size + i, a]
                G[other * size + i, a] = kept
