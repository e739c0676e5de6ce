"""The material properties of surfaces that contact models use."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache

from ..errors import InputError
from ..model.values import FRACTION, LENGTH, NOT_NEGATIVE, POSITIVE, checked_number, checked_numbers
from ..scalar import Scalar, is_zero

#: The numbers of a surface, and their rules.
SURFACE_RULES = {
    "friction": NOT_NEGATIVE, "kinetic_friction": NOT_NEGATIVE, "restitution": FRACTION, "threshold": NOT_NEGATIVE,
    "torsional": LENGTH, "rolling": LENGTH, "stiffness": POSITIVE, "damping": NOT_NEGATIVE,
}  # fmt: skip
#: Those that may be None.
_OPTIONAL = ("kinetic_friction", "stiffness")


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
        torsional: the coefficient of torsional friction [m]: the moment about the normal of a point is at most this length
            times its normal force.
        rolling: the coefficient of rolling friction [m]: the moment about axes along the surface is at most this length times
            the normal force.
        stiffness: of a point of contact, along its normal [N/m]; None: rigid.
        damping: of such a point [N·s/m].

    Raises:
        InputError: if a friction, a length, the threshold or the damping is negative, μ_k above μ_s, e outside 0…1, the
            stiffness not positive, or if there is damping without stiffness, or restitution with it.

    >>> Surface(friction=0.6).kinetic
    0.6
    """

    friction: float = 0.5
    kinetic_friction: float | None = None
    restitution: float = 0.0
    threshold: float = 0.0
    belt: tuple[float, float, float] = (0.0, 0.0, 0.0)
    torsional: float = 0.0
    rolling: float = 0.0
    stiffness: float | None = None
    damping: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "belt", checked_numbers("a surface", "belt [m/s]", self.belt, 3, error=InputError))
        for name, rule in SURFACE_RULES.items():
            if (value := getattr(self, name)) is not None or name not in _OPTIONAL:
                number = checked_number("a surface", f"the {name.replace('_', ' ')}", value, rule, error=InputError)
                object.__setattr__(self, name, number)
        if not self.kinetic <= self.friction:
            raise InputError(
                f"a surface has the kinetic friction {self.kinetic} and the static one {self.friction}; the kinetic one must "
                "be between zero and the static one. Lower it, or raise the other"
            )
        if self.damping and self.stiffness is None:
            raise InputError(
                f"a surface has the damping {self.damping:g} N·s/m and no stiffness; only compliant contact is damped. Give a "
                "stiffness [N/m], or leave the damping out"
            )
        if self.restitution and self.stiffness is not None:
            raise InputError(
                f"a surface has the restitution {self.restitution:g} and the stiffness {self.stiffness:g} N/m; how compliant "
                "contact rebounds follows from its damping. Leave one of them out"
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

    @property
    def turns(self) -> bool:
        """Whether there is any torsional or rolling friction."""
        return self.torsional > 0.0 or self.rolling > 0.0

    @lru_cache(maxsize=256)  # noqa: B019 - surfaces are a few numbers
    def against(self, other: Surface) -> Surface:
        """The combined surface of two bodies: for each property the smaller value of both, but the larger threshold.

        Damping is that of the less stiff one.
        """
        springs = [(one.stiffness, one.damping) for one in (self, other) if one.stiffness is not None]
        stiffness, damping = min(springs, default=(None, 0.0))
        own = {"kinetic": "kinetic_friction"}
        least = {own.get(name, name): min(getattr(self, name), getattr(other, name)) for name in _LEAST}
        return Surface(**least, threshold=max(self.threshold, other.threshold), stiffness=stiffness, damping=damping)

    @property
    def numbers(self) -> list[float]:
        """Those of `VariedSurface`, in its order; zero for no stiffness."""
        return [getattr(self, name) or 0.0 for name in NUMBERS]


@dataclass(frozen=True)
class VariedSurface:
    """The combined surface of two bodies, with symbols where its properties vary; attributes as of `Surface`."""

    friction: Scalar
    kinetic: Scalar
    restitution: Scalar
    threshold: float = 0.0
    torsional: float = 0.0
    rolling: float = 0.0
    stiffness: float | None = None
    damping: float = 0.0

    @property
    def one_friction(self) -> bool:
        """Whether μ_k and μ_s are the same for all that they may stand for."""
        return self.kinetic is self.friction

    @property
    def turns(self) -> bool:
        """Whether there is any torsional or rolling friction."""
        return self.torsional > 0.0 or self.rolling > 0.0

    @property
    def bounces(self) -> bool:
        """Whether there may be any restitution."""
        return not is_zero(self.restitution)


#: The numbers of a surface where bodies touch, in the order in which scenes have them; and those that are the less of both.
NUMBERS = tuple(item.name for item in fields(VariedSurface))
_LEAST = [name for name in NUMBERS if name not in ("threshold", "stiffness", "damping")]
