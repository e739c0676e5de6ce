"""Identification: inertias, friction and drive constants of a robot from its logs."""

from .base import BaseParameters, base_parameters

__all__ = ["BaseParameters", "base_parameters"]
