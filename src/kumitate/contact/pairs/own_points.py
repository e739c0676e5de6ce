"""Boxes so small that a hull or a cylinder, of which the traced page tests the own points alone, could pass through them.

The routine of scenes tests all of both, by a search that no page can make. A box with two edges at least as long as the other
shape is across has a face that this shape cannot cover.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple, Protocol

import numpy as np

from ...errors import ModelError, warn
from ...model import Cylinder, Geometry, Shape
from .table import PAIRS


class _Pair(Protocol):
    """Two shapes that may touch, as `contact.scene.Pair`."""

    @property
    def bodies(self) -> tuple[str, str]: ...
    @property
    def geometries(self) -> tuple[Geometry, Geometry]: ...


class _OnBox(NamedTuple):
    """A hull or cylinder on a box."""

    words: tuple[str, str]  # "A (0.2 m across) touches B (1 × 1 × 1 m)"; the rest of the sentence follows
    edges: list[float]  # of the box, the shortest first, as parts of what the other shape is across


def check_small_boxes(name: str, pairs: Sequence[_Pair]) -> None:
    """Refuses boxes that hulls and cylinders can pass through, with the name of the mechanism.

    Raises:
        ModelError: naming both shapes and their possible replacements.
    """
    for (other, box), edges in _on_boxes(pairs):
        if edges[1] < 1.0:
            raise ModelError(
                f"{name}: {other} touches {box} only by its own points, so that this box could pass "
                "between them unseen; a box needs two edges at least as long as the other shape is across. Put a box, plane or "
                "polygons in the place of the hull or cylinder, spheres or capsules in the place of the box, or hulls of one "
                "vertex each where only those points are to touch"
            )


def warn_of_thin_boxes(name: str, pairs: Sequence[_Pair]) -> None:
    """Warns once about all boxes whose shortest edge is less than the diameter of a hull or cylinder; names the thinnest."""
    if thin := [found for found in _on_boxes(pairs) if found.edges[0] < 1.0]:
        other, box = min(thin, key=lambda found: found.edges[0]).words
        more = f" (and {len(thin) - 1} more such pairs)" if len(thin) > 1 else ""
        warn(
            f"{name}: {other} touches {box}{more} only by its own points: where it straddles a thin "
            "side of the box it passes through. Thicken the box away from the surface that is stood on, or put a box in the "
            "place of the hull or cylinder"
        )


def _on_boxes(pairs: Sequence[_Pair]) -> Iterator[_OnBox]:
    for pair in pairs:
        sides = list(zip(pair.bodies, pair.geometries, strict=True))
        for (body, item), (owner, box) in (sides, sides[::-1]):
            kinds = type(item.shape), type(box.shape)
            if kinds in PAIRS and PAIRS[kinds].own_points:
                across, size = _across(item.shape), box.shape.size  # type: ignore[attr-defined]
                words = (
                    _named(item, body, f"{across:.4g} m across"),
                    _named(box, owner, f"{' × '.join(f'{edge:.4g}' for edge in size)} m"),
                )
                yield _OnBox(words, sorted(edge / across if across else math.inf for edge in size))


@cache
def _across(shape: Shape) -> float:
    """The largest distance of two points of a hull or a cylinder [m]."""
    if isinstance(shape, Cylinder):
        return math.hypot(2.0 * shape.radius, shape.length)
    points = np.array(shape.vertices)  # type: ignore[attr-defined]
    return max(float(np.linalg.norm(points - point, axis=1).max()) for point in points)


def _named(item: Geometry, body: str, lengths: str) -> str:
    return f"the {item.shape.kind}{f' {item.name!r}' if item.name else ''} of {body!r} ({lengths})"
