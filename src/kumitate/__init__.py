"""kumitate (組立): simulates mechanisms of rigid bodies, joints, loops and contacts, by programs compiled for each mechanism.

>>> import kumitate as km
>>> arm = km.load("pa10")
>>> arm.nq, arm.nv
(7, 7)
"""

from . import stopping as _stopping  # first: Ctrl-C while the command imports the rest

# isort: split
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import DivergenceError, InputError, KumitateError, KumitateWarning, ModelError
from .loading import load, samples
from .model import (
    Body,
    Box,
    Capsule,
    Coupling,
    Cylinder,
    DCMotor,
    Distance,
    EffortDrive,
    EulerAngles,
    Frame,
    Geometry,
    Helical,
    Hull,
    HydraulicCylinder,
    Joint,
    Limits,
    Line,
    Loop,
    Mechanism,
    Mesh,
    Plane,
    Polygon,
    PositionDrive,
    RollingDisc,
    RollingSphere,
    Sphere,
    VelocityDrive,
)
from .robot import Robot
from .run import Run, linearize, simulate, simulate_batch
from .run import open_run as open
from .scalar.arrays import clip, maximum, minimum, sign, where, zeros
from .spatial import pose
from .version import __version__ as __version__

if TYPE_CHECKING:
    from . import control, convert, lagrange
    from .contact import Contact, Surface, on_ground
    from .held import CylinderSurface, HeldPoint, PlaneSurface, SphereSurface
    from .identification.identify import identify
    from .identification.log import read_log
    from .inverse_kinematics.differential import DifferentialIK
    from .model import Sensor
    from .model.read.mjcf.reader import read_sensors
    from .model.read.srdf import read_srdf
    from .model.read.urdf_transmissions import read_transmissions
    from .model.solid_bodies import ball, box, capsule, cylinder, solid
    from .scenario.scenario import Scenario, read_scenario, scenario_of
    from .simulate.driving.motion import PrescribedMotion
    from .simulate.interactions.held import held_motion
    from .simulation import Simulation
    from .sweeps.sweep import Sweep, open_sweep, sweep
    from .world import World

__all__ = [
    "Body", "Box", "Capsule", "Contact", "Coupling", "Cylinder", "CylinderSurface", "DCMotor", "DifferentialIK",
    "Distance", "DivergenceError", "EffortDrive", "EulerAngles", "Frame", "Geometry", "HeldPoint", "Helical", "Hull",
    "HydraulicCylinder", "InputError", "Joint", "KumitateError", "KumitateWarning", "Limits", "Line", "Loop", "Mechanism",
    "Mesh", "ModelError", "Plane", "PlaneSurface", "Polygon", "PositionDrive", "PrescribedMotion", "Robot", "RollingDisc",
    "RollingSphere", "Run", "Scenario", "Sensor", "Simulation", "Sphere", "SphereSurface", "Surface", "Sweep",
    "VelocityDrive", "World", "ball", "box", "capsule", "clip", "control", "convert", "cylinder", "held_motion", "identify",
    "lagrange", "linearize", "load", "maximum", "minimum", "on_ground", "open", "open_sweep",
    "pose", "read_log", "read_scenario", "read_sensors", "read_srdf", "read_transmissions", "samples", "scenario_of", "sign",
    "simulate", "simulate_batch", "solid", "sweep", "where", "zeros",
]  # fmt: skip


#: Names that are loaded when they are first used, by their modules; three of them are modules.
_MODULES = {
    ".contact": "Contact Surface on_ground", ".control": "control", ".convert": "convert",
    ".held": "CylinderSurface HeldPoint PlaneSurface SphereSurface", ".identification.identify": "identify",
    ".identification.log": "read_log", ".inverse_kinematics.differential": "DifferentialIK", ".lagrange": "lagrange",
    ".model.read.mjcf.reader": "read_sensors", ".model.read.srdf": "read_srdf", ".model.sensors": "Sensor",
    ".model.read.urdf_transmissions": "read_transmissions", ".model.solid_bodies": "ball box capsule cylinder solid",
    ".scenario.scenario": "Scenario read_scenario scenario_of", ".simulate.driving.motion": "PrescribedMotion",
    ".simulate.interactions.held": "held_motion", ".simulation": "Simulation", ".sweeps.sweep": "Sweep open_sweep sweep",
    ".world": "World",
}  # fmt: skip
_LATER = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Loads a name when it is first used."""
    if name in _LATER:
        module = import_module(_LATER[name], __name__)
        return module if _LATER[name] == f".{name}" else getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, those included that are loaded when they are first used."""
    return [*__all__, "__version__"]


# the package of that name, which the function hides: `import kumitate.simulate.run as many` finds it through the function
vars(import_module(".simulate", __name__)).update(vars(simulate))
simulate.__dict__ = vars(import_module(".simulate", __name__))  # type: ignore[attr-defined]

_stopping.as_before()
