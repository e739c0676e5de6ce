"""One step of inverse kinematics: damped least squares in the order of priorities.

The damping is in proportion to the squared error (Sugihara, IEEE Trans. Robotics 27, 2011): steps are short where the target is
far or out of reach, and those of Newton's method near a solution. A goal of lower priority moves within the null space of those
before it (Nakamura, Hanafusa and Yoshikawa 1987). Degrees of freedom at a limit that would move beyond it stay where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..dynamics import solve_symmetric
from ..scalar import Scalar, is_zero

__all__ = ["Level", "damped_step"]

#: Damping that stays where errors vanish, so that singular postures are left in short steps.
LEAST_DAMPING = 1e-9


class Level(NamedTuple):
    """The goals of one priority: errors, their slopes (errors, nv), and weights."""

    errors: list[Scalar]
    slopes: list[list[Scalar]]
    weights: list[float]

    def squared_error(self) -> Scalar:
        """½ Σ w e²."""
        return sum((0.5 * w * e * e for w, e in zip(self.weights, self.errors, strict=True)), 0.0)


def damped_step(levels: Sequence[Level], free: Sequence[Scalar], damping: Scalar) -> list[Scalar]:
    """The displacement (nv) towards the goals.

    Args:
        levels: by priority, the first first.
        free: 1 for degrees of freedom that may move, 0 for others (nv).
        damping: per squared error.
    """
    n = len(free)
    move: list[Scalar] = [0.0] * n
    null: list[list[Scalar]] = [[free[i] if i == k else 0.0 for i in range(n)] for k in range(n)]
    for number, level in enumerate(levels):
        within = [[_dot(row, column) for column in null] for row in level.slopes]  # J N; N is symmetric
        left = [e - _dot(row, move) for e, row in zip(level.errors, level.slopes, strict=True)]
        product = _weighted_product(within, level.weights)
        H = _plus(product, damping * level.squared_error() + LEAST_DAMPING)
        g = [sum((w * row[k] * e for w, row, e in zip(level.weights, within, left, strict=True)), 0.0) for k in range(n)]
        own = solve_symmetric(H, g)
        move = [a + _dot(row, own) for a, row in zip(move, null, strict=True)]
        if number + 1 < len(levels):
            least = _plus(product, LEAST_DAMPING)  # with more damping, later levels would take back what this one moves
            taken = [solve_symmetric(least, column) for column in product]
            null = [[null[i][k] - taken[i][k] for i in range(n)] for k in range(n)]
    return move


def _weighted_product(rows: Sequence[Sequence[Scalar]], weights: Sequence[float]) -> list[list[Scalar]]:
    """Jᵀ W J (nv, nv)."""
    n = len(rows[0])
    found: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for k in range(i + 1):
            found[i][k] = found[k][i] = sum((w * row[i] * row[k] for w, row in zip(weights, rows, strict=True)), 0.0)
    return found


def _plus(A: Sequence[Sequence[Scalar]], damping: Scalar) -> list[list[Scalar]]:
    """A + damping · 1."""
    return [[entry + damping if i == j else entry for j, entry in enumerate(row)] for i, row in enumerate(A)]


def _dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True) if not (is_zero(x) or is_zero(y))), 0.0)
