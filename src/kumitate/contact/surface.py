"""The material properties of surfaces that contact models use."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InputError
from ..model.values import FRACTION, NOT_NEGATIVE, checked_number, checked_numbers
from ..scalar import Scalar, is_zero

__all__ = ["Surface", "VariedSurface"]

#: The rules of the numbers of a surface.
_RULES = {
    "friction": NOT_NEGATIVE, "kinetic_friction": NOT_NEGATIVE, "restitution": FRACTION, "threshold": NOT_NEGATIVE,
}  # fmt: skip


@dataclass(frozen=True)
class Surface:
    """The surface of a body, or of two that touch.

    Attributes:
        friction: coefficient of static friction μ_s [1].
        kinetic_friction: coefficient of kinetic friction μ_k of sliding points [1]; equal to the static one if None.
        restitution: coefficient of restitution e, the ratio of normal velocities after and before a collision [1].
        threshold: the approach from which a collision rebounds [m/s]; never less than what two steps of free fall give.
        belt: the velocity of the surface along the body, as of a conveyor, in the body's axes, the ground's in those of the
            world [m/s]. Its part along the normal of a contact does nothing.

    Raises:
        InputError: if a friction or the threshold is negative, μ_k above μ_s, or e outside 0…1.

    >>> Surface(friction=0.6).kinetic
    0.6
    """

    friction: float = 0.5
    kinetic_friction: float | None = None
    restitution: float = 0.0
    threshold: float = 0.0
    belt: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "belt", checked_numbers("a surface", "belt [m/s]", self.belt, 3, error=InputError))
        for name, rule in _RULES.items():
            if (value := getattr(self, name)) is not None or name != "kinetic_friction":
                number = checked_number("a surface", f"the {name.replace('_', ' ')}", value, rule, error=InputError)
                object.__setattr__(self, name, number)
        if not self.kinetic <= self.friction:
            raise InputError(
                f"a surface has the kinetic friction {self.kinetic} and the static one {self.friction}; the kinetic one must "
                "be between zero and the static one. Lower it, or raise the other"
            )

    @property
    def kinetic(self) -> float:
        """μ_k."""
        return self.friction if self.kinetic_friction is None else self.kinetic_friction

    @property
    def moves(self) -> bool:
        """Whether it is a belt that moves."""
        return any(self.belt)

    @property
    def one_friction(self) -> bool:
        """Whether μ_k and μ_s are the same."""
        return self.kinetic == self.friction

    @property
    def bounces(self) -> bool:
        """Whether there is any restitution."""
        return self.restitution > 0.0

    def against(self, other: Surface) -> Surface:
        """The combined surface of two bodies: for each property the smaller value of both, but the larger threshold."""
        return Surface(
            min(self.friction, other.friction), min(self.kinetic, other.kinetic), min(self.restitution, other.restitution),
            max(self.threshold, other.threshold),
        )  # fmt: skip


@dataclass(frozen=True)
class VariedSurface:
    """The combined surface of two bodies, with symbols where its properties vary; attributes as of `Surface`."""

    friction: Scalar
    kinetic: Scalar
    restitution: Scalar
    threshold: float = 0.0

    @property
    def one_friction(self) -> bool:
        """Whether μ_k and μ_s are the same for all that they may stand for."""
        return self.kinetic is self.friction

    @property
    def bounces(self) -> bool:
        """Whether there may be any restitution."""
        return not is_zero(self.restitution)
