"""Reading and writing mechanisms: URDF, SDF, MJCF, and kumitate's own JSON."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .json import from_json, read_json, to_json

if TYPE_CHECKING:
    from .file import READERS, names_file, read_file, readable
    from .mjcf import read_mjcf
    from .sdf import read_sdf
    from .urdf import read_urdf

__all__ = [
    "READERS", "from_json", "names_file", "read_file", "read_json", "read_mjcf", "read_sdf", "read_urdf", "readable", "to_json",
]  # fmt: skip

#: What is loaded when it is first used: samples need JSON alone.
_LATER = {
    "READERS": ".file", "names_file": ".file", "read_file": ".file", "readable": ".file", "read_mjcf": ".mjcf",
    "read_sdf": ".sdf", "read_urdf": ".urdf",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Loads a reader when it is first used."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name], __name__), name)
