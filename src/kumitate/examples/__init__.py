"""Runnable examples: their catalogue, the modules of `gallery` that it lists, and robots shared by several of them."""

from .catalogue import Example, example, examples
from .illustrated import Curves, Illustrated, Plate

__all__ = ["Curves", "Example", "Illustrated", "Plate", "example", "examples"]
