"""Compliant contact: a spring and a damper along the normal of a point, implicit in the step.

The force at the end of the step is −k y − c u for the gap y = gap + h u < 0 and the normal velocity u there. With the impulse
λ = h · force this is the law 0 ≤ λ ⊥ u + λ / (h (h k + c)) − target ≥ 0: that of rigid contact with a softness, by which it is
solved together with all others (Lacoursière 2007; Catto 2011). A point that closes within the step is damped for the part of
the step in which it touches.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...scalar import Scalar, maximum, select
from ..surface import Surface, VariedSurface

__all__ = ["Compliance"]


@dataclass(frozen=True)
class Compliance:
    """The spring and damper of a point.

    Attributes:
        stiffness: k [N/m]; damping: c [N·s/m]; step: h [s].
    """

    stiffness: float
    damping: float
    step: Scalar

    @classmethod
    def of(cls, surface: Surface | VariedSurface, step: Scalar) -> Compliance | None:
        """That of a surface; None if it is rigid."""
        return None if surface.stiffness is None else cls(surface.stiffness, surface.damping, step)

    @property
    def softness(self) -> Scalar:
        """The normal velocity that the point gives way with per unit impulse [1/kg]."""
        return 1.0 / (self.step * self._resistance)

    @property
    def _resistance(self) -> Scalar:
        return self.step * self.stiffness + self.damping

    def target(self, gap: Scalar) -> Scalar:
        """The least normal velocity without a force [m/s]."""
        return -gap * select(gap > 0.0, 1.0 / self.step, self.stiffness / self._resistance)

    def stored(self, gap: Scalar, rate: Scalar) -> Scalar:
        """The energy that the spring takes up in the step, in which the gap changes at this rate [J]."""
        before, after = (maximum(-one, 0.0) for one in (gap, gap + self.step * rate))
        return 0.5 * self.stiffness * (after * after - before * before)
