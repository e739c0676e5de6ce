"""From typed trees to texts: one walk over the tree, and what a language gives."""

from .c_form import CText
from .llvm_form import LlvmText

__all__ = ["CText", "LlvmText"]
