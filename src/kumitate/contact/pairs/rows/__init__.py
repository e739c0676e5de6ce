"""Where any two solids touch: procedures over rows of numbers, for scenes of many bodies."""

from .building import points_for, pose_row, solids_of, surface_rows
from .solids import MOST, Points, Solid, Solids
from .touch import compile_routine, touching

__all__ = [
    "MOST", "Points", "Solid", "Solids", "compile_routine", "points_for", "pose_row", "solids_of", "surface_rows", "touching",
]  # fmt: skip
