"""Detection of boxes so small that a hull or cylinder, which is tested at its own points only, can pass through them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ModelError, warn
from ..model import Box, Cylinder, Geometry, Hull, Shape

if TYPE_CHECKING:
    from .scene import Pair

__all__ = ["check_straddling", "warn_of_thin_boxes"]


def check_straddling(name: str, pairs: Sequence[Pair]) -> None:
    """Refuses boxes that hulls and cylinders can pass through, as only their own points are tested against the box.

    A box with two edges at least as long as the diameter of the other shape has a face that the other shape cannot cover.

    Args:
        name: of the mechanism, for messages.

    Raises:
        ModelError: naming both shapes and their possible replacements.
    """
    for pair in pairs:
        if (found := _box_and_other(pair)) is None:
            continue
        box, other = found
        across = _across(other[1].shape)
        if sorted(_size(box))[1] < across:
            raise ModelError(
                f"{name}: {_described(*other)} touches {_described(*box)} only by its own points, so that this box could pass "
                "between them unseen; a box needs two edges at least as long as the other shape is across. Put a box, plane or "
                "polygons in the place of the hull or cylinder, spheres or capsules in the place of the box, or hulls of one "
                "vertex each where only those points are to touch"
            )


def warn_of_thin_boxes(name: str, pairs: Sequence[Pair]) -> None:
    """Warns once about all boxes whose shortest edge is less than the diameter of a hull or cylinder.

    Warns:
        KumitateWarning: naming the pair that differs most.
    """
    thin = [
        (across / min(_size(box)), box, other)
        for pair in pairs
        if (found := _box_and_other(pair)) is not None
        for box, other, across in [(*found, _across(found[1][1].shape))]
        if min(_size(box)) < across
    ]
    if thin:
        _, box, other = max(thin, key=lambda item: item[0])
        more = f" (and {len(thin) - 1} more such pairs)" if len(thin) > 1 else ""
        warn(
            f"{name}: {_described(*other)} touches {_described(*box)}{more} only by its own points: where it straddles a thin "
            "side of the box it passes through. Thicken the box away from the surface that is stood on, or put a box in the "
            "place of the hull or cylinder"
        )


_Named = tuple[str, Geometry]


def _box_and_other(pair: Pair) -> tuple[_Named, _Named] | None:
    """The box and the hull or cylinder of a pair that has one of each, with their bodies' names."""
    one, two = zip(pair.bodies, pair.geometries, strict=True)
    for box, other in ((one, two), (two, one)):
        if isinstance(box[1].shape, Box) and isinstance(other[1].shape, Hull | Cylinder):
            return box, other
    return None


def _size(box: _Named) -> tuple[float, float, float]:
    assert isinstance(box[1].shape, Box)
    return box[1].shape.size


@cache
def _across(shape: Shape) -> float:
    """The largest distance of two points of a hull or a cylinder [m]."""
    if isinstance(shape, Cylinder):
        return math.hypot(2.0 * shape.radius, shape.length)
    assert isinstance(shape, Hull)
    points = np.array(shape.vertices)
    return max(float(np.linalg.norm(points - point, axis=1).max()) for point in points)


def _described(body: str, geometry: Geometry) -> str:
    shape = geometry.shape
    named = f" {geometry.name!r}" if geometry.name else ""
    if isinstance(shape, Box):
        return f"the box{named} of {body!r} ({' × '.join(f'{edge:.4g}' for edge in shape.size)} m)"
    kind = "hull" if isinstance(shape, Hull) else "cylinder"
    return f"the {kind}{named} of {body!r} ({_across(shape):.4g} m across)"
