"""Forward dynamics from an inertia matrix: M v̇ = tau − h, by LDLᵀ, O(n³) (thesis 4.2.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..model import Tree
from ..scalar import Scalar, Scalars, is_zero, table
from .acting import Acting
from .rnea import rnea


def factored(
    mass_matrix: Callable[[Tree, Scalars], list[list[Scalar]]],
    tree: Tree,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    acting: Acting,
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
