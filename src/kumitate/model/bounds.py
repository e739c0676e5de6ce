"""Position limits of joints, coordinate by coordinate, and where joints, limits and drives stand among q and v."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice
from math import cos, inf, pi, sin, tau
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..scalar import Scalar, Scalars, absolute, minimum, select
from .elements import Joint, Limits, Loop, in_order
from .joints import JointKind

if TYPE_CHECKING:
    from .mechanism import Mechanism

#: The ranges of angles of loop joints are at least this much narrower than a turn [rad]: a step may end so far outside.
_ROOM = 0.2
#: Angles are near a limit within this, and known well enough by their cosines in ranges wider than twice that [rad].
_NEAR, _NARROW = 1e-6, 1e-3


@dataclass(frozen=True)
class Bound:
    """One limit of a coordinate.

    Attributes:
        name: of the degree of freedom.
        q, v: its indices among the coordinates and velocities of all joints, those of loop joints last, as of `Driven`.
        sign: 1.0 if the coordinate stays above `at`, −1.0 if it stays below [rad or m].
        middle: of the range of an angle that is only known up to whole turns: the nearest of these angles counts [rad]. None
            for other coordinates.
    """

    name: str
    q: int
    v: int
    sign: float
    at: float
    middle: float | None = None

    def gap(self, q: Sequence[Any]) -> Any:
        """How far the coordinate, one of `q` of all joints, is within the limit [rad or m]; negative outside."""
        if self.middle is None:
            return self.sign * (q[self.q] - self.at)
        turns = tau * round(self.middle / tau)
        away = q[self.q] - (self.middle - turns)  # between −2π and 2π, as the angle is between −π and π
        away = select(away > pi, away - tau, select(away < -pi, away + tau, away))
        return self.sign * (away + (self.middle - self.at))

    def near(self, q: Sequence[Any], facing: Mapping[int, tuple[Any, Any]]) -> Any:
        """Whether a coordinate is near its limit or beyond it; False is certain. Its sine and cosine in `facing` are enough.

        The cosine of an angle about the middle of its range is then below that of the limit.
        """
        room = 0.0 if self.middle is None else abs(self.at - self.middle)
        if self.q not in facing or self.middle is None or room < _NARROW:
            return self.gap(q) < 0.0
        sine, cosine = facing[self.q]
        inside = cosine * cos(self.middle) + sine * sin(self.middle)
        least = cos(room - _NEAR)
        return inside * absolute(inside) < (cosine * cosine + sine * sine) * (least * abs(least))


def bounds_of(mechanism: Mechanism) -> list[Bound]:
    """The position limits at which joints stop: of those of the tree, and of loop joints and lines (`loop_bounds`).

    They are those of joints whose velocities are the rates of their coordinates.
    """
    items: tuple[Joint | Loop, ...] = (*mechanism.joints, *mechanism.loops)
    return [
        replace(bound, q=q + bound.q, v=v + bound.v)
        for item, q, v in in_order(items)
        for bound in (loop_bounds(item) if isinstance(item, Loop) else _bounds(item))
    ]


def loop_bounds(loop: Loop) -> list[Bound]:
    """The position limits at which a loop joint or line stops, with indices among its own coordinates.

    Its angles are only known up to whole turns. They stop where their range is narrower than a turn; a limit without one on
    the other side counts as the end of half a turn.
    """
    found = []
    for bound in _bounds(loop):
        if bound.q not in loop.kind.angles:
            found.append(bound)
            continue
        ends = dict(_ends(loop.limits[bound.q]))
        lower, upper = ends.get(1.0, bound.at - pi), ends.get(-1.0, bound.at + pi)
        if upper - lower < tau - _ROOM:
            found.append(replace(bound, middle=0.5 * (lower + upper)))
    return found


def position_limits(mechanism: Mechanism) -> Iterator[tuple[int, int, float, float]]:
    """For coordinates of joints without quaternions: the index in q, that in v, and the range, infinite where it has no end."""
    for joint, kind, q, v in joint_columns(mechanism):
        for k, limit in enumerate(joint.limits if kind.nq == kind.nv else ()):
            yield q.start + k, v.start + k, *limit.range


def limits_text(limits: Sequence[Limits]) -> str:
    """Position limits of a joint as text; "" where there are none.

    >>> limits_text([Limits(lower=-1.5)])
    '-1.5 … ∞'
    """
    spans = [f"{low:.4g} … {high:.4g}" for low, high in (limit.range for limit in limits)]
    text = "; ".join(spans).replace("-inf", "−∞").replace("inf", "∞")
    return text if set(spans) - {"-inf … inf"} else ""


def in_loops(mechanism: Mechanism, bounds: Sequence[Bound]) -> bool:
    """Whether some of these limits are of loop joints or lines."""
    return any(bound.v >= mechanism.nv for bound in bounds)


def _bounds(item: Joint | Loop) -> Iterator[Bound]:
    kind = item.kind
    own = (type(kind).rate, type(kind).integrate) if isinstance(kind, JointKind) else ()
    if own and own != (JointKind.rate, JointKind.integrate):  # velocities are not the rates of coordinates: quaternions
        return
    for k, limit in enumerate(item.limits):
        name = f"{item.name}.{kind.velocities[k]}" if isinstance(kind, JointKind) and kind.nv > 1 else item.name
        for sign, at in _ends(limit):
            yield Bound(name, k, k, sign, at)


def _ends(limits: Limits) -> Iterator[tuple[float, float]]:
    """The sign and the place of every finite position limit."""
    for sign, at in ((1.0, limits.lower), (-1.0, limits.upper)):
        if at is not None and abs(at) < inf:
            yield sign, at


def at_stops(bounds: Sequence[Bound], q: np.ndarray, within: float) -> np.ndarray:
    """Of each row of coordinates (n, nq) of the tree, whether a limit among these is nearer than a distance [rad or m]."""
    near, columns = np.zeros(len(q), dtype=bool), list(q.T)
    for bound in (bound for bound in bounds if bound.q < len(columns)):
        near |= bound.gap(columns) < within
    return near


def least_gap(bounds: Sequence[Bound], q: Scalars) -> Scalar:
    """The smallest gap of any limit at q, the coordinates of all joints [rad or m]."""
    return reduce(minimum, (bound.gap(q) for bound in bounds))


def freedoms(mechanism: Mechanism) -> int:
    """The number of degrees of freedom at which drives and stops act: nv, and all of loops where a loop has one of them."""
    return mechanism.nv + (len(mechanism.loop_v_names) if any(map(_pushed, mechanism.loops)) else 0)


def by_loop(mechanism: Mechanism, values: Any) -> dict[str, list[Any]]:
    """The values at the degrees of freedom of loops with drives or stops, of values (`freedoms`), by the loop's name."""
    rest, found = iter(values[mechanism.nv :]), {}
    for loop in mechanism.loops if len(values) > mechanism.nv else ():
        own = list(islice(rest, loop.kind.nv))
        if _pushed(loop):
            found[loop.name] = own
    return found


def _pushed(loop: Loop) -> bool:
    """Whether a drive or a stop acts in a loop joint or line."""
    return loop.drive is not None or bool(loop_bounds(loop))


class JointColumns(NamedTuple):
    """A joint, its kind, and where it stands in q and in v (as well as a and tau)."""

    joint: Joint
    kind: JointKind
    q: slice
    v: slice


def joint_columns(mechanism: Mechanism) -> Iterator[JointColumns]:
    """The columns of every joint of the tree, in their order; those of fixed joints are empty."""
    for joint, q, v in in_order(mechanism.joints):
        yield JointColumns(joint, joint.kind, slice(q, q + joint.kind.nq), slice(v, v + joint.kind.nv))
