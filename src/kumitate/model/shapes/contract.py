"""The contract of shapes: frozen dataclasses with a bounding radius and a surface. A new shape is a new file here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from ...errors import ModelError
from ..values import LENGTH, checked_number, checked_numbers, shown
from .facets import Facets


class Shape(ABC):
    """A solid for drawing and contact. Lengths in metres, centered on its own frame.

    A shape is a frozen dataclass of numbers, texts and lists of them, which are its entries in kumitate's JSON. This contract
    is enough for files, pages and figures; for contact with other shapes, `contact.pairs.PAIRS` needs a routine.

    Attributes:
        kind: its name in files and messages, and its key in `SHAPES`.
        endless: whether it is unbounded, as the half space z ≤ 0 of its frame, so that only a piece can be drawn.
    """

    kind: ClassVar[str]
    endless: ClassVar[bool] = False

    @property
    @abstractmethod
    def bounding_radius(self) -> float:
        """The largest distance of its points from its frame's origin [m]; infinite if not known or not bounded."""

    @property
    def has_surface(self) -> bool:
        """Whether there is a surface to draw: points and lines touch others, but have none."""
        return True

    @abstractmethod
    def facets(self) -> Facets:
        """Its surface as triangles, in its frame; round sides as prisms of a few dozen faces, unbounded shapes as a piece.

        Raises:
            InputError: if it cannot be made, with the reason.
        """

    def support(self) -> tuple[np.ndarray, float]:
        """Points (k, 3) and a radius: the convex hull of balls about these points contains the shape [m]."""
        return self.facets().vertices, 0.0

    def _check_lengths(self, *names: str) -> None:
        for name in names:
            object.__setattr__(self, name, checked_number(f"a {self.kind}", f"the {name} [m]", getattr(self, name), LENGTH))


def checked_points(owner: str, vertices: Any, size: int) -> tuple[tuple[float, ...], ...]:
    """Points of `size` coordinates each, as tuples of numbers.

    Raises:
        ModelError: naming the owner, for anything else.
    """
    try:
        rows = tuple(vertices)
    except TypeError:
        raise ModelError(f"{owner}: the vertices are {shown(vertices)}; they must be a list of points. Give one") from None
    return tuple(checked_numbers(owner, f"vertex {k} [m]", row, size) for k, row in enumerate(rows))
