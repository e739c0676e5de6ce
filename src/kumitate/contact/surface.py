"""What surfaces are made of, as far as contact models ask."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InputError

__all__ = ["Surface"]


@dataclass(frozen=True)
class Surface:
    """The surface of a body, or of two that touch.

    Attributes:
        friction: coefficient of static friction μ_s [1].
        kinetic_friction: of a point that slides, μ_k [1]; as the static one if None.
        restitution: e, the part of the normal velocity that a collision gives back [1].

    Raises:
        InputError: if a friction is negative, μ_k above μ_s, or e outside 0…1.

    >>> Surface(friction=0.6).kinetic
    0.6
    """

    friction: float = 0.5
    kinetic_friction: float | None = None
    restitution: float = 0.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.friction) and self.friction >= 0.0):
            raise InputError(f"a surface has the friction {self.friction}; it must be zero or more")
        if not 0.0 <= self.kinetic <= self.friction:
            raise InputError(
                f"a surface has the kinetic friction {self.kinetic} and the static one {self.friction}; the kinetic one must "
                "be between zero and the static one"
            )
        if not 0.0 <= self.restitution <= 1.0:
            raise InputError(f"a surface has the restitution {self.restitution}; it must be between 0 and 1")

    @property
    def kinetic(self) -> float:
        """μ_k."""
        return self.friction if self.kinetic_friction is None else self.kinetic_friction

    def against(self, other: Surface) -> Surface:
        """What two surfaces are to each other: each property the lesser of both, as the weaker partner decides."""
        return Surface(
            min(self.friction, other.friction), min(self.kinetic, other.kinetic), min(self.restitution, other.restitution)
        )
