"""Contact: shapes against shapes, contact models and friction, points held on surfaces.

`impulse` computes the impulses of a step, `held` treats held points, `models` holds the contact models, and `pairs` the
table of the routines that find where two shapes touch.
"""

from ..renamed import former_names
from .held.point import HeldPoint
from .held.surface import CylinderSurface, PlaneSurface, SphereSurface
from .models import FORCE_MODELS, IMPULSE_MODELS, Penalty
from .placement import ground_gap, lowest_bodies, on_ground
from .scene import Contact
from .surface import Surface

__all__ = [
    "FORCE_MODELS", "IMPULSE_MODELS", "Contact", "CylinderSurface", "HeldPoint", "Penalty", "PlaneSurface", "SphereSurface",
    "Surface", "ground_gap", "lowest_bodies", "on_ground",
]  # fmt: skip

__getattr__ = former_names(__name__, {"shapes": "pairs", "touching": "pairs.rows"})
