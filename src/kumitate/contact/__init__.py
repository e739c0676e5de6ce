"""Contact: shapes against shapes, contact models and friction.

`impulse` computes the impulses of a step, `models` holds the contact models, and `pairs` the table of the routines that find
where two shapes touch.
"""

from ..renamed import former_names
from .models import FORCE_MODELS, IMPULSE_MODELS, Penalty
from .placement import ground_gap, lowest_bodies, on_ground
from .scene import Contact
from .surface import Surface

__all__ = ["FORCE_MODELS", "IMPULSE_MODELS", "Contact", "Penalty", "Surface", "ground_gap", "lowest_bodies", "on_ground"]

_HELD = ("CylinderSurface", "HeldPoint", "PlaneSurface", "SphereSurface")
__getattr__ = former_names(__name__, {name: f"kumitate.held.{name}" for name in _HELD})
