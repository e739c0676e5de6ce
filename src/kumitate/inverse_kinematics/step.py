"""One step of inverse kinematics: damped least squares in the order of priorities.

The damping is in proportion to the squared error (Sugihara, IEEE Trans. Robotics 27, 2011): steps are short where the target is
far or out of reach, and those of Newton's method near a solution. A goal of lower priority moves within the null space of those
before it (Nakamura, Hanafusa and Yoshikawa 1987). Degrees of freedom at a limit that would move beyond it stay where they are.

The limits of coordinates, and the degrees of freedom that are held at them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..dynamics import solve_symmetric
from ..model import Mechanism, Tree
from ..scalar import Scalar, both, is_zero, maximum, minimum, select

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
        roots = [w**0.5 for w in level.weights]
        within = [[root * _dot(row, column) for column in null] for root, row in zip(roots, level.slopes, strict=True)]  # J N
        left = [root * (e - _dot(row, move)) for root, e, row in zip(roots, level.errors, level.slopes, strict=True)]
        product = _product(within)
        own = _solution(within, product, left, damping * level.squared_error() + LEAST_DAMPING)
        move = [a + _dot(row, own) for a, row in zip(move, null, strict=True)]
        if number + 1 < len(levels):  # with more damping, later levels would take back what this one moves
            taken = [_solution(within, product, column, LEAST_DAMPING) for column in _transposed(within)]
            null = [[null[i][k] - taken[i][k] for i in range(n)] for k in range(n)]
    return move


def _solution(A: Sequence[Sequence[Scalar]], product: list[list[Scalar]], b: Sequence[Scalar], damping: Scalar) -> list[Scalar]:
    """The least squares of A x = b with damping d: Aᵀ (A Aᵀ + d)⁻¹ b = (Aᵀ A + d)⁻¹ Aᵀ b, the form with fewer unknowns."""
    H, across = _plus(product, damping), _transposed(A)
    if len(A) < len(across):
        y = solve_symmetric(H, list(b))
        return [_dot(column, y) for column in across]
    return solve_symmetric(H, [_dot(column, b) for column in across])


def _product(A: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """A Aᵀ if A has fewer rows than columns, else Aᵀ A."""
    vectors = list(A) if len(A) < len(A[0]) else _transposed(A)
    lower = [[_dot(vectors[i], vectors[k]) for k in range(i + 1)] for i in range(len(vectors))]
    return [[lower[max(i, k)][min(i, k)] for k in range(len(vectors))] for i in range(len(vectors))]


def _transposed(A: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    return [list(column) for column in zip(*A, strict=True)]


def _plus(A: Sequence[Sequence[Scalar]], damping: Scalar) -> list[list[Scalar]]:
    """A + damping · 1."""
    return [[entry + damping if i == j else entry for j, entry in enumerate(row)] for i, row in enumerate(A)]


def _dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True) if not (is_zero(x) or is_zero(y))), 0.0)


def limits_of(mechanism: Mechanism) -> tuple[dict[int, float], dict[int, float]]:
    """The lowest and the highest values of coordinates that have limits, by their index in q."""
    low: dict[int, float] = {}
    high: dict[int, float] = {}
    joints = {joint.name: joint for joint in mechanism.joints}
    for link in mechanism.tree.links:
        if link.kind.nq != link.kind.nv:  # quaternions have no limits of their own
            continue
        for k, limit in enumerate(joints[link.name].limits):
            for bounds, value in ((low, limit.lower), (high, limit.upper)):
                if value is not None:
                    bounds[link.q_start + k] = value
    return low, high


def free_at_limits(
    tree: Tree, q: Sequence[Scalar], first: Level, low: dict[int, float], high: dict[int, float]
) -> list[Scalar]:
    """1 for every degree of freedom, 0 for those at a limit that the first priority pulls against."""
    free: list[Scalar] = [1.0] * tree.nv
    for link in tree.links:
        for k in range(link.kind.nv):
            i, column = link.q_start + k, link.v_start + k
            if link.kind.nq != link.kind.nv or (i not in low and i not in high):
                continue
            pull = sum((w * row[column] * e for w, row, e in zip(first.weights, first.slopes, first.errors, strict=True)), 0.0)
            if i in low:
                free[column] = select(both(q[i] <= low[i], pull < 0.0), 0.0, free[column])
            if i in high:
                free[column] = select(both(high[i] <= q[i], pull > 0.0), 0.0, free[column])
    return free


def clipped(q: Sequence[Scalar], low: dict[int, float], high: dict[int, float]) -> list[Scalar]:
    """q with every coordinate within its limits."""
    moved = list(q)
    for i, bound in low.items():
        moved[i] = maximum(moved[i], bound)
    for i, bound in high.items():
        moved[i] = minimum(moved[i], bound)
    return moved
