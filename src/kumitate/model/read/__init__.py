"""Reading and writing mechanisms: URDF, SDF, and kumitate's own JSON."""

from .file import names_file, read_file
from .json import from_json, to_json
from .sdf import read_sdf
from .urdf import read_urdf

__all__ = ["from_json", "names_file", "read_file", "read_sdf", "read_urdf", "to_json"]
