"""A shape on a body."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...errors import ModelError
from ...spatial import Transform
from ..values import FRACTION, NOT_NEGATIVE, checked_name, checked_number, checked_numbers, checked_pose, shown
from .contract import Shape


@dataclass(frozen=True)
class Geometry:
    """A shape on a body: `pose` in the body's frame; `color`: red, green, blue, opacity in 0…1 (None: the viewer's choice).

    `friction`: the coefficient of its own surface [1], as in MJCF files (None: it has none). Of two shapes that touch, the
    larger one holds, unless the contact says otherwise (`kumitate.Contact.surface`).

    >>> from kumitate import Cylinder, pose
    >>> Geometry(Cylinder(0.02, 1.0), pose((0, 0, 0.5)), color=(0.8, 0.1, 0.1, 1.0)).shape.length
    1.0
    """

    shape: Shape
    pose: Transform = field(default_factory=Transform)
    color: tuple[float, float, float, float] | None = None
    name: str = ""
    friction: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.shape, Shape):
            raise ModelError(f"a geometry: the shape is {shown(self.shape)}; it must be a Box, a Sphere or the like. Make one")
        owner = f"a {self.shape.kind}"
        checked_name(owner, self.name)
        object.__setattr__(self, "pose", checked_pose(owner, "the pose", self.pose))
        if self.color is not None:
            rgba = checked_numbers(owner, "the color (red, green, blue, opacity)", self.color, 4, FRACTION)
            object.__setattr__(self, "color", rgba)
        if self.friction is not None:
            object.__setattr__(self, "friction", checked_number(owner, "the friction", self.friction, NOT_NEGATIVE))
