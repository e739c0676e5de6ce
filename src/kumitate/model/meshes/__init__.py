"""Mesh files as surfaces: read, wrapped in convex hulls, thinned for drawing. Needs `pip install "kumitate[mesh]"`."""

from .stored import decimated, hull, left_out, load_mesh, touching_hull
from .surface import Surface

__all__ = ["Surface", "decimated", "hull", "left_out", "load_mesh", "touching_hull"]
