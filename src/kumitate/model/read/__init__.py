"""Reading and writing mechanisms: URDF, SDF, MJCF, and kumitate's own JSON."""

from .file import READERS, names_file, read_file, readable
from .json import from_json, read_json, to_json
from .mjcf import read_mjcf
from .sdf import read_sdf
from .urdf import read_urdf

__all__ = [
    "READERS", "from_json", "names_file", "read_file", "read_json", "read_mjcf", "read_sdf", "read_urdf", "readable", "to_json",
]  # fmt: skip
