"""Programs as LLVM text, for one state or for several lanes at once: bodies of programs inside entries, which are called."""

from .entry import Entry, LazyEntry, write_module
from .host_batch import ENTRY, HostBatch
from .module import Module

__all__ = ["ENTRY", "Entry", "HostBatch", "LazyEntry", "Module", "write_module"]
