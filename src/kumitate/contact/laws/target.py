"""What a point is to reach in a step: the friction that applies, the least normal velocity, and what it is guessed to do."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...scalar import Scalar, Scalars, absolute, both, either, is_zero, maximum, minimum, select, trace
from ..surface import NUMBERS, Surface, VariedSurface

#: Points that slide more slowly than this are at rest: static friction applies [m/s].
AT_REST = 1e-4
#: A point that closes and opens more slowly than this counts as resting [m/s].
CLOSED = 1e-3
#: The largest velocity at which overlap is corrected [m/s].
RECOVERY = 0.5
#: In lists gaps below this are closed [m]: to close what rounding leaves would keep resting bodies moving.
TOUCHING = 1e-11
#: The target of a point that nothing pushes in this step [m/s].
NEVER = -1e9
#: Where impacts follow one another within a step: when bodies meet that do not, and that another impact presses [s].
NOT_MET, PRESSED = 1e9, 2e9
#: The part of a step within which impacts happen at once.
AT_ONCE = 1e-3


class Aim(NamedTuple):
    """The friction that applies, the least normal velocity, the same without a rebound, and the mode that is guessed."""

    friction: Scalar
    target: Scalar
    plastic: Scalar
    mode: list[Scalar]


def slides(parts: Scalars) -> Scalar:
    """Whether a point that moved so along the surface, or turned so, was not at rest."""
    return sum((part * part for part in parts[1:]), parts[0] * parts[0]) > AT_REST**2


def targets(
    surface: Surface | VariedSurface, gap: Scalar, before: Scalar, free: Scalar, h: Scalar, per_step: Scalar, resting: Scalar
) -> tuple[Scalar, Scalar]:
    """The least normal velocity after the step, which closes the gap exactly or rebounds; and the same without a rebound.

    Args:
        before, free: the normal velocity before the step, and after it without contact [m/s].
        h, per_step: the step and 1 / h; impacts slower than `resting` [m/s] do not bounce.
    """
    threshold = resting if is_zero(surface.threshold) else maximum(resting, surface.threshold)
    target = plastic = minimum(-gap * per_step, RECOVERY)
    if surface.bounces:
        # forces of the whole step also act on the rebound: without this term a ball would gain g h in every bounce
        back = minimum(free - before, 0.0) - surface.restitution * before
        arrives = both(gap + h * minimum(before, free) < 0.0, before < -threshold)
        if not isinstance(surface.restitution, float):  # without restitution, the gap is closed exactly
            arrives = both(arrives, surface.restitution > 0.0)
        target = select(arrives, maximum(plastic, back), plastic)
    return target, plastic


def modes(gap: Scalar, before: Scalars, free: Scalar, target: Scalar, h: Scalar, slid: Scalar) -> list[Scalar]:
    """The velocity relative to the target from which it is guessed whether a point is apart, sticks or slides."""
    stays = both(gap < CLOSED * h, before[0] < CLOSED)
    return [select(either(stays, free < target), 0.0, 1.0), *(select(slid, part, 0.0) for part in before[1:])]


def aim(surface: Surface | VariedSurface, gap: Scalar, before: Any, free: Any, step: Scalar, resting: Scalar) -> Aim:
    """The aim of a point at its velocities along its axes before a step [m/s], and after it without contact; see `targets`."""
    slid = slides(before[1:3])
    target, plastic = targets(surface, gap, before[0], free[0], step, 1.0 / step, resting)
    friction = surface.friction if surface.one_friction else select(slid, surface.kinetic, surface.friction)
    return Aim(friction, target, plastic, modes(gap, before[:3], free[0], target, step, slid))


def meets_after(gap: Scalar, before: Scalar, target: Scalar, plastic: Scalar) -> Scalar:
    """The time after which a point rebounds, from the start of the step; NOT_MET where it does not [s]."""
    return select(target > plastic, maximum(gap, 0.0) / maximum(-before, 1e-300), NOT_MET)


def in_turn(target: Scalar, gap: Scalar, due: Scalar, first: Scalar, step: Scalar) -> Scalar:
    """The target of a point in the present one of the impacts of a step; NEVER of one that waits for its own.

    An open point of two bodies that meet after another of these does, or that only another impact presses, waits for it.

    Args:
        due: when its two bodies meet (`meets_after`), or PRESSED; first: when either of them meets any other [s].
    """
    later = both(due < NOT_MET, due > first + AT_ONCE * step)
    return select(both(gap > CLOSED * step, either(later, due > NOT_MET)), NEVER, target)


def _aimed(gap: Scalar, before: Any, free: Any, surface: Any, step: Scalar, resting: Scalar) -> dict[str, Any]:
    gap = select(absolute(gap) < TOUCHING, 0.0, gap)
    return aim(VariedSurface(*(surface[k] for k in range(len(NUMBERS)))), gap, before, free, step, resting)._asdict()


#: `aim` as a program, of rigid points. `surface`: a row of `Placed.surfaces`.
AIMED = trace(_aimed, {"gap": (), "before": 3, "free": 3, "surface": len(NUMBERS), "step": (), "resting": ()}, "aimed")
#: `meets_after` and `in_turn` as programs.
MEETING = trace(
    lambda gap, before, target, plastic: meets_after(gap, before[0], target, plastic),
    {"gap": (), "before": 3, "target": (), "plastic": ()}, "meeting",
)  # fmt: skip
IN_TURN = trace(in_turn, {"target": (), "gap": (), "due": (), "first": (), "step": ()}, "in_turn")
