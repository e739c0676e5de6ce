"""Derivatives of whole steps with respect to the state and to what drives it."""

from .active import ActiveSet, ContactMode, StepSlopes
from .step import SlopedStep

__all__ = ["ActiveSet", "ContactMode", "SlopedStep", "StepSlopes"]
