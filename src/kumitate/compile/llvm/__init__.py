"""Programs as LLVM text, for one state or for several lanes at once: bodies of programs inside entries, which are called."""

from .entries import ENTRY, Entry, HostBatch, write_module
from .writer import Module

__all__ = ["ENTRY", "Entry", "HostBatch", "Module", "write_module"]
