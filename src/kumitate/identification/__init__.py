"""Identification: inertias, friction and drive constants of a robot from its logs."""

from .base import BaseParameters, base_parameters
from .identified import BaseEstimate, Identified
from .identify import identify
from .log import Log

__all__ = ["BaseEstimate", "BaseParameters", "Identified", "Log", "base_parameters", "identify"]
