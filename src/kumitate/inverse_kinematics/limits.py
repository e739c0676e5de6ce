"""The limits of coordinates, and the degrees of freedom that are held at them."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import Mechanism, Tree
from ..scalar import Scalar, both, maximum, minimum, select
from .step import Level


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
