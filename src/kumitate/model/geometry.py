"""Shapes that bodies are drawn with and touch with. Lengths in metres, each shape centred on its own frame."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..spatial import Transform

__all__ = ["Box", "Capsule", "Cylinder", "Geometry", "Mesh", "Shape", "Sphere"]


@dataclass(frozen=True)
class Box:
    """A box with the edge lengths `size` = (x, y, z) [m]."""

    size: tuple[float, float, float]


@dataclass(frozen=True)
class Sphere:
    """A sphere [m]."""

    radius: float


@dataclass(frozen=True)
class Cylinder:
    """A cylinder along its z axis [m]."""

    radius: float
    length: float


@dataclass(frozen=True)
class Capsule:
    """A cylinder along its z axis with half spheres on its ends; `length` is the cylinder's [m]."""

    radius: float
    length: float


@dataclass(frozen=True)
class Mesh:
    """A mesh file, scaled along its axes. `path` is as the model file has it; `resolved`: where it was found, or None."""

    path: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    resolved: str | None = None


Shape = Box | Sphere | Cylinder | Capsule | Mesh


@dataclass(frozen=True)
class Geometry:
    """A shape on a body: `pose` in the body's frame; `color`: red, green, blue, opacity in 0…1 (None: the viewer's choice)."""

    shape: Shape
    pose: Transform = field(default_factory=Transform)
    color: tuple[float, float, float, float] | None = None
    name: str = ""
