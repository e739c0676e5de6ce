"""Edits of a mechanism, such as locking joints or attaching a tool. They return a new mechanism and leave theirs unchanged."""

from .attach import attach, merge
from .cut import cut
from .lock import lock, without_friction
from .merge_spherical import merge_spherical
from .recut import recut
from .reroot import reroot
from .spherical_states import Ball, SphericalMerge
from .weld import weld

__all__ = [
    "Ball",
    "SphericalMerge",
    "attach",
    "cut",
    "lock",
    "merge",
    "merge_spherical",
    "recut",
    "reroot",
    "weld",
    "without_friction",
]
