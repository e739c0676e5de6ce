"""A joint with six degrees of freedom: it constrains nothing, and only its drive acts."""

from __future__ import annotations

from collections.abc import Sequence

from ...scalar import Scalar
from ...spatial import Dense


class FreeGrip:
    """W = 0."""

    def force(self, relative: Sequence[Scalar]) -> list[Scalar]:
        """Nothing."""
        return [0.0] * len(relative)

    def between(self, left: Dense, right: Dense) -> Dense:
        """Nothing."""
        return Dense.zero(len(left.rows), len(right.rows))
