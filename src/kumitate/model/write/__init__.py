"""Writing mechanisms in the formats of other programs, and what these formats cannot express."""

from .file import WRITERS, mechanism_text, writable

__all__ = ["WRITERS", "mechanism_text", "writable"]
