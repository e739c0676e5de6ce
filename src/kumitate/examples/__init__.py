"""Examples that run: their catalogue, the modules of `gallery` that it lists, and robots that several of them share."""

from .catalogue import Example, example, examples
from .illustrated import Curves, Illustrated, Plate

__all__ = ["Curves", "Example", "Illustrated", "Plate", "example", "examples"]
