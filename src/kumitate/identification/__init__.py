"""Identification: inertias, friction and drive constants of a robot from its logs."""

from .base_parameters import BaseParameters, base_parameters
from .csv_log import read_log
from .exciting import Excitation, exciting_trajectory
from .identified import BaseEstimate, Identified
from .identify import identify
from .log import MotionLog

__all__ = [
    "BaseEstimate", "BaseParameters", "Excitation", "Identified", "MotionLog", "base_parameters", "exciting_trajectory",
    "identify", "read_log",
]  # fmt: skip
