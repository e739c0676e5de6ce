"""Programs in the words of other languages and tools: each form is one file that walks the program. Knows no physics."""

from .c import to_c

__all__ = ["to_c"]
