"""Object files in memory: by a linker of our own for the files of Linux on 64-bit x86, by LLVM's for all others."""

from .elf import DamagedError, InMemory, placed
from .jit import linked

__all__ = ["DamagedError", "InMemory", "linked", "placed"]
