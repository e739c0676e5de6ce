"""The axes of a contact point: the normal and two tangents."""

from __future__ import annotations

from ...scalar import absolute, select
from ...spatial import Vector3
from ..surface import Surface, VariedSurface


def tangents(n: Vector3, surface: Surface | VariedSurface) -> tuple[Vector3, Vector3]:
    """Two vectors perpendicular to n and to each other, along which friction has the same coefficient.

    Here they are of unit length, and friction is the same in all directions. Nothing relies on that: a force is the sum of its
    components times the vectors, a component of a velocity its product with one.
    """
    along_x = absolute(n.x) < 0.7
    across = n.cross(Vector3(select(along_x, 1.0, 0.0), select(along_x, 0.0, 1.0), 0.0))
    first = across * (1.0 / across.norm())
    return first, n.cross(first)
