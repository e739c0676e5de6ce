"""What the page shows, as plain data: bodies and their motion, contact, curves; and how it is packed into text."""

from .build import build_scene
from .motion import MAX_FRAMES, MAX_POINTS, MAX_POSES, thinned
from .packing import packed, unpacked

__all__ = ["MAX_FRAMES", "MAX_POINTS", "MAX_POSES", "build_scene", "packed", "thinned", "unpacked"]
