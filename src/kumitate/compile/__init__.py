"""Programs to machine code. Knows no physics."""

from .cache import cache_folder
from .kernel import Kernel
from .target import Target, host

__all__ = ["Kernel", "Target", "cache_folder", "host"]
