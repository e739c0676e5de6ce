"""The law of a point as traced programs, which a scene calls by their addresses: it is that of the traced models."""

from __future__ import annotations

from typing import Any, NamedTuple

from ....procedure import Floats, Ints
from ....scalar import Program, Scalar, maximum, trace
from ....spatial import Vector3
from ...forces import SpringModel
from ...surface import VariedSurface
from ..overlaps import OverlapList


class Springs(NamedTuple):
    """What a step with springs needs beside the scene.

    Attributes:
        law: the addresses of a `law_program` and of a `spring_program`.
        clock: [time left of a step that lacked room; the longest part of a step that the springs allow now] [s].
        overlaps: at the start.
        steep: of every body, the sum over its points of the stiffness times the velocity per unit impulse [1/s²].
        yields: of every point, the velocities along its axes per unit impulse along them [1/kg].
    """

    law: Ints
    clock: Floats
    overlaps: OverlapList
    steep: Floats
    yields: Floats[3]


def law_program(model: SpringModel) -> Program:
    """(h, along, across, gap, velocity, friction) → the impulse, as of `SpringModel.impulse`.

    Velocity and impulse are along the axes of the point, the first of which is the normal.
    """

    def law(h: Scalar, along: Scalar, across: Scalar, gap: Scalar, velocity: Any, friction: Scalar) -> dict[str, Any]:
        normal, surface = Vector3(1.0, 0.0, 0.0), VariedSurface(friction, friction, 0.0)
        return {"impulse": list(model.impulse(h, (along, across), gap, normal, Vector3.of(velocity), surface))}

    return trace(law, {"h": (), "along": (), "across": (), "gap": (), "velocity": 3, "friction": ()}, "impulse_of_a_spring")


def spring_program(model: SpringModel) -> Program:
    """(gap) → stiffness and energy, as of `SpringModel.steepness` and `SpringModel.stored`."""

    def spring(gap: Scalar) -> dict[str, Any]:
        return {"stiffness": model.steepness(gap), "energy": model.stored(maximum(-gap, 0.0))}

    return trace(spring, {"gap": ()}, "spring_of_a_point")
