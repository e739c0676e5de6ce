"""The efforts of drives and stops in a pass of a step, and the inertias that reduce them: at joints, and in driven loops.

A degree of freedom of a loop moves at the rate a · v, a being its axis. An effort e − R a · v̇ in it is (e − R a · v̇) a at the
joints.
"""

from __future__ import annotations

from ....procedure import procedure
from ..arrays import Robots
from ..rules import Rules

__all__ = ["push", "resist"]


@procedure
def resist(robots: Robots, robot: int) -> None:
    """The inertia with those of drives and stops."""
    own, begin = robots.motions, robots.first_block[robot]
    rows = robots.first_row[robot + 1] - robots.first_row[robot]
    for at in range(begin, robots.first_block[robot + 1]):
        for i in range(6):
            for j in range(6):
                robots.inertia[at, i, j] = own.inertia[at, i, j]
    first = own.first_freedom[robot]
    for k in range(min(6 * rows, own.first_freedom[robot + 1] - first)):
        robots.inertia[begin + k // 6 * (rows + 1), k % 6, k % 6] += own.resisting[first + k]
    for k in range(first + 6 * rows, own.first_freedom[robot + 1]):
        if own.resisting[k] > 0.0:
            axis = own.axes[own.first_axis[robot] + (k - first - 6 * rows) * rows : own.first_axis[robot + 1]]
            for i in range(rows):
                for j in range(rows):
                    for a in range(6):
                        factor = own.resisting[k] * axis[i, a]
                        for b in range(6):
                            robots.inertia[begin + i * rows + j, a, b] += factor * axis[j, b]


@procedure
def push(rules: Rules, robots: Robots, robot: int) -> None:
    """Adds the impulses of drives and stops to `felt`.

    What resists changes of velocity by R also resists that of the step without it.
    """
    own, first, row = robots.motions, robots.motions.first_freedom[robot], robots.first_row[robot]
    rows = robots.first_row[robot + 1] - row
    for k in range(6 * rows):
        at, change = first + k, own.carried[first + k] - robots.undriven[row + k // 6, k % 6]
        robots.felt[row + k // 6, k % 6] += rules.step * own.driving[at] + own.resisting[at] * change
    for k in range(first + 6 * rows, own.first_freedom[robot + 1]):
        axis = own.axes[own.first_axis[robot] + (k - first - 6 * rows) * rows : own.first_axis[robot + 1]]
        change = own.carried[k]
        for i in range(rows):
            for a in range(6):
                change -= axis[i, a] * robots.undriven[row + i, a]
        impulse = rules.step * own.driving[k] + own.resisting[k] * change
        for i in range(rows):
            for a in range(6):
                robots.felt[row + i, a] += impulse * axis[i, a]
