"""Mechanisms from mechanisms: what users change of a model that they loaded. Nothing here changes what it is given."""

from .attach import attach, merge
from .cut import cut
from .lock import lock, without_friction
from .reroot import reroot
from .weld import weld

__all__ = ["attach", "cut", "lock", "merge", "reroot", "weld", "without_friction"]
