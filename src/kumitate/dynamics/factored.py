"""Forward dynamics from an inertia matrix: M v̇ = tau − h, by LDLᵀ, O(n³) (thesis 4.2.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..model import Tree
from ..scalar import Scalar, Scalars, absolute, both, either, equal, is_zero, loop, maximum, minimum, select, table
from ..spatial import dot
from .acting import Acting
from .rnea import rnea


def factored(
    mass_matrix: Callable[[Tree, Scalars], list[list[Scalar]]], tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting
) -> list[Scalar]:
    """The joint accelerations v̇ (nv) from the inertia matrix that `mass_matrix` computes; other arguments as for `aba`."""
    acting.at_an_instant("factored")
    bias = rnea(tree, q, v, table([0.0] * tree.nv), gravity=acting.gravity, wrenches=acting.wrenches)  # h of N (32), at v̇ = 0
    return solve_symmetric(mass_matrix(tree, q), [t - h for t, h in zip(tau, bias, strict=True)])


def solve_symmetric(M: Sequence[Scalars], right: Scalars) -> list[Scalar]:
    """The x of M x = right for a positive definite M, eliminated from the last row up, which makes no fill-in for trees."""
    n = len(right)
    L = [list(row) for row in M]
    inverse: list[Scalar] = [0.0] * n
    x = list(right)
    for k in reversed(range(n)):
        inverse[k] = 1.0 / L[k][k]
        for i in reversed(range(k)):  # each row before it is overwritten
            if is_zero(L[k][i]):
                continue
            factor = L[k][i] * inverse[k]
            for j in range(i + 1):
                L[i][j] = L[i][j] - factor * L[k][j]
            x[i] = x[i] - factor * x[k]
            L[k][i] = factor
    for k in range(n):
        x[k] = x[k] * inverse[k]
        for i in range(k):
            x[k] = x[k] - L[k][i] * x[i]
    return x


# --- within bounds --------------------------------------------------------------------------------------------------------
#: What is left of the gradient, as part of its first size, and the most rounds to get there; mostly one or two are needed.
_LEFT, _ROUNDS = 1e-9, 60


def least_within(
    H: Sequence[Scalars], c: Scalars, low: Scalars, high: Scalars,
    size: Scalar | None = None,
) -> tuple[list[Scalar], list[Scalar]]:  # fmt: skip
    """The x within bounds of least ½ xᵀ H x − cᵀ x, for a positive definite H, and the gradient H x − c there.

    `size`: of the gradient, of which a small part is left at most; by default the largest part of c.

    A round is a sweep of projected Gauss-Seidel, which finds the bounds that matter and never leads away, and a projected
    Newton step of the unknowns that are not pushed against a bound, taken where it is better (Bertsekas 1982); elsewhere a
    step of an active-set method (Nocedal and Wright, Numerical Optimization, section 16.5).
    """
    n = len(low)

    def cut(i: int, x: Scalar) -> Scalar:
        return minimum(maximum(x, low[i]), high[i])

    def left(x: Scalars, g: Scalars) -> Scalar:
        """The largest part of the gradient that is not against a bound."""
        return largest([x[i] - cut(i, x[i] - g[i]) for i in range(n)], 0.0)

    def body(k: Any, carry: tuple[Any, ...]) -> tuple[Any, None]:
        x, g, held = list(carry[0]), list(carry[1]), [one > 0.5 for one in carry[3]]
        for i in range(n):
            swept = select(held[i], x[i], cut(i, x[i] - g[i] / H[i][i]))
            g = [own + H[j][i] * (swept - x[i]) for j, own in enumerate(g)]
            x[i] = swept
        pushed = [either(both(x[i] <= low[i], g[i] > 0.0), both(high[i] <= x[i], g[i] < 0.0)) for i in range(n)]
        free = [select(either(*pair), 0.0, 1.0) for pair in zip(pushed, held, strict=True)]
        own = [[free[i] * free[j] * H[i][j] + (1.0 - free[i] if i == j else 0.0) for j in range(n)] for i in range(n)]
        way = solve_symmetric(own, [-f * slope for f, slope in zip(free, g, strict=True)])
        whole = [cut(i, x[i] + way[i]) - x[i] for i in range(n)]
        better = dot(whole, g) + 0.5 * dot(whole, [dot(row, whole) for row in H]) < 0.0
        # where it is not, only as far as the first bound, which then holds until there is none on the way
        left_over = [select(step > 0.0, high[i], low[i]) - x[i] for i, step in enumerate(way)]
        still = [equal(step, 0.0) for step in way]
        parts = [select(no, 2.0, end / select(no, 1.0, step)) for no, end, step in zip(still, left_over, way, strict=True)]
        share: Scalar = 1.0
        for part in parts:
            share = minimum(share, part)
        move = [
            select(better, step, select(part <= share, end, share * more))
            for step, part, end, more in zip(whole, parts, left_over, way, strict=True)
        ]
        x = [a + d for a, d in zip(x, move, strict=True)]
        g = [a + dot(row, move) for a, row in zip(g, H, strict=True)]
        done = either(better, share >= 1.0)
        kept = [select(done, 0.0, select(either(part <= share, one), 1.0, 0.0)) for part, one in zip(parts, held, strict=True)]
        return (x, g, left(x, g), kept), None

    start = [cut(i, 0.0) for i in range(n)]
    first = [dot(row, start) - own for row, own in zip(H, c, strict=True)]
    if size is None:
        size = largest(c)
    found = loop(_ROUNDS, body, (start, first, left(start, first), [0.0] * n), while_=lambda carry: _LEFT * size < carry[2])[0]
    return list(found[0]), list(found[1])


def largest(c: Scalars, least: float = 1e-12) -> Scalar:
    """The largest of these absolute values, at least `least`."""
    found: Scalar = least
    for x in c:
        found = maximum(found, absolute(x))
    return found
