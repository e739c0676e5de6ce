"""From the source of a function to its typed tree: what a page may say, and messages about what it may not."""

from .statements import read_procedure

__all__ = ["read_procedure"]
