"""Compliant contact: a spring and a damper along the normal of a point, as one linear law of a step.

The law is that of rigid contact with a softness s: 0 ≤ λ ⊥ u + s λ − target ≥ 0 for the normal velocity u after the step, by
which it is solved together with all others (Lacoursière 2007; Catto 2011). With m, the mass of the point,
w = h² k / m and d = h c / m it is one of two:

- **resolved**, for w ≤ RESOLVED and d ≤ DAMPED. The depth p = −gap becomes p' = p − h (u₀ + u)/2, as what only springs touch
  moves with the mean of its velocities before and after they act, u₀ and u. The impulse of the spring is the change of its
  energy ½ k max(p, 0)² over the way (the discrete gradient of Gonzalez 1996), so that it keeps the energy of motion and spring
  wherever in the step a point begins or ends to touch. Of a point that stays closed that is the linear law
  λ = h k p − h² k/4 (u₀ + u) − h c (θ u + (1 − θ) u₀), where θ makes the decay by the damper exact. Of one that begins or ends
  to touch, λ is that of its own mass alone; what it misses by the others is of order w². Where a damped one leaves, the closed
  form says with which velocity.
- **not resolved**: a collision is an impact within the step, which rebounds with the restitution of a damped spring (Schwager
  and Pöschel 2007), and what is closed is held by the spring and the damper at the end of the step.

Among the points of two bodies that touch in the step, m is the mass that a point has where all are pushed alike, as where a
body lands flat. A point that stays closed does not depend on it, but by θ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from ...scalar import Scalar, Scalars, absolute, arctan2, both, either, exp, log, maximum, minimum, select, sqrt, trace
from ..laws import NEVER
from ..parting import SHRINKS
from ..surface import NUMBERS, Surface, VariedSurface

#: Springs and dampers whose w = (ω h)² and d = h c / m are at most these are resolved by the step.
RESOLVED, DAMPED = 0.1, 0.5
#: Damping below this part of a mass in a step has θ = 1/2 to rounding.
_LITTLE = 1e-4


class Softened(NamedTuple):
    """The law of a compliant point."""

    softness: Scalar  # the normal velocity that the point gives way with per unit impulse [1/kg]
    target: Scalar  # the least normal velocity without a force [m/s]
    plastic: Scalar  # the same without a rebound
    give: Scalar  # the normal velocity that the point gets per unit impulse [1/kg]
    resolved: Scalar  # 1 if the step resolves its spring


@dataclass(frozen=True)
class Compliance:
    """The spring and damper of a point."""

    stiffness: Scalar  # k [N/m]
    damping: Scalar  # c [N·s/m]
    step: Scalar  # h [s]
    resting: Scalar  # impacts slower than this do not rebound within a step [m/s]

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
            gap: [m]; before, free: its normal velocity before the springs act and after the step without contact [m/s].
            give: the normal velocity that it gets per unit impulse at all points that touch [1/kg], 1/m.
        """
        soft, hard = self._resolved(gap, before, free, give), self._impact(gap, before, free, give)
        resolved = self._follows(give)
        softness, target, plastic = (select(resolved, a, b) for a, b in zip(soft, hard, strict=True))
        return Softened(softness, target, plastic, give, select(resolved, 1.0, 0.0))

    def stored(self, gap: Scalar, before: Scalar, after: Scalar, give: Scalar) -> Scalar:
        """The energy that the spring takes up in a step, from the velocity `before` to `after` [J]."""
        first, move = maximum(-gap, 0.0), self.step * select(self._follows(give), 0.5 * (before + after), after)
        last = maximum(-gap - move, 0.0)
        return 0.5 * self.stiffness * (last * last - first * first)

    def _follows(self, give: Scalar) -> Scalar:
        """Whether the step resolves the spring and the damper."""
        square = self.step * self.step * self.stiffness * give
        return both(square <= RESOLVED, self.step * self.damping * give <= DAMPED)

    def _resolved(self, gap: Scalar, before: Scalar, free: Scalar, give: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        h, depth, square = self.step, -gap, self.stiffness * give  # `square`: ω² of the point by itself
        more, mean = 1.0 + 0.25 * h * h * square, 0.5 * (before + free)
        enters = depth <= 0.0
        closing = mean + 0.5 * h * square * depth
        # of a point that begins to touch, s (s − mean) = −¼ ω² (depth − h s)² for the mean velocity s with the spring
        root = sqrt(maximum(closing * closing - more * square * depth * depth, 0.0))
        pushed = select(enters, closing - root, 2.0 * closing) / more - before
        touched = 1.0 - minimum(depth / minimum(h * mean, -1e-300), 1.0)  # the part of the step after it began to touch
        part = h * self.damping * give
        theta, felt = _theta(part), part * select(enters, touched, 1.0)
        after = (pushed - felt * (1.0 - theta) * before) / (1.0 + felt * theta)
        leaves = self.stiffness * (depth - 0.5 * h * (before + after)) < self.damping * after
        left = self._left(depth, mean, square, give) + 0.5 * (free - before)
        resistance = 0.25 * h * self.stiffness + theta * self.damping
        softness = 1.0 / (h * resistance)
        closed = (self.stiffness * depth - (0.25 * h * self.stiffness + (1.0 - theta) * self.damping) * before) / resistance
        by_mass = free + (softness / give + 1.0) * (select(enters, after, left) - free)
        target = select(either(enters, leaves), by_mass, closed)
        target = select(both(enters, depth <= h * mean), NEVER, target)
        return softness, target, target

    def _impact(self, gap: Scalar, before: Scalar, free: Scalar, give: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        h, touches = self.step, gap > 0.0
        resistance = h * self.stiffness + self.damping
        plastic = -gap * select(touches, 1.0 / h, self.stiffness / resistance)
        new = either(touches, h * before <= gap)
        arrives = both(both(new, gap + h * minimum(before, free) < 0.0), before < -self.resting)
        # as of rigid contact: forces of the whole step also act on the rebound
        back = minimum(free - before, 0.0) + self._left(0.0, before, self.stiffness * give, give)
        softness = select(arrives, 0.0, 1.0 / (h * resistance))
        return softness, select(arrives, maximum(plastic, back), plastic), plastic

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


def _of(surface: Scalars, step: Scalar, resting: Scalar) -> Compliance:
    return Compliance(surface[NUMBERS.index("stiffness")], surface[NUMBERS.index("damping")], step, resting)


def _law(
    gap: Scalar, left_out: Scalar, begun: Scalar, free: Any, give: Scalar, surface: Any, step: Scalar, resting: Scalar
) -> dict[str, Scalar]:  # fmt: skip
    speed = minimum(SHRINKS, left_out / step)  # of the end of the spring
    law = _of(surface, step, resting).law(gap + left_out, begun - speed, free[0] - speed, give)
    target, plastic = law.target + speed, law.plastic + speed
    apart = select(free[0] < target, 0.0, 1.0)
    return {"softness": law.softness, "target": target, "plastic": plastic, "resolved": law.resolved, "apart": apart}


def _stored(
    gap: Scalar, left_out: Scalar, begun: Scalar, speed: Any, give: Scalar, surface: Any, step: Scalar, resting: Scalar
) -> Scalar:  # fmt: skip
    moving = minimum(SHRINKS, left_out / step)
    return _of(surface, step, resting).stored(gap + left_out, begun - moving, speed[0] - moving, give)


_POINT: dict[str, int | tuple[int, ...]] = {"gap": (), "left_out": (), "begun": ()}
_SPRING: dict[str, int | tuple[int, ...]] = {"surface": len(NUMBERS), "step": (), "resting": ()}
#: `Compliance.law` and `Compliance.stored` for the points of lists. `surface`: a row of `Placed.surfaces`; `apart`: 1 where the
#: point is guessed not to be pushed.
COMPLIANT = trace(_law, {**_POINT, "free": 3, "give": (), **_SPRING}, "law_of_a_compliant_point")
STORED = trace(_stored, {**_POINT, "speed": 3, "give": (), **_SPRING}, "energy_of_a_compliant_point")
