"""Where any two solids touch: procedures over rows of numbers, for scenes of many bodies."""

from .building import points_for, pose_row, solids_of, surface_rows
from .solids import MOST, Points, Solid, Solids
from .touch import touch

__all__ = ["MOST", "Points", "Solid", "Solids", "points_for", "pose_row", "solids_of", "surface_rows", "touch"]
