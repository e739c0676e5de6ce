"""Penalty contact: a spring and a damper at every penetrating point, and smoothed friction (lecture Y, 10 and 11).

Steps may be smoothed to sigmoids U_s(x) = 1/(1 + exp(−s x)) (10.10), written as (1 + tanh(s x/2))/2, which does not overflow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from ...errors import InputError
from ...model.values import Rule, checked_number
from ...scalar import Scalar, absolute, maximum, select, sqrt, tanh
from ...spatial import Vector3
from ..surface import Surface, VariedSurface

#: With the default stiffness, the penetration of one point under the mechanism's weight [m], and the weight per mass [m/s²].
DEPTH, FALL = 1e-3, 9.81
#: Squared speeds below this count as rest [m²/s²].
_STILL = 1e-60
#: Depths below this count as this where it is asked how steep a spring is [m]: with n < 1 it is infinitely steep at zero.
_SHALLOW = 1e-6
#: Newton steps for the slip after a step.
_ROUNDS = 4


@dataclass(frozen=True)
class Penalty:
    """The force of one contact point, from its gap y (10.2), its velocity and the surface.

    R = U(−y) (K (−y)ⁿ − C ẏ), and friction −μ R sgn_s(ẋ) against the slip ẋ (11.4), with the kinetic coefficient. The
    static coefficient and the restitution of a surface are not used: sticking points creep, and damping determines the rebound.

    Attributes:
        stiffness: K [N/mⁿ], positive; `damping`: C [N·s/m], zero or more.
        pull: 1: the damper also acts during separation and may pull (10.7, method 1); 0: during approach only (10.9, 2).
        sharpness: s of the steps of y [1/m] and of ẏ [s/m]; infinite: exact steps, as in (10.6).
        friction_sharpness: s of the smoothed sign of the slip [s/m]: at speeds below about 2/s friction is viscous.
        exponent: n; at rest the penetration under a weight W is (W/K)^(1/n).

    Raises:
        InputError: for a value out of range, with its rule.

    >>> floor = Penalty(stiffness=1e4, damping=10.0)
    >>> floor.normal_force(-1e-3, 0.0)  # at rest, 1 mm deep
    10.0
    >>> floor.normal_force(-1e-3, 2.0), Penalty(1e4, 10.0, pull=1).normal_force(-1e-3, 2.0)  # separating
    (10.0, -10.0)
    """

    stiffness: float
    damping: float
    pull: float = 0
    sharpness: float = math.inf
    friction_sharpness: float = 1e3
    exponent: float = 1.0

    def __post_init__(self) -> None:
        rule = Rule("a number", "Give one, or leave it out for the default", lambda x: not math.isnan(x))
        for item in fields(self):
            number = checked_number("penalty contact", item.name, getattr(self, item.name), rule, error=InputError)
            object.__setattr__(self, item.name, number)
        _check("stiffness", self.stiffness, 0.0 < self.stiffness < math.inf, "positive and finite: weight over depth at rest")
        _check("damping", self.damping, 0.0 <= self.damping < math.inf, "zero or more, and finite: 2√(K m) is critical")
        _check("pull", self.pull, self.pull in (0, 1), "1 (the damper also acts during separation) or 0 (it does not)")
        _check("sharpness", self.sharpness, self.sharpness > 0.0, "positive; infinite, the default, is a step")
        _check(
            "friction_sharpness", self.friction_sharpness, 0.0 < self.friction_sharpness < math.inf,
            "positive and finite: friction is full at speeds above about 4/s",
        )  # fmt: skip
        _check("exponent", self.exponent, 0.0 < self.exponent <= 10.0, "positive, at most 10: 1 is a linear spring")

    @classmethod
    def of(cls, options: Mapping[str, float], mass: float) -> Penalty:
        """The model with the given options; defaults of stiffness and damping depend on the mass of the mechanism [kg].

        By default its weight on one point penetrates by 1 mm, and the damping is critical for its total mass.

        Raises:
            InputError: for an unknown option, or a value out of range.
        """
        known = [item.name for item in fields(cls)]
        for name in options:
            if name not in known:
                raise InputError(f"penalty contact has no option {name!r}; there are {', '.join(known)}")
        usual = {"stiffness": mass * FALL / DEPTH, "damping": 2.0 * mass * math.sqrt(FALL / DEPTH)}
        made = cls(**{**usual, **options})
        return made if "stiffness" in options else replace(made, stiffness=mass * FALL / DEPTH**made.exponent)

    @property
    def reach(self) -> float:
        """The gap from which U_s is exactly zero [m]: (1 + tanh(−x))/2 is from x = 20 on."""
        return 40.0 / self.sharpness

    def force(self, gap: Scalar, normal: Vector3, velocity: Vector3, surface: Surface | VariedSurface) -> Vector3:
        """The force on the body that the normal points to [N], from its velocity relative to the other [m/s], in one frame."""
        rate = normal.dot(velocity)
        R = self.normal_force(gap, rate)
        slip = velocity - normal * rate
        speed = sqrt(maximum(slip.dot(slip), _STILL))
        friction = surface.kinetic * R * tanh(0.5 * self.friction_sharpness * speed)  # sgn_s = 2 U_s − 1 (11.4)
        return normal * R - slip * (friction / speed)

    def normal_force(self, gap: Scalar, rate: Scalar) -> Scalar:
        """R [N] at a gap y [m] that opens at ẏ [m/s] (10.11, 10.12)."""
        damped = rate if self.pull else rate * self._step(-rate)
        return self._step(-gap) * (self._spring(gap) - self.damping * damped)

    def impulse(
        self, h: Scalar, yields: tuple[Scalar, Scalar], gap: Scalar, normal: Vector3, velocity: Vector3,
        surface: Surface | VariedSurface,
    ) -> Vector3:  # fmt: skip
        """The impulse of a step h [N·s]: of the spring at its start, of the damper and of friction at the velocity after it.

        Args:
            yields: the velocity that the point gains per unit impulse, along the normal and across it [1/kg].
            velocity: after the step without this impulse [m/s].

        With exact steps, and if the point yields so, these are h times the forces there to rounding.
        """
        rate, on = normal.dot(velocity), h * self._step(-gap)
        along, across = yields
        pushed = on * self._spring(gap)
        damping = on * self.damping * (1.0 if self.pull else self._step(-(rate + along * pushed)))
        R = (pushed - damping * rate) / (1.0 + damping * along)
        slip = velocity - normal * rate
        speed, most = sqrt(maximum(slip.dot(slip), _STILL)), surface.kinetic * maximum(R, 0.0)
        s = 0.5 * self.friction_sharpness
        after = maximum(speed - across * most, speed / (1.0 + across * most * s))
        for _ in range(_ROUNDS):  # after + across · most · tanh(s · after) = speed bends down: steps approach it from below
            sign = tanh(s * after)
            after = after + (speed - after - across * most * sign) / (1.0 + across * most * s * (1.0 - sign * sign))
        return normal * R - slip * (most * tanh(s * after) / speed)

    def steepness(self, gap: Scalar) -> Scalar:
        """The change of the spring's force with the gap there [N/m], K n |y|ⁿ⁻¹: it limits steps."""
        depth = maximum(-gap, _SHALLOW)
        return select(gap > 0.0, 0.0, self.stiffness * self.exponent * depth ** (self.exponent - 1.0))

    def stored(self, depth: Scalar) -> Scalar:
        """The energy that the spring of a point holds at a depth of zero or more [J]."""
        return self.stiffness * depth ** (self.exponent + 1.0) / (self.exponent + 1.0)

    def _step(self, x: Scalar) -> Scalar:
        """U(x), or U_s(x)."""
        if math.isinf(self.sharpness):
            return select(x < 0.0, 0.0, 1.0)
        return 0.5 * (1.0 + tanh(0.5 * self.sharpness * x))

    def _spring(self, gap: Scalar) -> Scalar:
        """The spring force: −K y, or K (−y)ⁿ for n ≠ 1."""
        if self.exponent == 1.0:
            return -self.stiffness * gap
        return -self.stiffness * gap * maximum(absolute(gap), 1e-300) ** (self.exponent - 1.0)


def _check(name: str, value: float, right: bool, rule: str) -> None:
    if not right:
        raise InputError(f"penalty contact: {name} is {value}; it must be {rule}")
