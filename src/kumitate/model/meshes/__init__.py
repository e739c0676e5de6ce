"""Mesh files as surfaces: read, wrapped in convex hulls, thinned for drawing. Needs `pip install "kumitate[mesh]"`."""

from .stored import decimated, hull, load_mesh
from .surface import Surface

__all__ = ["Surface", "decimated", "hull", "load_mesh"]
