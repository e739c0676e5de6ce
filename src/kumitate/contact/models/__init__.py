"""Contact models, one a file: what gives the impulses of a step (rigid bodies), or forces at any time (springs and dampers)."""

from collections.abc import Callable

from ..problem import Impulses, Problem
from .rigid import rigid

__all__ = ["FORCE_MODELS", "IMPULSE_MODELS"]

#: Models that change velocities once a step, by their names.
IMPULSE_MODELS: dict[str, Callable[[Problem], Impulses]] = {"rigid": rigid}
#: Models that are forces like any other, by their names.
FORCE_MODELS: dict[str, Callable] = {}
