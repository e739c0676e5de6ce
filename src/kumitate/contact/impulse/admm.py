"""The alternating direction method (ADMM): it converges from any start, but slowly; used to restart a diverging Newton method.

It alternates between the velocities and the contact laws (Glowinski and Marrocco 1975): the velocities are solved with a spring
and a damper of equal strength at every point, the laws separately for each point.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...scalar import Scalar, is_zero, loop
from ...spatial import Dense, Force, Motion
from .contact_points import ContactFrame
from .jacobians import NO_STIFFNESS, frozen
from .newton import felt_stiffness
from .problem import Impulses, Problem

__all__ = ["admm"]

#: The coupling strength between a point's velocity and its law, relative to the point's effective mass.
STRENGTH = 5.0


def admm(given: Problem, guess: Impulses, targets: Sequence[Sequence[Scalar]], rounds: int) -> Impulses:
    """The guess after this many rounds; `targets`: the least normal velocities of the points [m/s]."""
    factors = given.stiffened([patch.if_near(_coupled, patch.frames, otherwise=NO_STIFFNESS) for patch in given.patches])
    twists = given.jacobians.twists(guess.v)
    wanted, begun = [], []  # impulses that satisfy the laws, and the matching velocities relative to the target
    for patch, old, aims in zip(given.patches, guess.points, targets, strict=True):
        twist = patch.twist(given.jacobians, twists)
        above = [_above(frame.along(twist), aim) for frame, aim in zip(patch.frames, aims, strict=True)]
        new, wished = patch.if_near(_obey, patch.frames, frozen(old), twist, tuple(aims), otherwise=(old, above))
        begun.append(new)
        wanted.append(wished)

    def turn(_: Any, now: Any) -> Any:
        impulses, loops, wanted = now
        wrenches = []
        for patch, old, wishes, aims in zip(given.patches, impulses, wanted, targets, strict=True):
            lacks = [
                [a - b for a, b in zip(wish, _above(point.free, aim), strict=True)]
                for point, wish, aim in zip(patch.points, wishes, aims, strict=True)
            ]
            wrenches.append(patch.if_near(_pull, patch.frames, frozen(old), frozen(lacks), otherwise=Force()))
        pulls = [
            old - equation.stiffness * (equation.rate(given.v_free) + equation.softness * old)
            for old, equation in zip(loops, given.loops, strict=True)
        ]
        dv = factors.solve(given.efforts(wrenches, pulls))
        v = [rate + dv[k] for k, rate in enumerate(given.v_free)]
        twists = given.jacobians.twists(v)
        after, wishes_after = [], []
        for patch, old, wishes, aims in zip(given.patches, impulses, wanted, targets, strict=True):
            twist = patch.twist(given.jacobians, twists)
            new, wished = patch.if_near(_obey, patch.frames, frozen(old), twist, tuple(aims), otherwise=(old, wishes))
            after.append(new)
            wishes_after.append(wished)
        loops = [
            old - equation.stiffness * (equation.rate(v) + equation.softness * old)
            for old, equation in zip(loops, given.loops, strict=True)
        ]
        return (after, loops, wishes_after), None

    (points, loops, _), _ = loop(rounds, turn, (begun, guess.loops, wanted), varies=True)
    return given.after(points, loops)


def _above(u: Sequence[Scalar], target: Scalar) -> list[Scalar]:
    return [u[0] - target, *u[1:]]


def _strength(frame: ContactFrame) -> Scalar:
    """R: the strength of the coupling between a point's velocity and that of its law."""
    return STRENGTH * frame.mass


def _coupled(frames: Sequence[ContactFrame]) -> Dense:
    """The stiffness of the coupling."""
    return felt_stiffness(frames, [Dense.diagonal([_strength(frame)] * len(frame.nothing)) for frame in frames])


def _pull(frames: Sequence[ContactFrame], impulses: Any, lacks: Any) -> Force:
    """The wrench of a patch's impulses and of the velocities that are missing."""
    total = Force()
    for frame, impulse, lack in zip(frames, impulses, lacks, strict=True):
        total = total + frame.wrench([a + _strength(frame) * b for a, b in zip(impulse, lack, strict=True)])
    return total


def _yielding(frame: ContactFrame, aimed: Scalar) -> Scalar:
    """The normal impulse of a soft point, which moves it against the coupling."""
    return aimed if is_zero(frame.softness) else aimed / (1.0 + frame.softness * _strength(frame))


def _obey(frames: Sequence[ContactFrame], impulses: Any, twist: Motion, aims: Any) -> Any:
    """Impulses that satisfy the contact laws, and the matching velocities."""
    after, wishes = [], []
    for frame, impulse, aim in zip(frames, impulses, aims, strict=True):
        aimed = [a - _strength(frame) * b for a, b in zip(impulse, _above(frame.along(twist), aim), strict=True)]
        new = frame.onto_laws([_yielding(frame, aimed[0]), *aimed[1:]])
        after.append(new)
        wishes.append([(a - b) * (frame.size / STRENGTH) for a, b in zip(new, aimed, strict=True)])
    return after, wishes
