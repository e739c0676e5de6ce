"""Compliant contact: a spring and a damper along the normal of a point, as one linear law of a step.

The law is that of rigid contact with a softness s: 0 ≤ λ ⊥ u + s λ − target ≥ 0 for the normal velocity u after the step, by
which it is solved together with all others (Lacoursière 2007; Catto 2011). With m, the mass of the point,
w = h² k / m and d = h c / m it is one of two:

- **resolved**, for w ≤ RESOLVED and d ≤ DAMPED. Of a point that stays closed
  λ = h k p − h² k/4 (u − u₀) − h c (θ u + (1 − θ) u₀): the trapezoidal rule for the spring, since u is the velocity in the
  middle of two depths p = −gap; θ makes the decay by the damper exact. It keeps u² m/2 + k̃ p p₋/2, with k̃ = k / (1 + w/4)
  and the depths p and p₋ of two steps in turn. By this energy, none of which is in the spring where p or p₋ is a gap, a point
  begins and ends to touch; by the closed form of what is left of the contact if it is damped. So an undamped point by itself
  rebounds without loss, whenever in the step it is met.
- **not resolved**: a collision is an impact within the step, which rebounds with the restitution of a damped spring (Schwager
  and Pöschel 2007), and what is closed is held by the spring and the damper at the end of the step.

Among the points of two bodies that touch in the step, m is the mass that a point has where all are pushed alike, as where a
body lands flat. A point that stays closed does not depend on it, but by θ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...scalar import Scalar, absolute, arctan2, both, either, exp, log, maximum, minimum, select, sqrt, trace
from ..parting import SHRINKS
from ..surface import NUMBERS, Surface, VariedSurface

__all__ = ["COMPLIANT", "STORED", "Compliance", "Softened"]

#: Springs and dampers whose w = (ω h)² and d = h c / m are at most these are resolved by the step.
RESOLVED, DAMPED = 0.1, 0.5
#: The target of a point that nothing pushes in this step [m/s].
NEVER = -1e9
#: Damping below this part of a mass in a step has θ = 1/2 to rounding.
_LITTLE = 1e-4


class Softened(NamedTuple):
    """The law of a compliant point.

    Attributes:
        softness: the normal velocity that the point gives way with per unit impulse [1/kg].
        target: the least normal velocity without a force [m/s]; plastic: the same without a rebound.
        give: the normal velocity that the point gets per unit impulse [1/kg].
    """

    softness: Scalar
    target: Scalar
    plastic: Scalar
    give: Scalar


@dataclass(frozen=True)
class Compliance:
    """The spring and damper of a point.

    Attributes:
        stiffness: k [N/m]; damping: c [N·s/m]; step: h [s].
        resting: impacts slower than this do not rebound within a step [m/s].
    """

    stiffness: Scalar
    damping: Scalar
    step: Scalar
    resting: Scalar

    @classmethod
    def of(cls, surface: Surface | VariedSurface, step: Scalar, resting: Scalar) -> Compliance | None:
        """That of a surface; None if it is rigid."""
        return None if surface.stiffness is None else cls(surface.stiffness, surface.damping, step, resting)

    def touches(self, gap: Scalar, before: Scalar, free: Scalar) -> Scalar:
        """1 for a point that touches now or within the step, else 0."""
        return select(gap + self.step * minimum(minimum(before, free), 0.0) < 0.0, 1.0, 0.0)

    def law(self, gap: Scalar, before: Scalar, free: Scalar, give: Scalar) -> Softened:
        """The law of a point.

        Args:
            gap: [m]; before, free: its normal velocity before the step and after it without contact [m/s].
            give: the normal velocity that it gets per unit impulse at all points that touch [1/kg], 1/m.
        """
        soft, hard = self._resolved(gap, before, free, give), self._impact(gap, before, free, give)
        softness, target, plastic = (select(self._follows(give), a, b) for a, b in zip(soft[:3], hard[:3], strict=True))
        return Softened(softness, target, plastic, give)

    def stored(self, gap: Scalar, before: Scalar, after: Scalar, give: Scalar, impulse: Scalar) -> Scalar:
        """The energy that the spring takes up in a step with an impulse, from the velocity `before` to `after` [J]."""
        depth, last, first = -gap, -gap - self.step * after, -gap + self.step * before
        k = self.stiffness / (1.0 + 0.25 * self._w(give))
        touched = 0.5 * k * maximum(depth, 0.0) * (maximum(last, 0.0) - maximum(first, 0.0))
        theta = _theta(self.step * self.damping * give)
        by_damper = self.step * self.damping * (theta * after + (1.0 - theta) * before)
        pressed = -0.5 * (impulse + by_damper) * (before + after)  # the spring's own work, however the point is coupled
        closed = both(both(first > 0.0, depth > 0.0), last > 0.0)
        held = 0.5 * self.stiffness * (maximum(last, 0.0) * maximum(last, 0.0) - maximum(depth, 0.0) * maximum(depth, 0.0))
        return select(self._follows(give), select(closed, pressed, touched), held)

    def _w(self, give: Scalar) -> Scalar:
        return self.step * self.step * self.stiffness * give

    def _follows(self, give: Scalar) -> Scalar:
        """Whether the step resolves the spring and the damper."""
        return both(self._w(give) <= RESOLVED, self.step * self.damping * give <= DAMPED)

    def _resolved(self, gap: Scalar, before: Scalar, free: Scalar, give: Scalar) -> Softened:
        h, depth, w = self.step, -gap, self._w(give)
        change, kick = free - before, self.stiffness * give / (1.0 + 0.25 * w)  # `kick`: of velocity, per depth and step
        enters = depth + h * before <= 0.0
        # velocities in flight are those at the ends of steps, in contact those in their middle: half a change by other forces
        # is to be taken back as contact begins, and half as it ends, where no impulse may be left to do so
        start = before - select(enters, change, 0.0)
        glide = start + change
        lasts = select(enters, 0.5 + maximum(depth, 0.0) / (h * maximum(-before, 1e-300)), 1.0)
        part = h * self.damping * give * minimum(lasts, 2.0)
        theta = _theta(part)
        # L (start + glide + L) = −(energy in the spring after the step), which is kick · depth · (depth − h (glide + L)) / h
        sum_of = start + glide - h * kick * depth
        square = sum_of * sum_of - 4.0 * kick * depth * (depth / h - glide) * h
        entering = -0.5 * (sum_of + sqrt(maximum(square, 0.0)))
        pushed = glide + select(enters, entering, h * kick * depth)
        after = (pushed - part * (1.0 - theta) * start) / (1.0 + part * theta)
        leaves = self.stiffness * (depth - h * after) < self.damping * after
        slower = 1.0 / (1.0 + 0.25 * w)
        left = self._left(depth, 0.5 * (start + after), self.stiffness * give * slower * slower, give)
        wanted = select(leaves, minimum(after, left + 0.5 * change), after)
        resistance = 0.25 * h * self.stiffness + theta * part / (h * give)
        softness = 1.0 / (h * resistance)
        closed = (self.stiffness * depth + (0.25 * h * self.stiffness - (1.0 - theta) * self.damping) * before) / resistance
        by_mass = free + (softness / give + 1.0) * (wanted - free)
        target = select(depth > 0.0, select(either(enters, leaves), by_mass, closed), NEVER)
        return Softened(softness, target, target, give)

    def _impact(self, gap: Scalar, before: Scalar, free: Scalar, give: Scalar) -> Softened:
        h, touches = self.step, gap > 0.0
        resistance = h * self.stiffness + self.damping
        plastic = -gap * select(touches, 1.0 / h, self.stiffness / resistance)
        new = either(touches, h * before <= gap)
        arrives = both(both(new, gap + h * minimum(before, free) < 0.0), before < -self.resting)
        # as of rigid contact: forces of the whole step also act on the rebound
        back = minimum(free - before, 0.0) + self._left(0.0, before, self.stiffness * give, give)
        softness = select(arrives, 0.0, 1.0 / (h * resistance))
        return Softened(softness, select(arrives, maximum(plastic, back), plastic), plastic, give)

    def _left(self, depth: Scalar, speed: Scalar, square: Scalar, give: Scalar) -> Scalar:
        """The speed at which a mass leaves its damped spring, from a depth and a speed; `square`: ω² [1/s²].

        Of u' = ω² p − 2 δ u, p' = −u until the force is zero. There u is the root of u² − 2 δ u p + ω² p², which decays by
        exp(−2 δ t); the time is that of the angle in the plane of (δ p − u, √(ω² − δ²) p), to the end at 2 arccos ζ.
        """
        decay = 0.5 * self.damping * give
        left = sqrt(maximum(speed * speed - 2.0 * decay * speed * depth + square * depth * depth, 0.0))
        turn = sqrt(maximum(absolute(square - decay * decay), 1e-9 * square))
        x, y = decay * depth - speed, turn * depth
        swings = (2.0 * arctan2(turn, decay) - arctan2(y, x)) / turn
        slow = maximum(decay - turn, 1e-12 * decay)
        creeps = (2.0 * _log(decay + turn) - 2.0 * _log(slow) + _log(x - y) - _log(x + y)) / (2.0 * turn)
        time = select(decay * decay < square, swings, creeps)
        return left * exp(-decay * maximum(time, 0.0))


def _log(x: Scalar) -> Scalar:
    return log(maximum(x, 1e-300))


def _theta(part: Scalar) -> Scalar:
    """The weight of the velocity after a step for a decay of exp(−part): 1 / (1 − exp(−part)) − 1 / part."""
    some = maximum(part, _LITTLE)
    return select(part > _LITTLE, 1.0 / (1.0 - exp(-some)) - 1.0 / some, 0.5)


def _of(surface: Sequence[Scalar], step: Scalar, resting: Scalar) -> Compliance:
    return Compliance(surface[NUMBERS.index("stiffness")], surface[NUMBERS.index("damping")], step, resting)


def _law(
    gap: Scalar, left_out: Scalar, before: Any, free: Any, give: Scalar, surface: Any, step: Scalar, resting: Scalar
) -> dict[str, Scalar]:  # fmt: skip
    speed = minimum(SHRINKS, left_out / step)  # of the end of the spring
    softness, target, plastic, _ = _of(surface, step, resting).law(gap + left_out, before[0] - speed, free[0] - speed, give)
    target, plastic = target + speed, plastic + speed
    return {"softness": softness, "target": target, "plastic": plastic, "apart": select(free[0] < target, 0.0, 1.0)}


def _stored(
    gap: Scalar, left_out: Scalar, before: Any, speed: Any, give: Scalar, impulse: Any, surface: Any, step: Scalar,
    resting: Scalar,
) -> Scalar:  # fmt: skip
    moving = minimum(SHRINKS, left_out / step)
    spring = _of(surface, step, resting)
    return spring.stored(gap + left_out, before[0] - moving, speed[0] - moving, give, impulse[0])


_POINT: dict[str, int | tuple[int, ...]] = {"gap": (), "left_out": (), "before": 3}
_SPRING: dict[str, int | tuple[int, ...]] = {"surface": len(NUMBERS), "step": (), "resting": ()}
#: `Compliance.law` and `Compliance.stored` for the points of lists. `surface`: a row of `Placed.surfaces`; `apart`: 1 where the
#: point is guessed not to be pushed.
COMPLIANT = trace(_law, {**_POINT, "free": 3, "give": (), **_SPRING}, "law_of_a_compliant_point")
STORED = trace(_stored, {**_POINT, "speed": 3, "give": (), "impulse": 3, **_SPRING}, "energy_of_a_compliant_point")
