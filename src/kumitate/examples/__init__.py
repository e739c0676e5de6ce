"""Runnable examples: their catalogue, the modules of `gallery` that it lists, and robots shared by several of them."""

from ..renamed import former_names
from .catalogue import Curves, Example, Plate, example, examples

__all__ = ["Curves", "Example", "Plate", "example", "examples"]
__getattr__ = former_names(__name__, {"Illustrated": "Example"})
