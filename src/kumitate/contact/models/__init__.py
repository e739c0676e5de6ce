"""Contact models, one a file: what gives the impulses of a step (rigid bodies), or forces at any time (springs and dampers)."""

from collections.abc import Callable, Mapping

from ..forces import ForceModel
from ..problem import Impulses, Problem
from .multipoint import multipoint
from .penalty import Penalty
from .rigid import rigid

__all__ = ["FORCE_MODELS", "IMPULSE_MODELS", "Penalty", "multipoint", "rigid"]

#: Models that change velocities once a step, by their names.
IMPULSE_MODELS: dict[str, Callable[[Problem], Impulses]] = {"rigid": rigid, "multipoint": multipoint}
#: Models that are forces like any other, by their names: made from options and the mass of the mechanism [kg].
FORCE_MODELS: dict[str, Callable[[Mapping[str, float], float], ForceModel]] = {"penalty": Penalty.of}
