"""What code is compiled for: a processor, and a floating-point format."""

from .precision import DOUBLE, SINGLE, Precision, precision_of
from .processor import ARM64, Target, binding, host, machine

__all__ = ["ARM64", "DOUBLE", "SINGLE", "Precision", "Target", "binding", "host", "machine", "precision_of"]
