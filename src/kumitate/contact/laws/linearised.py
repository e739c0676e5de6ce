"""The law of a point linearised near a guess, λ' = base − K du (Alart and Curnier 1991): what a Newton step solves with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ...scalar import Scalar, Scalars, both, is_zero, maximum, minimum, select, sqrt, trace, when
from .residual import above, masses

#: The stiffness of points and of loops relative to their surroundings: what a step leaves of a velocity is its inverse.
STIFF = 1e7
#: Points that are closed and at rest up to this rounding error count as sticking [m/s].
TIE = 1e-10

Rows = list[list[Scalar]]


@dataclass(frozen=True)
class NormalLaw:
    """The law along the normal, as friction and moments depend on it."""

    old: Scalar  # the impulse
    aim: Scalar  # the one that decides whether the point is closed, and how much it holds
    u: Scalar  # the velocity
    closed: Scalar  # whether it is
    give: Scalar  # how the impulse falls with the velocity there
    stiff: Scalar  # how what friction holds does
    mass: Scalar  # of the point
    tie: Scalar  # the rounding error of an impulse

    @property
    def normal(self) -> Scalar:
        """The impulse without a change of velocity, where it is closed."""
        return self.old - self.give * self.u

    @property
    def R(self) -> Scalar:
        """How the impulse falls with the velocity."""
        return select(self.closed, self.give, 0.0)

    @property
    def base(self) -> Scalar:
        """The impulse without a change of velocity."""
        return select(self.closed, self.normal, 0.0)

    def holds(self, limit: Scalar, aims: Scalars) -> Scalar:
        """Whether it holds components that aim at this, of size `limit` times the normal impulse."""
        return _length(aims) <= limit * maximum(self.aim, 0.0) + self.tie


def normal_law(old: Scalar, aim: Scalar, u: Scalar, softness: Scalar, mass: Scalar, stiff: Scalar) -> NormalLaw:
    """The law along the normal at the velocity u relative to the target."""
    tie = TIE * mass
    give = stiff if is_zero(softness) else stiff / (1.0 + softness * stiff)
    return NormalLaw(old, aim, u, aim >= -tie, give, stiff, mass, tie)


def disc_law(
    push: NormalLaw, limit: Scalar, old: Scalars, u: Scalars, aims: Scalars, sticks: Scalar
) -> tuple[Rows, Callable[[], list[Scalar]]]:
    """The law of one or two components, of size `limit` times the normal impulse: they are held, or slide along `aims`.

    Returns how each falls with the normal velocity and with their own; and what gives them without a change of velocity.
    """
    R = push.R
    holds, slides = select(sticks, select(push.closed, push.stiff, 0.0), 0.0), select(sticks, 0.0, R)
    shrink = 1.0 / _length(aims)
    d = [part * shrink for part in aims]
    normal = push.normal
    # sliding friction keeps its size and turns with the velocity: it is stiff across, more so at lower speed
    kept = limit * maximum(push.old, 0.0) * shrink
    across = minimum(kept * push.mass / maximum(1.0 - kept, 1.0 / STIFF), push.stiff)
    turns = select(sticks, 0.0, select(push.closed, across, 0.0)) if len(d) == 2 else 0.0
    dx, dy = (*d, 0.0)[:2]
    aside = turns * (dx * u[-1] - dy * u[0])
    rows = [
        [limit * dx * slides, holds + turns * (dy * dy), -turns * (dx * dy)],
        [limit * dy * slides, -turns * (dx * dy), holds + turns * (dx * dx)],
    ]

    def base() -> list[Scalar]:
        return [
            select(push.closed, select(sticks, part - push.stiff * rate, limit * ahead * normal + aside * left), 0.0)
            for part, rate, ahead, left in zip(old, u, d, (dy, -dx), strict=False)
        ]

    return [row[: 1 + len(d)] for row in rows[: len(d)]], base


def _length(parts: Scalars) -> Scalar:
    return sqrt(maximum(sum((part * part for part in parts[1:]), parts[0] * parts[0]), 1e-300))


def _listed_disc(push: NormalLaw, limit: Scalar, old: Any, u: Any, aims: Any) -> tuple[Rows, list[Scalar]]:
    """`disc_law` where most points stick: the law of sliding is computed where it is needed."""
    closed = replace(push, closed=True)
    slides = both(push.closed, _length(aims) > limit * maximum(push.aim, 0.0) + push.tie)

    def law(push: NormalLaw, sticks: bool) -> tuple[Rows, list[Scalar]]:
        rows, base = disc_law(push, limit, old, u, aims, sticks)
        return rows, base()

    return when(slides, lambda: law(closed, False), law(push, True))


def _linearised(
    impulse: Any, speed: Any, mode: Any, target: Scalar, friction: Scalar, mass: Scalar, softness: Scalar, stiff: Scalar,
    by_mode: Scalar,
) -> dict[str, Any]:  # fmt: skip
    u = above(speed, impulse, target, softness)
    told_by = [select(by_mode > 0.5, one, other) for one, other in zip(mode, u, strict=True)]
    along, across = masses(mass, softness)
    aims = [part - rate * m for part, rate, m in zip(impulse, told_by, (along, across, across), strict=True)]
    push = normal_law(impulse[0], aims[0], u[0], softness, mass, stiff)
    rows, base = _listed_disc(push, friction, impulse[1:], u[1:], aims[1:])
    return {"K": [[push.R, 0.0, 0.0], *rows], "base": [push.base, *base], "held_by": aims[0]}


def _turning(
    impulse: Any, speed: Any, mode: Any, limit: Any, mass: Scalar, stiff: Scalar, by_mode: Scalar, pushed: Scalar, aim: Scalar,
    above: Scalar, give: Scalar,
) -> dict[str, Any]:  # fmt: skip
    told_by = [select(by_mode > 0.5, one, other) for one, other in zip(mode, speed, strict=True)]
    aims = [part - rate * mass for part, rate in zip(impulse, told_by, strict=True)]
    push = NormalLaw(pushed, aim, above, give > 0.0, give, stiff, mass, TIE * mass)
    (spun,), spin = _listed_disc(push, limit[0], impulse[:1], speed[:1], aims[:1])
    rolled, roll = _listed_disc(push, limit[1], impulse[1:], speed[1:], aims[1:])
    K = [[spun[1], 0.0, 0.0], *([0.0, *row[1:]] for row in rolled)]
    return {"K": K, "base": [*spin, *roll], "push": [spun[0], *(row[0] for row in rolled)]}


#: The law of a point as a program. `mode` is the velocity that decides what the point does if `by_mode` is 1, else its own
#: does; `held_by`: the normal impulse by which it is decided whether it sticks.
LINEARISED = trace(
    _linearised,
    {"impulse": 3, "speed": 3, "mode": 3, "target": (), "friction": (), "mass": (), "softness": (), "stiff": (), "by_mode": ()},
    "linearised",
)
#: That of the moments of a point, λ' = base − K dω − push du_n. Of its normal impulse: `pushed`, before; `aim`, which decides
#: what moments it holds; `give`: how it falls with the velocity, which is `above` the target.
TURNING = trace(
    _turning,
    {"impulse": 3, "speed": 3, "mode": 3, "limit": 2, "mass": (), "stiff": (), "by_mode": (), "pushed": (), "aim": (),
     "above": (), "give": ()},
    "turning",
)  # fmt: skip
