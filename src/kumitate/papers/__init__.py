"""The papers' methods that other ones have overtaken, as extensions under the contracts of the core rooms.

Importing this room adds them to the tables that the core's contracts read: `method="unit_vector"` and `"jacobian"` of the
inertia matrix, `contact="multipoint"`, `held_method="newton_euler"`.

>>> import kumitate as km
>>> import kumitate.papers
>>> arm = km.load("planar_3r")
>>> bool(abs(arm.mass_matrix(arm.start[0], method="unit_vector") - arm.mass_matrix(arm.start[0])).max() < 1e-14)
True
"""

from functools import partial as _partial

from .. import contact as _contact
from .. import dynamics as _dynamics
from .. import programs as _programs
from ..held import motion as _held
from .best_partition import BestPartition, PartitionTrial, best_partition
from .held_newton_euler import newton_euler
from .jacobian_inertia import jacobian_inertia, unit_vector
from .multipoint import multipoint
from .parallel import parallel_ada
from .spherical import SphericalMerge, merge_spherical

__all__ = [
    "BestPartition", "PartitionTrial", "SphericalMerge", "best_partition", "jacobian_inertia", "merge_spherical", "multipoint",
    "newton_euler", "parallel_ada", "unit_vector",
]  # fmt: skip

_programs.MASS_MATRIX |= {"unit_vector": unit_vector, "jacobian": jacobian_inertia}
_programs.FORWARD_DYNAMICS["unit_vector"] = _partial(_dynamics.factored_with_loops, unit_vector)
_contact.IMPULSE_MODELS["multipoint"] = multipoint
_held.HELD_METHODS["newton_euler"] = newton_euler
