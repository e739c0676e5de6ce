"""The axes of a contact point: the normal and two tangents."""

from __future__ import annotations

from ...scalar import absolute, select
from ...spatial import Vector3


def tangents(n: Vector3) -> tuple[Vector3, Vector3]:
    """Two unit vectors perpendicular to n and to each other."""
    along_x = absolute(n.x) < 0.7
    across = n.cross(Vector3(select(along_x, 1.0, 0.0), select(along_x, 0.0, 1.0), 0.0))
    first = across * (1.0 / across.norm())
    return first, n.cross(first)
