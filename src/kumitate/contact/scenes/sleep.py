"""Sleep: bodies of an island that have hardly moved for a while keep their place, velocities zero and impulses, until woken."""

from __future__ import annotations

from ...procedure import procedure
from .arrays import Islands, MovingBodies
from .rules import Rules

__all__ = ["asleep", "count_quiet"]

#: A body hardly moves if its velocities are below this [m/s, rad/s].
QUIET = 1e-9


@procedure
def asleep(rules: Rules, island: int, bodies: MovingBodies, islands: Islands) -> int:
    """Whether all bodies of an island sleep; one that is awake, or pushed, wakes the others."""
    if rules.patience == 0:
        return 0
    for at in range(islands.first_body[island], islands.first_body[island + 1]):
        body = islands.bodies[at]
        if bodies.quiet[body] < rules.patience:
            return 0
        for k in range(6):
            if bodies.push[body, k] != 0.0:
                return 0
    return 1


@procedure
def count_quiet(bodies: MovingBodies, body: int, touched: int) -> None:
    """Counts the steps in which a body that something touches has hardly moved."""
    most = 0.0
    for k in range(6):
        most = max(most, abs(bodies.after[body, k]))
    if touched == 1 and most < QUIET:
        bodies.quiet[body] += 1
    else:
        bodies.quiet[body] = 0
