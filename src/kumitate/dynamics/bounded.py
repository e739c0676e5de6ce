"""The least of a quadratic function within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..scalar import Scalar, absolute, both, either, loop, maximum, minimum, select
from ..spatial import dot
from .factored import solve_symmetric

#: What is left of the gradient, as part of its first size, and the most rounds to get there; mostly one or two are needed.
_LEFT, _ROUNDS = 1e-9, 60


def least_within(
    H: Sequence[Sequence[Scalar]], c: Sequence[Scalar], low: Sequence[Scalar], high: Sequence[Scalar]
) -> tuple[list[Scalar], list[Scalar]]:
    """The x within bounds of least ½ xᵀ H x − cᵀ x, for a positive definite H, and the gradient H x − c there.

    A round is a sweep of projected Gauss-Seidel, which finds the bounds that matter and never leads away, and a projected
    Newton step of the unknowns that are not pushed against a bound, taken where it is better (Bertsekas 1982).
    """
    n = len(low)

    def cut(i: int, x: Scalar) -> Scalar:
        return minimum(maximum(x, low[i]), high[i])

    def left(x: Sequence[Scalar], g: Sequence[Scalar]) -> Scalar:
        """The largest part of the gradient that is not against a bound."""
        found: Scalar = 0.0
        for i in range(n):
            found = maximum(found, absolute(x[i] - cut(i, x[i] - g[i])))
        return found

    def body(k: Any, carry: tuple[Any, ...]) -> tuple[Any, None]:
        x, g = list(carry[0]), list(carry[1])
        for i in range(n):
            swept = cut(i, x[i] - g[i] / H[i][i])
            g = [own + H[j][i] * (swept - x[i]) for j, own in enumerate(g)]
            x[i] = swept
        pushed = [either(both(x[i] <= low[i], g[i] > 0.0), both(high[i] <= x[i], g[i] < 0.0)) for i in range(n)]
        free = [select(own, 0.0, 1.0) for own in pushed]
        own = [[free[i] * free[j] * H[i][j] + (1.0 - free[i] if i == j else 0.0) for j in range(n)] for i in range(n)]
        way = solve_symmetric(own, [-f * slope for f, slope in zip(free, g, strict=True)])
        move = [cut(i, x[i] + way[i]) - x[i] for i in range(n)]
        turn = [dot(row, move) for row in H]
        better = dot(move, g) + 0.5 * dot(move, turn) < 0.0
        x, g = (
            [select(better, a + d, a) for a, d in zip(part, change, strict=True)] for part, change in ((x, move), (g, turn))
        )
        return (x, g, left(x, g)), None

    start = [cut(i, 0.0) for i in range(n)]
    first = [dot(row, start) - own for row, own in zip(H, c, strict=True)]
    size: Scalar = 1e-12
    for slope in c:
        size = maximum(size, absolute(slope))
    found = loop(_ROUNDS, body, (start, first, left(start, first)), while_=lambda carry: _LEFT * size < carry[2])[0]
    return list(found[0]), list(found[1])
