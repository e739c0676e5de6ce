"""The residual of a point: how far its impulse is from the laws of contact at its velocity after the step."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

from ...scalar import Scalar, Scalars, absolute, is_zero, maximum, select, trace
from .cone import onto_cone, onto_limits

#: The solver for the impulses has failed if the contact laws are missed by more than this part of the points' speeds.
FAILED = 1e-3


def above(speed: Scalars, impulse: Scalars, target: Scalar, softness: Scalar) -> list[Scalar]:
    """The velocity relative to its target, which a soft point gives way to: what the laws of contact are about [m/s]."""
    return [speed[0] - target + softness * impulse[0], *speed[1:]]


def sizes(size: Scalar, softness: Scalar) -> tuple[Scalar, Scalar]:
    """The velocity per unit impulse along the normal and across it; a soft point gives way along the normal [1/kg]."""
    return size + softness, size


def masses(mass: Scalar, softness: Scalar) -> tuple[Scalar, Scalar]:
    """The inverses of the sizes [kg]."""
    return mass if is_zero(softness) else mass / (1.0 + softness * mass), mass


def projected(
    impulse: Scalars, speed: Scalars, target: Scalar, friction: Scalar, mass: Scalar, softness: Scalar
) -> list[Scalar]:
    """cone(λ − m u), which is λ itself where all laws hold (Alart and Curnier 1991) [N·s]."""
    along, across = masses(mass, softness)
    rates = above(speed, impulse, target, softness)
    return onto_cone([a - rate * m for a, rate, m in zip(impulse, rates, (along, across, across), strict=True)], friction)


def worst(errors: Scalars) -> Scalar:
    """The largest error; infinite if any is NaN."""
    most = reduce(maximum, errors, 0.0)
    return select(most >= 0.0, most, math.inf)


def residual(
    impulse: Scalars, speed: Scalars, target: Scalar, friction: Scalar, size: Scalar, mass: Scalar, softness: Scalar
) -> dict[str, Any]:
    """The largest |λ − cone(λ − m u)|/m of a point, infinite for NaN, as `error` [m/s]; that projection as `aim` [N·s]."""
    along, across = sizes(size, softness)
    aim = projected(impulse, speed, target, friction, mass, softness)
    errors = [absolute(a - b) * per for a, b, per in zip(impulse, aim, (along, across, across), strict=True)]
    return {"aim": aim, "error": worst(errors)}


def _turned(impulse: Any, speed: Any, limit: Any, size: Scalar, mass: Scalar, normal: Scalar) -> Scalar:
    aim = onto_limits([a - rate * mass for a, rate in zip(impulse, speed, strict=True)], limit, maximum(normal, 0.0))
    return worst([absolute(a - b) * size for a, b in zip(impulse, aim, strict=True)])


#: The residual of the moments of a point, whose normal impulse is `normal`, as a program.
TURNED = trace(_turned, {"impulse": 3, "speed": 3, "limit": 2, "size": (), "mass": (), "normal": ()}, "turned")
#: The residual of one point as a program.
RESIDUAL = trace(
    residual, {"impulse": 3, "speed": 3, "target": (), "friction": (), "size": (), "mass": (), "softness": ()}, "residual"
)
