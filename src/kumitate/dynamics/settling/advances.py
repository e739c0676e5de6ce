"""By how much the gaps of stops grow in a step of a mechanism with loops, which is not what velocities at its end say.

Coordinates of loop joints are curved functions of those of the tree, and closing the loops after a step moves all of them: a
stop would be missed by some h² v². So the gaps after the step are computed where a stop may be reached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from ...scalar import Scalar, absolute, maximum, minimum, when
from .stops import Stop

#: A stop may be reached if a joint that is faster than all others by this would get there in the step [rad/s or m/s].
FASTER = 1.0


def advances(
    stops: Sequence[Stop], place: Sequence[Scalar], ends: Callable[[], Sequence[Scalar]], after: Sequence[Scalar],
    rates: Sequence[Scalar], h: Scalar,
) -> list[Scalar]:  # fmt: skip
    """By how much the gap of every stop grows in a step, divided by h [rad/s or m/s].

    Args:
        place: the coordinates of all joints before the step; `ends`: the gaps after it, with the loops closed.
        after: the velocities (nv) after it; `rates`: the changes of those of all joints, divided by h.
    """
    gaps = [stop.bound.gap(place) for stop in stops]
    straight = [stop.velocity + h * stop.bound.sign * rates[stop.bound.v] for stop in stops]
    least = reduce(minimum, (gap + h * rate for gap, rate in zip(gaps, straight, strict=True)))
    reach = h * (reduce(maximum, map(absolute, after)) + FASTER)

    def exactly() -> list[Scalar]:
        return [(end - gap) / h for gap, end in zip(gaps, ends(), strict=True)]

    return when(least < reach, exactly, straight)  # type: ignore[no-any-return]
