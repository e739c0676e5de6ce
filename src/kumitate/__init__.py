"""kumitate (組立): simulates mechanisms of rigid bodies, joints, loops and contacts, by programs compiled for each mechanism.

>>> import kumitate as km
>>> arm = km.load("pa10")
>>> arm.nq, arm.nv
(7, 7)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import DivergenceError, InputError, KumitateError, KumitateWarning, ModelError
from .model import (
    Body,
    Box,
    Capsule,
    Coupling,
    Cylinder,
    Distance,
    Frame,
    Geometry,
    Helical,
    Joint,
    Limits,
    Line,
    Loop,
    Mechanism,
    Mesh,
    Sphere,
)
from .robot import Robot, load, samples
from .run import Run, simulate
from .run import open_run as open
from .spatial import pose

if TYPE_CHECKING:
    from . import control, lagrange
    from .model import convert
    from .model.read.srdf import read_srdf

__version__ = "0.1.0"

__all__ = [
    "Body", "Box", "Capsule", "Coupling", "Cylinder", "Distance", "DivergenceError", "Frame", "Geometry", "Helical",
    "InputError", "Joint", "KumitateError", "KumitateWarning", "Limits", "Line", "Loop", "Mechanism", "Mesh", "ModelError",
    "Robot", "Run", "Sphere", "control", "convert", "lagrange", "load", "open", "pose", "read_srdf", "samples", "simulate",
]  # fmt: skip


_LATER = {"control": ".control", "convert": ".model.convert", "lagrange": ".lagrange", "read_srdf": ".model.read.srdf"}


def __getattr__(name: str) -> Any:
    """What is loaded when it is asked for."""
    if name in _LATER:
        module = import_module(_LATER[name], __name__)
        return getattr(module, name, module)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
