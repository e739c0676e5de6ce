"""Identification: inertias, friction and drive constants of a robot from its logs."""

from .base_parameters import BaseParameters, base_parameters
from .exciting import Excitation, exciting_trajectory
from .identified import BaseEstimate, Identified
from .identify import identify
from .log import MotionLog, read_log

__all__ = [
    "BaseEstimate", "BaseParameters", "Excitation", "Identified", "MotionLog", "base_parameters", "exciting_trajectory",
    "identify", "read_log",
]  # fmt: skip
