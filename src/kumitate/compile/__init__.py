"""Programs to machine code. Knows no physics."""

from .cache import cache_folder
from .kernel import Kernel
from .recurrence import Recurrence, Rollout
from .target import ARM64, Target, host

__all__ = ["ARM64", "Kernel", "Recurrence", "Rollout", "Target", "cache_folder", "host"]
