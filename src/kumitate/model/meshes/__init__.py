"""Mesh files as facets: reading, convex hulls, decimation for drawing. Needs `pip install "kumitate[mesh]"`."""

from ...renamed import former_names
from ..shapes import Facets
from .pieces import touching_pieces
from .stored import decimated, hull, left_out, load_mesh, touching_hull

__all__ = ["Facets", "decimated", "hull", "left_out", "load_mesh", "touching_hull", "touching_pieces"]

__getattr__ = former_names(__name__, {"Surface": "Facets"})
