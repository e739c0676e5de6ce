"""Compiles programs to machine code. Independent of physics."""

from .disk import cache_folder
from .kernel import Kernel
from .recurrence import Recurrence, Rollout
from .stored import StoredProgram, found_or_traced
from .target import ARM64, Target, host

__all__ = ["ARM64", "Kernel", "Recurrence", "Rollout", "StoredProgram", "Target", "cache_folder", "found_or_traced", "host"]
