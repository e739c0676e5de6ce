"""Reading and writing mechanisms: URDF, and kumitate's own JSON."""

from .json import from_json, to_json
from .urdf import read_urdf

__all__ = ["from_json", "read_urdf", "to_json"]
